import { type Duration, Effect, Layer, Schedule } from "effect"
import { Codes } from "../account/Codes.ts"
import { Mutations } from "../account/Mutations.ts"
import { OwnerSessions } from "../account/OwnerSessions.ts"
import { Ledger } from "../ledger/Ledger.ts"

/** How long an idempotency key stands after its request ended; published in the documentation. */
export const CLAIM_RETENTION_MS = 24 * 3_600_000

/** Repeats a step that answers how many it did, until there are none left; answers how many there were. */
const untilNone = <E>(step: Effect.Effect<number, E>): Effect.Effect<number, E> =>
  Effect.flatMap(step, (done) => (done === 0 ? Effect.succeed(0) : Effect.map(untilNone(step), (more) => done + more)))

/**
 * Ends overdue holds, gives back overdue charges, frees old idempotency keys and drops what is over of sessions and codes, again and
 * again. Any number of nodes may sweep at once: every ending happens behind the ledger's locks, once.
 */
export const layer = (interval: Duration.Duration) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const mutations = yield* Mutations
      const codes = yield* Codes
      const sessions = yield* OwnerSessions
      const sweep = Effect.gen(function* () {
        const ended = yield* untilNone(ledger.expireOverdue)
        if (ended > 0) yield* Effect.logWarning(`ended ${ended} overdue holds`)
        const refunded = yield* untilNone(ledger.refundOverdue)
        if (refunded > 0) yield* Effect.logWarning(`gave back ${refunded} overdue charges`)
        yield* untilNone(ledger.dropClaims(CLAIM_RETENTION_MS))
        yield* untilNone(mutations.dropClaims(CLAIM_RETENTION_MS))
        yield* untilNone(codes.dropOver)
        yield* untilNone(sessions.dropEnded)
      })
      yield* sweep.pipe(
        // Inside the repeat: one bad sweep must not be the last.
        Effect.catchCause((cause) => Effect.logWarning("a sweep failed", cause)),
        Effect.repeat(Schedule.spaced(interval).pipe(Schedule.jittered)),
        Effect.forkScoped
      )
    })
  )
