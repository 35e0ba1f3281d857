/** Executes single statements without the overhead of a client: no composition, no tracing, no transaction. */
import type { PgPool } from "@effect/sql-pg"
import { Effect } from "effect"
import { type SqlClient, SqlError } from "effect/sql"
import type { Silence } from "./Silence.ts"
import { isTransient } from "./SqlCondition.ts"

/**
 * Executes single statements: a client does so within the transaction around it, and the result of `statementsOf` does so outside of
 * any.
 */
export interface Statements {
  /** The rows of a statement with its parameters as `$1`, `$2` and so on. The text is not escaped. */
  readonly unsafe: <A extends object>(
    statement: string,
    parameters: ReadonlyArray<unknown>
  ) => Effect.Effect<ReadonlyArray<A>, SqlError.SqlError>
  /** The watch over the database; undefined for the statements of a client. */
  readonly silence?: Silence
}

/** Records the database failures that the connections of a client have met. */
export interface Failures {
  /** `performance.now()` at the latest failure of the database, as opposed to one of a statement. Initially minus infinity. */
  readonly lastAt: () => number
  /** Records a failure of a connection or a statement. */
  readonly met: (error: SqlError.SqlError) => Effect.Effect<void>
}

/** Creates a record without failures. */
export const makeFailures = (): Failures => {
  let lastAt = Number.NEGATIVE_INFINITY
  const note = (error: SqlError.SqlError) => {
    if (isTransient(error)) lastAt = performance.now()
  }
  return { lastAt: () => lastAt, met: (error) => Effect.sync(() => note(error)) }
}

/** The recorded state of the database behind connections. */
export interface ConnectionHealth {
  readonly failures: Failures
  readonly silence: Silence
}

/** Uses connections unless their database is silent: a new one would wait for its timeout, and so would the caller. */
export const unlessSilent = <A, E, R>(
  { failures, silence }: ConnectionHealth,
  use: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.suspend((): Effect.Effect<A, E | SqlError.SqlError, R> => {
    const refusal = silence.refusal()
    const used: Effect.Effect<A, E | SqlError.SqlError, R> = refusal === undefined ? use : Effect.fail(refusal)
    return Effect.tapError(used, (error) => (SqlError.isSqlError(error) ? failures.met(error) : Effect.void))
  })

const own: unique symbol = Symbol("own")
const failing: unique symbol = Symbol("failing")

/** Adds separate connections to a client, which `statementsOf` returns. */
export const withStatements = <Client extends SqlClient.SqlClient>(
  client: Client,
  pool: PgPool.PgPool,
  watched: ConnectionHealth
): Client => {
  const statements: Statements = {
    unsafe: <A extends object>(statement: string, parameters: ReadonlyArray<unknown>) =>
      unlessSilent(
        watched,
        pool.use((connection) =>
          Effect.map(connection.query(statement, parameters), ({ rows }) => rows as ReadonlyArray<A>)
        )
      ),
    silence: watched.silence
  }
  return Object.assign(client, { [own]: statements, [failing]: watched.failures })
}

/**
 * Executes statements on the client's separate connections. They neither wait for other statements nor delay them, and have no timeout,
 * so the caller must have its own. They are never part of a transaction.
 */
export const statementsOf = (client: SqlClient.SqlClient): Statements =>
  (client as SqlClient.SqlClient & { readonly [own]?: Statements })[own] ?? client

const noFailures = makeFailures()

/** The recorded failures of a client; an empty record for a client that records none. */
export const failuresOf = (client: SqlClient.SqlClient): Pick<Failures, "lastAt"> =>
  (client as SqlClient.SqlClient & { readonly [failing]?: Failures })[failing] ?? noFailures
