/** Statements each by itself, without what a client does for those that are put together, traced, or part of a transaction. */
import type { PgPool } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/** Who carries out statements one by one: a client, as a part of the transaction around it, or what `statementsOf` gives. */
export interface Statements {
  /** The rows of a statement with its parameters as `$1`, `$2` and so on. Nothing in it is escaped. */
  readonly unsafe: <A extends object>(
    statement: string,
    parameters: ReadonlyArray<unknown>
  ) => Effect.Effect<ReadonlyArray<A>, SqlError.SqlError>
}

const own: unique symbol = Symbol("own")

/** A client with connections beside its own, for who has them by `statementsOf`. */
export const withStatements = <Client extends SqlClient.SqlClient>(client: Client, pool: PgPool.PgPool): Client => {
  const statements: Statements = {
    unsafe: <A extends object>(statement: string, parameters: ReadonlyArray<unknown>) =>
      pool.use((connection) =>
        Effect.map(connection.query(statement, parameters), ({ rows }) => rows as ReadonlyArray<A>)
      )
  }
  return Object.assign(client, { [own]: statements })
}

/**
 * Statements on the connections that a client has beside its own, which no other statement waits for or keeps waiting, and without a
 * clock on them: for who has one itself. They are never part of a transaction.
 */
export const statementsOf = (client: SqlClient.SqlClient): Statements =>
  (client as SqlClient.SqlClient & { readonly [own]?: Statements })[own] ?? client
