import { Effect } from "effect"
import { isDeepStrictEqual } from "node:util"
import type { Principal } from "../../schemas/Access.ts"
import type { Auth } from "../auth/Auth.ts"
import { periodStart } from "../domain/Budget.ts"
import { type Failure, failure } from "../domain/Failure.ts"
import type { HoldOperation, HoldResult } from "../ledger/Operation.ts"
import type { HoldOutcome, Metrics } from "../platform/Metrics.ts"
import { Unavailable } from "../platform/Sql.ts"
import type { PaidRequest } from "./Request.ts"

/** How often a hold is tried whose key has changed: each time it did so again since it was read. */
const TRIES = 5

/** For whom a hold is, and what it counts towards. */
export type Holder = Pick<HoldOperation, "accountId" | "budgets" | "budgetsEpoch" | "keyId" | "projectId">

const holderOf = ({ accountId, budgets, budgetsEpoch, keyId, projectId }: Principal): Holder => {
  const nowMs = Date.now()
  return {
    accountId,
    keyId,
    projectId,
    budgetsEpoch,
    budgets: budgets.map(({ id, period }) => ({ budgetId: id, periodStart: periodStart(period, nowMs) }))
  }
}

export const storeUnavailable = (error: Unavailable): Failure => failure({ _tag: "StoreUnavailable" }, error)

const changed = (cause: string): Failure => storeUnavailable(new Unavailable({ store: "database", cause }))

/** What becomes of a hold, as it is counted. */
const outcomes: Readonly<Record<HoldResult["_tag"], HoldOutcome>> = {
  Granted: "admitted",
  Claimed: "claimed",
  KeyInactive: "key_inactive",
  KeyChanged: "key_changed",
  Refused: "refused"
}

/**
 * Takes a hold by `attempt`, in the periods of the caller's budgets that run. Where the key has got other budgets than the caller
 * was known to have, the key is read and the hold tried again with those, so that a budget is obeyed as soon as it is there. Where
 * it is routed otherwise by now, as in another project, the request was planned by what does not hold any more: it fails with
 * `StoreUnavailable`, and the caller's next try is planned by what does.
 */
export const holding = (
  { auth, metrics }: { readonly auth: Pick<Auth["Service"], "again">; readonly metrics: Metrics },
  { principal: caller, routedAsBegun }: Pick<PaidRequest, "principal" | "routedAsBegun">,
  attempt: (holder: Holder) => Effect.Effect<HoldResult, Unavailable>
): Effect.Effect<Exclude<HoldResult, { readonly _tag: "KeyChanged" }>, Failure> => {
  const from = (principal: Principal, left: number): ReturnType<typeof holding> =>
    Effect.matchEffect(attempt(holderOf(principal)), {
      onFailure: (error) => {
        metrics.ledger.held("unavailable")
        return Effect.fail(storeUnavailable(error))
      },
      onSuccess: (result) => {
        metrics.ledger.held(outcomes[result._tag])
        if (result._tag !== "KeyChanged") return Effect.succeed(result)
        if (left === 0) {
          return Effect.fail(changed("the key was changed whenever it had been read"))
        }
        return Effect.flatMap(auth.again(principal.keyId), (again) =>
          routedAsBegun === true || isDeepStrictEqual(again.routing, caller.routing)
            ? from(again, left - 1)
            : Effect.fail(changed("the key is routed otherwise since the request was planned"))
        )
      }
    })
  return from(caller, TRIES - 1)
}
