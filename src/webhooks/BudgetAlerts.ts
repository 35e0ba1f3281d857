import { Context, type Duration, Effect, Latch, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { centsFromNano } from "../domain/Money.ts"
import { insertNotification } from "../notifications/NotificationsSql.ts"
import { newResourceId } from "../platform/Ids.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { wakeupsOf } from "../platform/database/Wakeups.ts"
import { anyUnreported, type CrossingRow, takeUnreported } from "./BudgetAlertsSql.ts"
import { Webhooks } from "./Webhooks.ts"

/** The maximum number of thresholds that one transaction reports. */
const BATCH = 100

/**
 * Notifies accounts when 80% and 100% of a budget are spent, once per budget, period and threshold. The transaction that spends the
 * money records the crossing. A second one publishes its event and marks it as reported. Held amounts do not count as spent. When a
 * limit is lowered below the amount spent, the next spend triggers the alert.
 */
export class BudgetAlerts extends Context.Service<
  BudgetAlerts,
  {
    /**
     * Publishes events for unreported crossings, a bounded number at a time, and returns how many. Any node may call it at any
     * time.
     */
    readonly publish: Effect.Effect<number, Unavailable>
    /** Waits until a crossing may be unreported: for `poll`, or longer while the database's notifications reach this node. */
    readonly rest: (poll: Duration.Input) => Effect.Effect<void>
  }
>()("tollgate/webhooks/BudgetAlerts") {
  static readonly layer = Layer.effect(
    BudgetAlerts,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const webhooks = yield* Webhooks
      const [wakeups, latch] = [wakeupsOf(sql), yield* Latch.make()]
      yield* wakeups.on("budgets", () => latch.openUnsafe())
      const publishing = Effect.gen(function* () {
        const crossings = yield* takeUnreported(sql, BATCH)
        for (const crossing of crossings) {
          yield* webhooks.publish({
            id: `evt_${newResourceId()}`,
            accountId: crossing.account_id,
            type: "budget.threshold",
            data: dataOf(crossing),
            createdAt: crossing.crossed_at
          })
          yield* insertNotification(sql, {
            accountId: crossing.account_id,
            kind: "budget_alert",
            data: dataOf(crossing)
          })
        }
        return crossings.length
      }).pipe(sql.withTransaction)
      return BudgetAlerts.of({
        publish: storeErrors(Effect.flatMap(anyUnreported(sql), (any) => (any ? publishing : Effect.succeed(0)))),
        rest: (poll) =>
          Effect.suspend(() => Effect.timeoutOption(latch.await, wakeups.waitAtMost(poll))).pipe(
            Effect.andThen(Effect.asVoid(latch.close))
          )
      })
    })
  )
}

const dataOf = (crossing: CrossingRow) => ({
  object: "budget_threshold",
  scope: crossing.scope,
  [`${crossing.scope}_id`]: crossing.owner_id,
  name: crossing.name,
  threshold_percent: crossing.threshold_percent,
  budget_cents: centsFromNano(crossing.limit_nano),
  spent_cents: centsFromNano(crossing.spent),
  period: crossing.period,
  period_start: crossing.period_start
})
