import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { centsFromNano } from "../domain/Money.ts"
import { newResourceId } from "../platform/Ids.ts"
import { storeErrors, type Unavailable } from "../platform/Sql.ts"
import { anyUntold, type CrossingRow, takeUntold } from "./BudgetAlertsSql.ts"
import { Webhooks } from "./Webhooks.ts"

/** Thresholds that one transaction tells of. */
const BATCH = 100

/**
 * Tells accounts that 80 % and 100 % of a budget are spent, once for each budget, period and threshold: the transaction that spends
 * it notes it, and another makes an event of it and marks it as told. What is held is not spent. A limit that is lowered below
 * what is spent is told of at the next spend.
 */
export class BudgetAlerts extends Context.Service<
  BudgetAlerts,
  {
    /** Makes events of what is noted and not told yet, some at a time; answers of how much. It may be called on any node at any time. */
    readonly tell: Effect.Effect<number, Unavailable>
  }
>()("tollgate/webhooks/BudgetAlerts") {
  static readonly layer = Layer.effect(
    BudgetAlerts,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const webhooks = yield* Webhooks
      const telling = Effect.gen(function* () {
        const crossings = yield* takeUntold(sql, BATCH)
        for (const crossing of crossings) {
          yield* webhooks.publish({
            id: `evt_${newResourceId()}`,
            accountId: crossing.account_id,
            type: "budget.threshold",
            data: dataOf(crossing),
            createdAt: crossing.crossed_at
          })
        }
        return crossings.length
      }).pipe(sql.withTransaction)
      return BudgetAlerts.of({
        tell: storeErrors(Effect.flatMap(anyUntold(sql), (any) => (any ? telling : Effect.succeed(0))))
      })
    })
  )
}

const dataOf = (crossing: CrossingRow) => ({
  object: "budget_threshold",
  scope: crossing.scope,
  [crossing.scope === "key" ? "key_id" : "project_id"]: crossing.owner_id,
  name: crossing.name,
  threshold_percent: crossing.threshold_percent,
  budget_cents: centsFromNano(crossing.limit_nano),
  spent_cents: centsFromNano(crossing.spent),
  period: crossing.period,
  period_start: crossing.period_start
})
