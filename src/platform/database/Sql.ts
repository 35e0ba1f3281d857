import { PgConnection, PgPool } from "@effect/sql-pg"
import { Data, Effect, Layer, type Redacted, Schedule } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, SqlError, type Statement } from "effect/sql"
import { Config } from "../config/Config.ts"
import { DataDirectory } from "./DataDirectory.ts"
import { connectEmbedded, startPostgres } from "./EmbeddedPostgres.ts"
import { type DatabaseHosts, makeDatabaseHosts } from "./DatabaseHosts.ts"
import { makeSilence } from "./Silence.ts"
import { describeSqlError, isTransient } from "./SqlCondition.ts"
import { makeFailures, withStatements } from "./Statements.ts"
import { withStatementTimeout } from "./StatementTimeout.ts"
import { makeWakeups, withWakeups } from "./Wakeups.ts"
import { StartError } from "../config/Variables.ts"

/** A store that is currently unavailable. The same request may succeed later. `cause` contains no parameters. */
export class Unavailable extends Data.TaggedError("Unavailable")<{
  readonly store: "database" | "redis" | "file store"
  readonly cause?: unknown
}> {
  override get message() {
    return `the ${this.store} cannot be used${typeof this.cause === "string" ? `: ${this.cause}` : ""}`
  }
}

/** A statement that the database rejects because of its content, which is a mistake in this program. Contains no parameters. */
export class StatementRefused extends Error {
  override readonly name = "StatementRefused"
}

/**
 * Wraps every method of a store. A database that is down, overloaded or too slow becomes `Unavailable`. Every other rejection is a
 * defect, constraint violations included; a store that expects one catches it first. Neither error contains the parameters of the
 * statement.
 */
