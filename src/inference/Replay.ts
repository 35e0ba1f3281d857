import { Effect } from "effect"
import { type Failure, failure } from "../domain/Failure.ts"
import type { Requests } from "../usage/Requests.ts"
import { type Answer, restore } from "./Answer.ts"
import { storeUnavailable } from "./Metered.ts"
import type { ChatRequest } from "./Request.ts"

/**
 * What a request is answered with whose idempotency key another one has: that one's answer or final refusal, or why there is none.
 * Undefined when the other gave the key back in the meantime.
 */
export const replay = (
  requests: Requests["Service"],
  request: ChatRequest,
  claimedBy: string
): Effect.Effect<Answer | undefined, Failure> =>
  Effect.flatMap(Effect.mapError(requests.claimOf(claimedBy), storeUnavailable), (row) => {
    if (row === undefined || row.claim === null) return Effect.succeed(undefined)
    if (row.fingerprint !== request.claim?.fingerprint) return Effect.fail(failure({ _tag: "IdempotencyKeyReused" }))
    if (row.state === "open") return Effect.fail(failure({ _tag: "IdempotencyInProgress" }))
    if (row.answer === null) {
      return Effect.fail(failure({ _tag: "IdempotencyResultUnavailable", requestId: row.id }))
    }
    const kept = restore(row.answer, row.settled)
    return kept._tag === "Answer" ? Effect.succeed(kept.answer) : Effect.fail(failure(kept.reason))
  })
