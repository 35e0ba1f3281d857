/**
 * Detects an unreachable database whose connections stay open, as behind a cut network. A statement alone cannot tell that from a slow
 * answer, and would wait for its whole timeout.
 */
import { Effect, Option, type Scope } from "effect"
import { SqlError } from "effect/sql"
import { UNANSWERED } from "./SqlCondition.ts"

/** After a statement has waited this long, in milliseconds, the gateway checks whether the database is silent. */
export const CHECK_AFTER_MS = 2_000

/** A database is silent when no bytes arrive for this long on any connection, including a new one. */
const SILENT_AFTER = "3 seconds"

/** The interval between checks of a silent database. */
const RECHECK = "500 millis"

/** Watches whether a database answers at all. */
export interface Silence {
  /** Starts a check of the database, unless one is running. A check that finds it silent closes all its connections. */
  readonly checkSoon: () => void
  /** Returns the error for statements to a silent database; undefined while the database answers. */
  readonly refusal: () => SqlError.SqlError | undefined
}

export interface SilenceOptions {
  /** Opens a new connection and receives an answer over it. A refusal also counts as an answer. */
  readonly ask: Effect.Effect<unknown, unknown>
  /** Returns the number of bytes that have arrived over all connections. */
  readonly received: () => number
  /** Closes all connections, so that statements waiting for an answer fail. */
  readonly closeAllConnections: () => void
}

/** The error for a statement that was not sent, so it certainly has no effect. */
const refused = () => {
  const cause = new Error(UNANSWERED)
  return new SqlError.SqlError({
    reason: new SqlError.ConnectionError({ cause, message: UNANSWERED, operation: "connect" })
  })
}

/** Creates the watch over a database. It sends nothing while no statement waits long. */
export const makeSilence = ({
  ask,
  received,
  closeAllConnections
}: SilenceOptions): Effect.Effect<Silence, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const runFork = Effect.runForkWith(yield* Effect.context())
    let isChecking = false
    let isSilent = false
    const answers = Effect.map(Effect.timeoutOption(Effect.exit(ask), SILENT_AFTER), Option.isSome)
    const untilAnswer: Effect.Effect<void> = Effect.flatMap(answers, (does) =>
      does ? Effect.void : Effect.andThen(Effect.sleep(RECHECK), untilAnswer)
    )
    const outage = Effect.gen(function* () {
      isSilent = true
      closeAllConnections()
      yield* Effect.logWarning("the database does not answer: requests get 503 until it does")
      yield* untilAnswer
      isSilent = false
      yield* Effect.logInfo("the database answers again")
    })
    const check = Effect.gen(function* () {
      const before = received()
      // Bytes that arrive over any connection show that the statement is only slow.
      if ((yield* answers) || received() !== before) return
      yield* outage
    })
    return {
      checkSoon: () => {
        if (isChecking) return
        isChecking = true
        const probe = Effect.ensuring(
          check,
          Effect.sync(() => (isChecking = false))
        )
        runFork(Effect.forkIn(probe, scope))
      },
      refusal: () => (isSilent ? refused() : undefined)
    }
  })