export const storeErrors = <A, E, R>(
  self: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, SqlError.SqlError> | Unavailable, R> =>
  self.pipe(
    Effect.catch((error): Effect.Effect<never, Exclude<E, SqlError.SqlError> | Unavailable> => {
      if (!SqlError.isSqlError(error)) return Effect.fail(error as Exclude<E, SqlError.SqlError>)
      return isTransient(error)
        ? Effect.fail(new Unavailable({ store: "database", cause: describeSqlError(error) }))
        : Effect.die(new StatementRefused(describeSqlError(error)))
    })
  )

/**
 * Replaces characters that `jsonb` rejects, a NUL and half a surrogate pair, with U+FFFD. The text of a model or a caller may contain
 * both, and a statement must not fail because of them.
 */
export const storable = (json: string): string =>
  json.includes("\\u") ? json.replace(/\\(?:u0000|u[dD][89a-fA-F]..|.)/g, replaceUnstorable) : json

const replaceUnstorable = (escape: string) => (/^\\u(?:0000|[dD])/.test(escape) ? "\\ufffd" : escape)

/** Replaces a NUL and half of a surrogate pair with U+FFFD in the text for a text column. */
export const storableText = (text: string): string => text.replaceAll("\0", "\ufffd").toWellFormed()

/**
 * A `LIMIT` with the whole number in the text of the statement. With a parameter, PostgreSQL estimates a generic plan as more expensive
 * than a plan for the current number. So it plans anew at every execution, which can take longer than reading the page.
 */
export const limitTo = (sql: SqlClient.SqlClient, rows: number): Statement.Fragment =>
  sql.literal(`LIMIT ${BigInt(rows)}`)

export interface ConnectOptions {
  readonly url: Redacted.Redacted
  readonly poolSize: number
  /** The database's name in the message of a failed start. */
  readonly called: string
  /** Whether PostgreSQL avoids plans that scan a whole table; true when absent. Only work that reads whole tables sets it to false. */
  readonly readsByIndex?: boolean
  /** The name under which PostgreSQL lists the connections; that of a gateway when absent. */
  readonly applicationName?: string
}

interface MultiHostOptions extends ConnectOptions {
  readonly hosts: DatabaseHosts
}

/** The name of a gateway's connections, and of those of a command. */
const GATEWAY = "tollgate"
const COMMAND = "tollgate-admin"

const sessionOf = ({ applicationName = GATEWAY }: ConnectOptions) =>
  ({ connectTimeout: "5 seconds", applicationName }) as const

/** Whether a gateway is connected to this database. A command's own connections have another name. */
export const isServed = (sql: SqlClient.SqlClient): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = ${GATEWAY} LIMIT 1`,
    (rows) => rows.length > 0
  )

const pool = (
  options: MultiHostOptions,
  size: Pick<PgPool.Config, "maxConnections" | "minConnections" | "idleTimeout">,
  startupParameters: Readonly<Record<string, string>> = {}
) =>
  PgPool.make(
    options.hosts.at({
      ...sessionOf(options),
      ...size,
      connectionTTL: "30 minutes",
      startupParameters: {
        timezone: "UTC",
        // Statements here take a millisecond. Compiling one takes many.
        jit: "off",
        // Everything the service reads is contiguous in an index. A plan that was made while a table was small must not go on reading all
        // of it.
        enable_seqscan: (options.readsByIndex ?? true) ? "off" : "on",
        // The value for memory and solid-state disks. The default is for disks that seek. With it, collecting and sorting all rows of a
        // large account among small ones looks cheapest for a page, although the index has them in order.
        random_page_cost: "1.1",
        // The client's own timeout is in `StatementTimeout.ts` and is longer.
        statement_timeout: "30s",
        // The transaction of a hung process must not keep its locks.
        idle_in_transaction_session_timeout: "60s",
        ...startupParameters
      }
    })
  )

/**
 * A pool for statements with a constant text (`Statements.ts`), opened at the first one. One runs at a time, with room for a second
 * while an unresponsive connection is being given up. Plans for the actual values would not differ, so it always uses the cached
 * generic plan.
 */
const ownPool = (options: MultiHostOptions) =>
  pool(
    { ...options, readsByIndex: true },
    { maxConnections: 2, minConnections: 0, idleTimeout: "30 minutes" },
    { plan_cache_mode: "force_generic_plan" }
  )

const silenceOf = (options: MultiHostOptions) =>
  makeSilence({
    ask: Effect.scoped(
      Effect.flatMap(PgConnection.make(options.hosts.at(sessionOf(options))), (connection) =>
        connection.query("SELECT 1")
      )
    ),
    received: options.hosts.received,
    closeAllConnections: options.hosts.closeAllConnections
  })

const oldestVersion = 15

const checkVersion = (sql: SqlClient.SqlClient, called: string) =>
  Effect.gen(function* () {
    const rows = yield* sql<{ version: string }>`SELECT current_setting('server_version_num') AS version`
    const major = Math.floor(Number(rows[0]?.version) / 10_000)
    if (major >= oldestVersion) return
    return yield* new StartError({
      message: `${called} is PostgreSQL ${major}; tollgate needs PostgreSQL ${oldestVersion} or later`
    })
  })

/** Containers start at the same time, so the service waits for a database that is still starting. */
const startPatience = Schedule.spaced("250 millis").pipe(Schedule.upTo({ duration: "10 seconds" }))

/** Opens a pool of connections after one of them has shown that the server is recent enough. */
export const connect = Effect.fn("connect")(
  function* (connectOptions: ConnectOptions) {
    const options: MultiHostOptions = { ...connectOptions, hosts: yield* makeDatabaseHosts(connectOptions.url) }
    const { poolSize: maxConnections } = options
    const watched = { failures: makeFailures(), silence: yield* silenceOf(options) }
    const client = yield* withStatementTimeout(
      yield* pool(options, { maxConnections, minConnections: 1, idleTimeout: "1 minute" }),
      watched
    )
    const sql = withWakeups(
      withStatements(client, yield* ownPool(options), watched),
      yield* makeWakeups(options.hosts.at(sessionOf(options)))
    )
    yield* checkVersion(sql, options.called).pipe(
      Effect.retry({
        schedule: startPatience,
        while: (error) => error._tag === "SqlError" && error.reason._tag !== "AuthenticationError" && isTransient(error)
      })
    )
    return sql
  },
  (effect, { called }) =>
    Effect.catchTag(
      effect,
      "SqlError",
      (error) => new StartError({ message: `${called} cannot be used: ${describeSqlError(error)}` })
    )
)

/** A client as a service. */
export const layerOf = <E, R>(client: Effect.Effect<SqlClient.SqlClient, E, R>) =>
  Layer.effect(SqlClient.SqlClient, client).pipe(Layer.provide(Reactivity.layer))

/**
 * Connections for the service and a command beside it, with some left for an operator's session. Even a small pool gets this minimum.
 */
const connectionsFor = (poolSize: number): number => Math.max(60, 2 * poolSize + 20)

const connectedLayer = (
  embedded: typeof startPostgres,
  options: Pick<ConnectOptions, "readsByIndex" | "applicationName">
) =>
  layerOf(
    Effect.gen(function* () {
      const { database } = yield* Config
      const { path } = yield* DataDirectory
      const { poolSize } = database
      const settings = [`max_connections=${connectionsFor(poolSize)}`]
      return yield* database.url === undefined
        ? connect({
            url: (yield* embedded({ dataDirectory: path, settings })).url,
            poolSize,
            called: "The embedded PostgreSQL",
            ...options
          })
        : connect({ url: database.url, poolSize, called: "The database of DATABASE_URL", ...options })
    })
  )

/** The service's database: that of DATABASE_URL, or an embedded server that lives as long as the layer. */
export const layer = connectedLayer(startPostgres, {})

/** The service's database for a command that runs beside it. The command uses the service's embedded server and may scan whole tables. */
export const layerCommand = connectedLayer(connectEmbedded, { readsByIndex: false, applicationName: COMMAND })
