import { Effect } from "effect"
import { isDeepStrictEqual } from "node:util"
import type { Principal } from "../../schemas/Access.ts"
import type { Auth } from "../auth/Auth.ts"
import { periodStart } from "../domain/Budget.ts"
import { type Failure, storeFailure } from "../domain/Failure.ts"
import type { RoutingPolicy } from "../domain/Plan.ts"
import type { HoldOperation, HoldResult } from "../ledger/Operation.ts"
import type { HoldOutcome, Metrics } from "../platform/telemetry/Metrics.ts"
import { Unavailable } from "../platform/database/Sql.ts"
import type { PaidRequest } from "./Request.ts"

/** How often a hold is attempted when its key keeps changing between reading the key and taking the hold. */
const TRIES = 5

/** The account of a hold, and what it counts towards. */
export type Holder = Pick<HoldOperation, "accountId" | "budgets" | "budgetsEpoch" | "keyId" | "projectId">

const holderOf = ({ accountId, budgets, budgetsEpoch, clockAheadMs, keyId, projectId }: Principal): Holder => {
  // All nodes change to a new period at the same moment, whatever their clocks say.
  const nowMs = Date.now() + (clockAheadMs ?? 0)
  return {
    accountId,
    keyId,
    projectId,
    budgetsEpoch,
    budgets: budgets.map(({ id, period }) => ({ budgetId: id, periodStart: periodStart(period, nowMs) }))
  }
}

const changedFailure = (cause: string): Failure => storeFailure(new Unavailable({ store: "database", cause }))

/** The metric's outcome of a hold. */
const outcomes: Readonly<Record<HoldResult["_tag"], HoldOutcome>> = {
  Granted: "admitted",
  Claimed: "claimed",
  KeyInactive: "key_inactive",
  KeyChanged: "key_changed",
  Refused: "refused"
}

/** The prices of the caller's account have changed since the request was planned. `principal` knows the current ones. */
export interface PriceChange {
  readonly _tag: "PriceChange"
  readonly principal: Principal
}

const paysAlike = (a: Principal, b: Principal): boolean =>
  isDeepStrictEqual([a.terms, a.mostVideos], [b.terms, b.mostVideos])

/** The request with the current prices of its account. */
export const withCurrentPrices = <R extends Pick<PaidRequest, "principal"> & { readonly policy: RoutingPolicy }>(
  request: R,
  principal: Principal
): R => {
  const { terms: _, ...policy } = request.policy
  const { terms } = principal
  return { ...request, principal, policy: terms === undefined ? policy : { ...policy, terms } }
}

/**
 * Takes a hold through `attempt`, in the current periods of the caller's budgets. If the key has other budgets than the cached ones, it
 * reads the key and tries again with those, so that a new budget applies at once. If the account's prices have changed, it succeeds with
 * `PriceChange` and without a hold: the request is to be planned again. If the key's routing has changed, for example because
 * it moved to another project, the plan is outdated. Then it fails with `StoreUnavailable`, and the client's retry is planned with the
 * current routing.
 */
export const placeHold = (
  { auth, metrics }: { readonly auth: Pick<Auth["Service"], "again">; readonly metrics: Metrics },
  { carvedFrom, principal: caller, routedAsBegun }: Pick<PaidRequest, "carvedFrom" | "principal" | "routedAsBegun">,
  attempt: (holder: Holder) => Effect.Effect<HoldResult, Unavailable>
): Effect.Effect<Exclude<HoldResult, { readonly _tag: "KeyChanged" }> | PriceChange, Failure> => {
  const from = (principal: Principal, left: number): ReturnType<typeof placeHold> =>
    Effect.matchEffect(attempt(holderOf(principal)), {
      onFailure: (error) => {
        metrics.ledger.held("unavailable")
        return Effect.fail(storeFailure(error))
      },
      onSuccess: (result) => {
        metrics.ledger.held(outcomes[result._tag])
        if (result._tag !== "KeyChanged") return Effect.succeed(result)
        if (left === 0) {
          return Effect.fail(changedFailure("the API key kept changing while the request was being admitted"))
        }
        return Effect.flatMap(auth.again(principal.keyId), (again) => {
          if (routedAsBegun === true) return from(again, left - 1)
          if (!isDeepStrictEqual(again.routing, caller.routing)) {
            return Effect.fail(changedFailure("the routing of the API key has changed since the request was planned"))
          }
          // The hold that this one is carved out of was made at the caller's former prices.
          return carvedFrom !== undefined || paysAlike(again, caller)
            ? from(again, left - 1)
            : Effect.succeed({ _tag: "PriceChange" as const, principal: again })
        })
      }
    })
  return from(caller, TRIES - 1)
}
