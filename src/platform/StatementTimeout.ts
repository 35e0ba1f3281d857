/** A clock for every statement: a connection that says nothing would else keep whoever waits for it for ever. */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect } from "effect"
import { SqlClient, type SqlConnection, SqlError } from "effect/sql"

/**
 * How long a statement is waited for, in milliseconds: longer than the 30 seconds that the server itself gives it, so that it
 * strikes where the server is not heard any more. Whoever allows a statement more there provides more here.
 */
export const StatementTimeout = Context.Reference<number>("tollgate/platform/StatementTimeout", {
  defaultValue: () => 40_000
})

const unanswered = () => {
  const message = "the database does not answer"
  const reason = new SqlError.ConnectionError({ cause: new Error(message), message, operation: "query" })
  return new SqlError.SqlError({ reason })
}

/** By the machine's clock, as all that is the network's. */
const silence = (ms: number) =>
  Effect.callback<never, SqlError.SqlError>((resume) => {
    const timer = setTimeout(() => resume(Effect.fail(unanswered())), ms)
    return Effect.sync(() => clearTimeout(timer))
  })

/** Interrupted, the driver cancels the statement, and drops a connection that does not hear of it either. */
const timed = <A>(statement: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A, SqlError.SqlError> =>
  Effect.flatMap(StatementTimeout, (ms) => (ms === Infinity ? statement : Effect.raceFirst(statement, silence(ms))))

/** Where the connection is lost its transaction is undone; a failure would hide the one that it is undone for. */
const undone = (ending: Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError>) =>
  Effect.catchIf(
    ending,
    ({ reason }) => reason._tag === "ConnectionError",
    () => Effect.succeed([])
  )

const timedConnection = (connection: SqlConnection.Connection): SqlConnection.Connection => ({
  execute: (sql, ...rest) => {
    const statement = connection.execute(sql, ...rest)
    return timed(/^(?:ROLLBACK|RELEASE)\b/.test(sql) ? undone(statement) : statement)
  },
  executeRaw: (...statement) => timed(connection.executeRaw(...statement)),
  executeValues: (...statement) => timed(connection.executeValues(...statement)),
  executeValuesUnprepared: (...statement) => timed(connection.executeValuesUnprepared(...statement)),
  executeUnprepared: (...statement) => timed(connection.executeUnprepared(...statement)),
  executeStream: (...statement) => connection.executeStream(...statement)
})

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

const plain: unique symbol = Symbol("plain")

/** The same connections without that clock, for those who have one of their own and no time for two. */
export const withoutStatementTimeout = (client: SqlClient.SqlClient): SqlClient.SqlClient =>
  (client as SqlClient.SqlClient & { readonly [plain]?: SqlClient.SqlClient })[plain] ?? client

/**
 * The same client with a clock on every statement, those that begin and end transactions included; streams of rows have none. A
 * statement that it strikes at fails as one whose connection broke: nobody knows whether it was carried out.
 */
export const withStatementTimeout = Effect.fnUntraced(function* (pg: PgClient.PgClient) {
  const { config, json, listen, notify } = pg
  const client = yield* SqlClient.make({
    acquirer: Effect.map(pg.reserve, timedConnection),
    compiler: PgClient.makeCompiler(undefined, config.transformJson),
    driver: "pg",
    spanAttributes: [],
    prepareTransactionControls: true,
    commit,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`
  })
  const typeId: PgClient.TypeId = PgClient.TypeId
  return Object.assign(client, { [typeId]: typeId, [plain]: pg, config, json, listen, notify }) as PgClient.PgClient
})
