/** Statements each by itself, without what a client does for those that are put together, traced, or part of a transaction. */
import type { PgPool } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { isPassing } from "./SqlCondition.ts"

/** Who carries out statements one by one: a client, as a part of the transaction around it, or what `statementsOf` gives. */
export interface Statements {
  /** The rows of a statement with its parameters as `$1`, `$2` and so on. Nothing in it is escaped. */
  readonly unsafe: <A extends object>(
    statement: string,
    parameters: ReadonlyArray<unknown>
  ) => Effect.Effect<ReadonlyArray<A>, SqlError.SqlError>
}

/** What the connections of a client have met of the database's failures. */
export interface Failures {
  /** `performance.now()` at the last failure that lay with the database and not with a statement; at first minus infinity. */
  readonly lastAt: () => number
  /** Notes a failure of a connection or a statement. */
  readonly met: (error: SqlError.SqlError) => Effect.Effect<void>
}

/** None so far. */
export const makeFailures = (): Failures => {
  let lastAt = Number.NEGATIVE_INFINITY
  const note = (error: SqlError.SqlError) => {
    if (isPassing(error)) lastAt = performance.now()
  }
  return { lastAt: () => lastAt, met: (error) => Effect.sync(() => note(error)) }
}

const own: unique symbol = Symbol("own")
const failing: unique symbol = Symbol("failing")

/** A client with connections beside its own, for who has them by `statementsOf`. */
export const withStatements = <Client extends SqlClient.SqlClient>(
  client: Client,
  pool: PgPool.PgPool,
  failures: Failures
): Client => {
  const statements: Statements = {
    unsafe: <A extends object>(statement: string, parameters: ReadonlyArray<unknown>) =>
      Effect.tapError(
        pool.use((connection) =>
          Effect.map(connection.query(statement, parameters), ({ rows }) => rows as ReadonlyArray<A>)
        ),
        failures.met
      )
  }
  return Object.assign(client, { [own]: statements, [failing]: failures })
}

/**
 * Statements on the connections that a client has beside its own, which no other statement waits for or keeps waiting, and without a
 * clock on them: for who has one itself. They are never part of a transaction.
 */
export const statementsOf = (client: SqlClient.SqlClient): Statements =>
  (client as SqlClient.SqlClient & { readonly [own]?: Statements })[own] ?? client

const noFailures = makeFailures()

/** The failures of a client that notes them; none of any other. */
export const failuresOf = (client: SqlClient.SqlClient): Pick<Failures, "lastAt"> =>
  (client as SqlClient.SqlClient & { readonly [failing]?: Failures })[failing] ?? noFailures
