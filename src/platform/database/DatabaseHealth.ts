/** Checks whether the database can serve paid requests: it answers, and it has recently made a write durable. */
import { Effect, Fiber, Option, type Scope } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { answers, writeDurably } from "./DatabaseHealthSql.ts"
import { describeSqlError, UNANSWERED } from "./SqlCondition.ts"
import { failuresOf } from "./Statements.ts"

/** A successful write is repeated after this time, not at every check. */
const REPEAT_MS = 10_000

/** The age after which a successful write proves nothing any more. Until then, a slow disk may take its time. */
const RECENT_MS = 30_000

/** A read or a write that takes longer has failed. */
const LONGEST_READ = "1 second"
const LONGEST_WRITE = "10 seconds"

const UNCONFIRMED = "the database does not confirm writes"

/** How long one check waits for a write. */
const PATIENCE = "500 millis"

/** Checks of the database. */
export interface DatabaseHealth {
  /**
   * What is wrong with the database, in words; undefined when it is usable. The check takes as long as the database takes to answer.
   */
  readonly look: Effect.Effect<string | undefined>
}

/**
 * Creates the health checks of a database. Only a write detects a full disk, because reads keep working. So a check writes when the
 * last successful write is ten seconds old, when the last write failed, or when any statement of this client has met a database failure
 * since.
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
    /** Starts a write unless one is running, and waits briefly for it to end. */
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
        // When a connection hangs, closing it ends the pending read.
        { duration: LONGEST_READ, orElse: () => Effect.succeed(UNANSWERED) }
      )
      if (unreadable !== undefined) return unreadable
      if (isDue()) yield* written
      if (failed !== undefined) return failed
      return performance.now() - writtenAt > RECENT_MS ? UNCONFIRMED : undefined
    })
    return { look }
  })
