/** Whether the database can serve paid requests: it answers, and it has lately written something durable. */
import { Effect, Fiber, Option, type Scope } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { answers, writeDurably } from "./DatabaseHealthSql.ts"
import { describeSqlError, UNANSWERED } from "./SqlCondition.ts"
import { failuresOf } from "./Statements.ts"

/** A write that succeeded is repeated after this time, and not for every look. */
const REPEAT_MS = 10_000

/** The age at which a successful write proves nothing any more. In between, a slow disk may take its time. */
const RECENT_MS = 30_000

/** A read or a write that takes longer is given up. */
const LONGEST_READ = "1 second"
const LONGEST_WRITE = "10 seconds"

const UNCONFIRMED = "the database does not confirm writes"

/** How long one look waits for a write. */
const PATIENCE = "500 millis"

/** A look at the database. */
export interface DatabaseHealth {
  /** What is wrong with the database, in words; undefined when it can be used. It takes as long as the database does. */
  readonly look: Effect.Effect<string | undefined>
}

/**
 * Looks at a database. A disk that is full is found by a write alone: reads go on. So a look writes when the last success is ten
 * seconds old, when that write failed, and when any statement of the client has met a failure of the database since.
 */
export const makeDatabaseHealth = (sql: SqlClient.SqlClient): Effect.Effect<DatabaseHealth, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    let writtenAt = Number.NEGATIVE_INFINITY
    let failed: string | undefined
    let writing: Fiber.Fiber<void> | undefined

    const write = Effect.suspend(() => {
      const beganAt = performance.now()
      return Effect.match(Effect.timeoutOption(writeDurably(sql), LONGEST_WRITE), {
        onSuccess: (written) => {
          failed = Option.isNone(written) ? UNCONFIRMED : undefined
          if (Option.isSome(written)) writtenAt = beganAt
        },
        onFailure: (error: SqlError.SqlError) => void (failed = describeSqlError(error))
      })
    })
    const isDue = () => {
      const since = performance.now() - writtenAt
      return failed !== undefined || since > REPEAT_MS || failuresOf(sql).lastAt() > writtenAt
    }
    /** Begins a write unless one is under way, and waits a moment for its end. */
    const written = Effect.gen(function* () {
      writing ??= yield* Effect.forkIn(
        Effect.ensuring(
          write,
          Effect.sync(() => (writing = undefined))
        ),
        scope
      )
      yield* Effect.timeoutOption(Fiber.await(writing), PATIENCE)
    })

    const look = Effect.gen(function* () {
      const unreadable = yield* Effect.timeoutOrElse(
        Effect.match(answers(sql), { onSuccess: () => undefined, onFailure: describeSqlError }),
        // A question to a connection that hangs ends with the connection.
        { duration: LONGEST_READ, orElse: () => Effect.succeed(UNANSWERED) }
      )
      if (unreadable !== undefined) return unreadable
      if (isDue()) yield* written
      if (failed !== undefined) return failed
      return performance.now() - writtenAt > RECENT_MS ? UNCONFIRMED : undefined
    })
    return { look }
  })
