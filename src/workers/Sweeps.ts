import { type Duration, Effect, Layer } from "effect"
import { Codes } from "../account/Codes.ts"
import { Mutations } from "../account/Mutations.ts"
import { OperatorSessions } from "../account/OperatorSessions.ts"
import { OwnerSessions } from "../account/OwnerSessions.ts"
import { Ledger } from "../ledger/Ledger.ts"
import { CLAIM_RETENTION_MS } from "../ledger/Operation.ts"
import { repeatForever } from "../platform/RepeatForever.ts"
import { Requests } from "../usage/Requests.ts"
import { seldomWhenIdle } from "./Idle.ts"

/** Repeats a step until it processes nothing, and returns the total number processed. */
const untilNone = <E>(step: Effect.Effect<number, E>): Effect.Effect<number, E> =>
  Effect.flatMap(step, (done) => (done === 0 ? Effect.succeed(0) : Effect.map(untilNone(step), (more) => done + more)))

/** The number of money sweeps for each sweep that only deletes old rows. */
const HOUSEKEEPING = 4

/**
 * Periodically ends overdue holds and refunds overdue charges. Every fourth sweep also frees old idempotency keys, and deletes old records
 * of replays, expired sessions and codes; an idle node does so less often. Any number of nodes may sweep at once, because the ledger's
 * locks ensure that each item is processed once.
 */
export const layer = (interval: Duration.Duration) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const requests = yield* Requests
      const mutations = yield* Mutations
      const codes = yield* Codes
      const sessions = yield* OwnerSessions
      const operatorSessions = yield* OperatorSessions
      let sweeps = 0
      const housekeeping = yield* seldomWhenIdle(
        Effect.gen(function* () {
          yield* untilNone(ledger.dropClaims(CLAIM_RETENTION_MS))
          yield* untilNone(requests.dropReplays(CLAIM_RETENTION_MS))
          yield* untilNone(mutations.dropClaims(CLAIM_RETENTION_MS))
          yield* untilNone(codes.dropOver)
          yield* untilNone(sessions.dropEnded)
          yield* untilNone(operatorSessions.dropEnded)
        })
      )
      const sweep = Effect.gen(function* () {
        const ended = yield* untilNone(ledger.expireOverdue)
        if (ended > 0) yield* Effect.logWarning(`ended ${ended} overdue holds`)
        const refunded = yield* untilNone(ledger.refundOverdue)
        if (refunded > 0) yield* Effect.logWarning(`refunded ${refunded} overdue charges`)
        if (sweeps++ % HOUSEKEEPING === 0) yield* housekeeping
      })
      yield* repeatForever(sweep, { every: interval, warning: "a sweep failed" })
    })
  )
