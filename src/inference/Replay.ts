import { Effect } from "effect"
import type { Auth } from "../auth/Auth.ts"
import { Failure, failure, storeFailure } from "../domain/Failure.ts"
import type { Requests } from "../usage/Requests.ts"
import type { ClaimRow } from "../usage/RequestsSql.ts"
import { restore } from "./Answer.ts"
import type { PaidAnswer } from "../domain/Answer.ts"
import type { PaidRequest } from "./Request.ts"

/** Notes which request a replay repeats, so that the replay's own id leads to that receipt. */
export const noteReplay = (
  requests: Pick<Requests["Service"], "noteReplay">,
  { principal, requestId }: Pick<PaidRequest, "principal" | "requestId">,
  original: string
): Effect.Effect<void> => requests.noteReplay({ id: requestId, accountId: principal.accountId, requestId: original })

/**
 * The answer to a request with the idempotency key of another request: that request's answer or final refusal, or the reason why
 * there is none. Undefined when the other request has freed the key in the meantime.
 */
export const replay = <A extends PaidAnswer>(
  requests: Requests["Service"],
  request: PaidRequest,
  claimedBy: string
): Effect.Effect<A | undefined, Failure> =>
  Effect.flatMap(Effect.mapError(requests.claimOf(claimedBy), storeFailure), (row) => {
    if (row === undefined || row.claim === null) return Effect.succeed(undefined)
    if (row.fingerprint !== request.claim?.fingerprint) return Effect.fail(failure({ _tag: "IdempotencyKeyReused" }))
    if (row.running) return Effect.fail(failure({ _tag: "IdempotencyInProgress" }))
    return Effect.andThen(noteReplay(requests, request, row.id), replayStored<A>(row))
  })

const replayStored = <A extends PaidAnswer>({ answer, cost, id }: ClaimRow): Effect.Effect<A, Failure> => {
  if (answer === null) return Effect.fail(failure({ _tag: "IdempotencyResultUnavailable", requestId: id }))
  const kept = restore<A>(answer, cost)
  return kept._tag === "Answer"
    ? Effect.succeed(kept.answer)
    : Effect.fail(new Failure({ reason: kept.reason, replayed: true }))
}

/**
 * Replays the answer to a request that can no longer be planned. Its model may have been removed since the first answer, which remains
 * valid. When no
 * request has the key, this one fails with its planning error. No hold checks the API key on this path, so this function does.
 */
export const replayUnplanned = <A extends PaidAnswer>(
  requests: Requests["Service"],
  auth: Pick<Auth["Service"], "confirm">,
  request: PaidRequest,
  unplanned: Failure
): Effect.Effect<A, Failure> => {
  const { claim, principal } = request
  if (claim === undefined) return Effect.fail(unplanned)
  return Effect.mapError(requests.claimedBy(principal.accountId, claim.claim), storeFailure).pipe(
    Effect.flatMap((claimedBy) =>
      claimedBy === undefined
        ? Effect.succeed(undefined)
        : Effect.andThen(auth.confirm(principal.keyId), replay<A>(requests, request, claimedBy))
    ),
    Effect.flatMap((answer) => (answer === undefined ? Effect.fail(unplanned) : Effect.succeed(answer)))
  )
}
