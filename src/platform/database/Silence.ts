/**
 * Finds out when the database falls silent: its connections stay open, and nothing comes over any of them, as behind a cut network. A
 * statement alone cannot tell that from a slow answer, and would wait for its whole timeout.
 */
import { Effect, Option, type Scope } from "effect"
import { SqlError } from "effect/sql"
import { UNANSWERED } from "./SqlCondition.ts"

/** After this time, in milliseconds, the wait of a statement is a reason to ask. */
export const SUSPECT_MS = 2_000

/** A database that says nothing for this long on any connection, a new one included, is silent. */
const ANSWER = "3 seconds"

/** How often a silent database is asked whether it answers again. */
const ASK_AGAIN = "500 millis"

/** Whether a database answers at all. */
export interface Silence {
  /** Asks the database, unless it is being asked. One that is silent has all its connections ended. */
  readonly checkSoon: () => void
  /** Why nothing is sent to the database now; undefined while it answers. */
  readonly refusal: () => SqlError.SqlError | undefined
}

export interface SilenceOptions {
  /** Opens a new connection and gets an answer over it. A refusal is an answer too. */
  readonly ask: Effect.Effect<unknown, unknown>
  /** Bytes that came over all connections so far. */
  readonly received: () => number
  /** Ends all connections, and with them the statements that wait for an answer. */
  readonly closeAllConnections: () => void
}

/** Nothing was sent, so what was to be done has not been done. */
const refused = () => {
  const cause = new Error(UNANSWERED)
  return new SqlError.SqlError({
    reason: new SqlError.ConnectionError({ cause, message: UNANSWERED, operation: "connect" })
  })
}

/** Creates the watch over a database. It asks nothing while no statement waits long. */
export const makeSilence = ({
  ask,
  received,
  closeAllConnections
}: SilenceOptions): Effect.Effect<Silence, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const runFork = Effect.runForkWith(yield* Effect.context())
    let isAsking = false
    let isSilent = false
    const answers = Effect.map(Effect.timeoutOption(Effect.exit(ask), ANSWER), Option.isSome)
    const untilHeard: Effect.Effect<void> = Effect.flatMap(answers, (does) =>
      does ? Effect.void : Effect.andThen(Effect.sleep(ASK_AGAIN), untilHeard)
    )
    const outage = Effect.gen(function* () {
      isSilent = true
      closeAllConnections()
      yield* Effect.logWarning("the database does not answer: requests get 503 until it does")
      yield* untilHeard
      isSilent = false
      yield* Effect.logInfo("the database answers again")
    })
    const asking = Effect.gen(function* () {
      const before = received()
      // Anything that comes over another connection shows that this statement is only slow.
      if ((yield* answers) || received() !== before) return
      yield* outage
    })
    return {
      checkSoon: () => {
        if (isAsking) return
        isAsking = true
        const probe = Effect.ensuring(
          asking,
          Effect.sync(() => (isAsking = false))
        )
        runFork(Effect.forkIn(probe, scope))
      },
      refusal: () => (isSilent ? refused() : undefined)
    }
  })
