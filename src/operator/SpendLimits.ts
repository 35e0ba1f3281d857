import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type OperatorActor, OperatorEvents } from "../account/OperatorEvents.ts"
import { dayOf } from "../domain/Day.ts"
import { failure, type Failure } from "../domain/Failure.ts"
import type { Nano } from "../domain/Money.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { EVERY_PROVIDER } from "../usage/ProviderSpend.ts"
import { setSpendLimit, type SpendLine, spendLines } from "../usage/ProviderSpendSql.ts"

/** How operators call all providers together. */
export const ALL = "all"

/** Reads and sets what providers may cost in a UTC day. Nodes obey a change within five seconds. */
export class SpendLimits extends Context.Service<
  SpendLimits,
  {
    /** Returns every bound with the cost of the current day. */
    readonly lines: Effect.Effect<ReadonlyArray<SpendLine>, Unavailable>
    /**
     * Sets the bound of a provider, or of `all`, in nano-USD; null removes it. Fails with `NotFound` for a provider outside `known`, unless
     * it removes a bound: a provider may be gone whose bound is not.
     */
    readonly set: (
      bound: { readonly provider: string; readonly limit: Nano | null; readonly known: (provider: string) => boolean },
      actor: OperatorActor
    ) => Effect.Effect<void, Failure | Unavailable>
  }
>()("tollgate/operator/SpendLimits") {
  static readonly layer = Layer.effect(
    SpendLimits,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const events = yield* OperatorEvents
      return SpendLimits.of({
        lines: Effect.flatMap(Clock.currentTimeMillis, (now) => storeErrors(spendLines(sql, dayOf(now)))),
        set: ({ known, limit, provider }, actor) =>
          Effect.gen(function* () {
            const former = yield* setSpendLimit(sql, provider === ALL ? EVERY_PROVIDER : provider, limit)
            const removes = limit === null && former !== null
            if (provider !== ALL && !removes && !known(provider))
              return yield* failure({ _tag: "NotFound", what: "provider", id: provider })
            if (former === limit) return
            yield* events.append({
              type: "provider_spend.limited",
              actor,
              resource: { type: "provider", id: provider },
              changes: { limit_nano: { from: textOf(former), to: textOf(limit) } }
            })
          }).pipe(sql.withTransaction, storeErrors)
      })
    })
  )
}

const textOf = (limit: Nano | null): string | null => (limit === null ? null : String(limit))
