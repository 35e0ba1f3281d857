/** Adds a timeout to every statement. Without it, an unresponsive connection would block its caller for ever. */
import { PgClient, type PgConnection, type PgPool } from "@effect/sql-pg"
import { Context, Effect, Fiber } from "effect"
import { SqlClient, type SqlConnection, SqlError } from "effect/sql"
import { type Silence, CHECK_AFTER_MS } from "./Silence.ts"
import { UNANSWERED } from "./SqlCondition.ts"
import { unlessSilent, type ConnectionHealth } from "./Statements.ts"

/**
 * How long to wait for a statement, in milliseconds. This is longer than the server's own limit of 30 seconds, so it fires only when
 * the server no longer responds. Code that allows a statement more time on the server raises it here as well.
 */
export const StatementTimeout = Context.Reference<number>("tollgate/platform/StatementTimeout", {
  defaultValue: () => 40_000
})

const unansweredError = () => {
  const cause = new Error(UNANSWERED)
  return new SqlError.SqlError({
    reason: new SqlError.ConnectionError({ cause, message: UNANSWERED, operation: "query" })
  })
}

/** Whether a statement failed because of this timeout. */
export const isUnanswered = ({ reason }: SqlError.SqlError): boolean => reason.message === UNANSWERED

/**
 * Runs a statement in a fiber of its own and interrupts the fiber after the timeout. The driver then cancels the statement, and drops
 * the connection if the cancellation gets no response either.
 */
const withTimeout = <A>(
  statement: Effect.Effect<A, SqlError.SqlError>,
  silence: Silence
): Effect.Effect<A, SqlError.SqlError> =>
  Effect.flatMap(StatementTimeout, (ms) => (ms === Infinity ? statement : within(statement, { ms, silence })))

/** The limit of a statement. */
export interface Limit {
  /** Milliseconds of the machine's clock. */
  readonly ms: number
  /** Receives a call when a statement waits long. */
  readonly silence?: Silence | undefined
  /** Runs on the caller's fiber once the statement has started. */
  readonly meanwhile?: () => void
}

/**
 * Runs a statement in a fiber of its own and interrupts the fiber at its limit. This is cheaper than a race, which would cost every
 * statement two fibers.
 */
export const within = <A>(
  statement: Effect.Effect<A, SqlError.SqlError>,
  { meanwhile, ms, silence }: Limit
): Effect.Effect<A, SqlError.SqlError> =>
  Effect.withFiber((caller) =>
    Effect.callback((resume) => {
      // Started here, so that no interruption can come between the start and the code that hands the fiber on.
      const fiber = Effect.runForkWith(caller.context)(statement)
      meanwhile?.()
      let left = ms
      let timer: NodeJS.Timeout | undefined
      const wait = () => {
        const next = silence === undefined ? left : Math.min(left, CHECK_AFTER_MS)
        left -= next
        timer = setTimeout(left > 0 ? checkSoon : late, next)
      }
      const checkSoon = () => {
        silence?.checkSoon()
        wait()
      }
      const late = () => resume(Effect.andThen(Fiber.interrupt(fiber), Effect.fail(unansweredError())))
      wait()
      fiber.addObserver((exit) => {
        clearTimeout(timer)
        resume(exit)
      })
      return Fiber.interrupt(fiber)
    })
  )

/** A lost connection has already undone its transaction. A failure of the rollback would hide the error that caused it. */
const undone = <A>(ending: Effect.Effect<ReadonlyArray<A>, SqlError.SqlError>) =>
  Effect.catchIf(
    ending,
    ({ reason }) => reason._tag === "ConnectionError",
    () => Effect.succeed([])
  )

const connectionOf = (
  connection: PgConnection.PgConnection,
  { failures: { met }, silence }: ConnectionHealth
): SqlConnection.Connection => {
  const noted = <A>(statement: Effect.Effect<A, SqlError.SqlError>) =>
    Effect.tapError(withTimeout(statement, silence), met)
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
 * A client on these connections that applies the timeout to every statement, including those that begin and end transactions, but not
 * to streams of rows. A statement that times out fails like one on a broken connection: it is unknown whether it was carried out.
 */
export const withStatementTimeout = (pool: PgPool.PgPool, watched: ConnectionHealth) =>
  SqlClient.make({
    acquirer: Effect.map(unlessSilent(watched, pool.get), (connection) => connectionOf(connection, watched)),
    borrower: (use) =>
      unlessSilent(
        watched,
        pool.use((connection) => use(connectionOf(connection, watched)))
      ),
    transactionAcquirer: Effect.map(unlessSilent(watched, pool.reserve), (connection) =>
      connectionOf(connection, watched)
    ),
    compiler: PgClient.makeCompiler(undefined, false),
    driver: "pg",
    spanAttributes: [],
    prepareTransactionControls: true,
    commit,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`
  })
