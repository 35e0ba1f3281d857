/** A clock for every statement: a connection that says nothing would else keep whoever waits for it for ever. */
import { PgClient, type PgConnection, type PgPool } from "@effect/sql-pg"
import { Context, Effect, Fiber } from "effect"
import { SqlClient, type SqlConnection, SqlError } from "effect/sql"
import { UNANSWERED } from "./SqlCondition.ts"
import type { Failures } from "./Statements.ts"

/**
 * How long a statement is waited for, in milliseconds: longer than the 30 seconds that the server itself gives it, so that it
 * strikes where the server is not heard any more. Whoever allows a statement more there provides more here.
 */
export const StatementTimeout = Context.Reference<number>("tollgate/platform/StatementTimeout", {
  defaultValue: () => 40_000
})

const unanswered = () => {
  const cause = new Error(UNANSWERED)
  return new SqlError.SqlError({
    reason: new SqlError.ConnectionError({ cause, message: UNANSWERED, operation: "query" })
  })
}

/** Whether a statement failed because its time was over. */
export const isUnanswered = ({ reason }: SqlError.SqlError): boolean => reason.message === UNANSWERED

/**
 * Runs a statement in a fiber of its own, which is interrupted when its time is over: the driver then cancels the statement, and
 * drops a connection that does not hear of it either.
 */
const timed = <A>(statement: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A, SqlError.SqlError> =>
  Effect.flatMap(StatementTimeout, (ms) => (ms === Infinity ? statement : within(statement, ms)))

/**
 * Runs a statement in a fiber of its own, which is interrupted when so many milliseconds are over. By the machine's clock, as all that
 * is the network's. Leaner than a race, of which every statement would pay for two fibers. Meanwhile, when the statement has begun,
 * the caller may do something else.
 */
export const within = <A>(
  statement: Effect.Effect<A, SqlError.SqlError>,
  ms: number,
  meanwhile?: () => void
): Effect.Effect<A, SqlError.SqlError> =>
  Effect.withFiber((caller) =>
    Effect.callback((resume) => {
      // Begun here, so that no interruption can come between it and who would hand it on.
      const fiber = Effect.runForkWith(caller.context)(statement)
      meanwhile?.()
      const late = () => resume(Effect.andThen(Fiber.interrupt(fiber), Effect.fail(unanswered())))
      const timer = setTimeout(late, ms)
      fiber.addObserver((exit) => {
        clearTimeout(timer)
        resume(exit)
      })
      return Fiber.interrupt(fiber)
    })
  )

/** Where the connection is lost its transaction is undone; a failure would hide the one that it is undone for. */
const undone = <A>(ending: Effect.Effect<ReadonlyArray<A>, SqlError.SqlError>) =>
  Effect.catchIf(
    ending,
    ({ reason }) => reason._tag === "ConnectionError",
    () => Effect.succeed([])
  )

const connectionOf = (connection: PgConnection.PgConnection, { met }: Failures): SqlConnection.Connection => {
  const noted = <A>(statement: Effect.Effect<A, SqlError.SqlError>) => Effect.tapError(timed(statement), met)
  const rows = (sql: string, parameters: ReadonlyArray<unknown>, prepare?: boolean) =>
    noted(Effect.map(connection.query(sql, parameters, prepare), (result) => result.rows))
  return {
    execute: (sql, parameters) =>
      /^(?:ROLLBACK|RELEASE)\b/.test(sql) ? undone(rows(sql, parameters)) : rows(sql, parameters),
    executeRaw: (sql, parameters) => noted(connection.query(sql, parameters)),
    executeValues: (sql, parameters) => noted(connection.queryValues(sql, parameters)),
    executeValuesUnprepared: (sql, parameters) => noted(connection.queryValues(sql, parameters, false)),
    executeUnprepared: (sql, parameters) => rows(sql, parameters, false),
    executeStream: (sql, parameters) => connection.stream(sql, parameters)
  }
}

/** PostgreSQL answers ROLLBACK to the COMMIT of a transaction in which a statement failed. */
const commit = (connection: SqlConnection.Connection): Effect.Effect<void, SqlError.SqlError> =>
  Effect.flatMap(connection.executeRaw("COMMIT", []), (result) =>
    (result as { readonly command?: string }).command === "ROLLBACK"
      ? Effect.fail(
          new SqlError.SqlError({
            reason: new SqlError.UnknownError({
              cause: new Error("rolled back"),
              message: "rolled back",
              operation: "commit"
            })
          })
        )
      : Effect.void
  )

/**
 * A client of these connections with a clock on every statement, those that begin and end transactions included; streams of rows
 * have none. A statement that it strikes at fails as one whose connection broke: nobody knows whether it was carried out.
 */
export const withStatementTimeout = (pool: PgPool.PgPool, failures: Failures) =>
  SqlClient.make({
    acquirer: Effect.map(Effect.tapError(pool.get, failures.met), (connection) => connectionOf(connection, failures)),
    borrower: (use) =>
      Effect.tapError(
        pool.use((connection) => use(connectionOf(connection, failures))),
        (error) => (SqlError.isSqlError(error) ? failures.met(error) : Effect.void)
      ),
    transactionAcquirer: Effect.map(Effect.tapError(pool.reserve, failures.met), (connection) =>
      connectionOf(connection, failures)
    ),
    compiler: PgClient.makeCompiler(undefined, false),
    driver: "pg",
    spanAttributes: [],
    prepareTransactionControls: true,
    commit,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`
  })
