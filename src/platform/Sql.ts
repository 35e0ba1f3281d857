import { PgPool } from "@effect/sql-pg"
import { Data, Effect, Layer, type Redacted, Schedule } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, SqlError, type Statement } from "effect/sql"
import { Config } from "./Config.ts"
import { DataDirectory } from "./DataDirectory.ts"
import { connectEmbedded, startPostgres } from "./EmbeddedPostgres.ts"
import { describeSqlError, isPassing } from "./SqlCondition.ts"
import { makeFailures, withStatements } from "./Statements.ts"
import { withStatementTimeout } from "./StatementTimeout.ts"
import { StartError } from "./Variables.ts"

/** A store that cannot be used at present; the same request may succeed later. `cause` holds no parameters. */
export class Unavailable extends Data.TaggedError("Unavailable")<{
  readonly store: "database" | "redis" | "file store"
  readonly cause?: unknown
}> {
  override get message() {
    return `the ${this.store} cannot be used${typeof this.cause === "string" ? `: ${this.cause}` : ""}`
  }
}

/** A statement that the database refuses for what it says: a mistake in this program. Holds no parameters. */
export class StatementRefused extends Error {
  override readonly name = "StatementRefused"
}

/**
 * For every method of a store: a database that is away, overloaded or too slow becomes `Unavailable`; every other
 * refusal is a defect, constraint violations included (a store that expects one catches it first). Neither carries
 * what the statement was called with.
 */
export const storeErrors = <A, E, R>(
  self: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, SqlError.SqlError> | Unavailable, R> =>
  self.pipe(
    Effect.catch((error): Effect.Effect<never, Exclude<E, SqlError.SqlError> | Unavailable> => {
      if (!SqlError.isSqlError(error)) return Effect.fail(error as Exclude<E, SqlError.SqlError>)
      return isPassing(error)
        ? Effect.fail(new Unavailable({ store: "database", cause: describeSqlError(error) }))
        : Effect.die(new StatementRefused(describeSqlError(error)))
    })
  )

/**
 * JSON as `jsonb` takes it, which takes neither a NUL nor half a surrogate pair; what a model or a caller wrote may hold both, and
 * a statement must not fail of it. They become U+FFFD.
 */
export const storable = (json: string): string =>
  json.includes("\\u") ? json.replace(/\\(?:u0000|u[dD][89a-fA-F]..|.)/g, replaceUnstorable) : json

const replaceUnstorable = (escape: string) => (/^\\u(?:0000|[dD])/.test(escape) ? "\\ufffd" : escape)

/** The same of a text, for a column of texts. */
export const storableText = (text: string): string => text.replaceAll("\0", "\ufffd").toWellFormed()

/**
 * `LIMIT`, with the number, a whole one, in the text of the statement. As a parameter it makes a plan for any number look dearer than
 * one for the number at hand, so that PostgreSQL plans anew at every execution, and of a page that can take longer than to read it.
 */
export const limitTo = (sql: SqlClient.SqlClient, rows: number): Statement.Fragment =>
  sql.literal(`LIMIT ${BigInt(rows)}`)

export interface ConnectOptions {
  readonly url: Redacted.Redacted
  readonly poolSize: number
  /** How the database is called in the message of a failed start. */
  readonly called: string
  /** Whether plans that walk through a whole table are avoided, as they are unless told: for all but what reads whole tables. */
  readonly readsByIndex?: boolean
}

const pool = (
  { readsByIndex = true, url }: ConnectOptions,
  size: Pick<PgPool.Config, "maxConnections" | "minConnections" | "idleTimeout">,
  startupParameters: Readonly<Record<string, string>> = {}
) =>
  PgPool.make({
    url,
    ...size,
    connectionTTL: "30 minutes",
    connectTimeout: "5 seconds",
    applicationName: "tollgate",
    startupParameters: {
      timezone: "UTC",
      // Statements here take a millisecond; to compile one takes many.
      jit: "off",
      // Whatever the service reads stands together in an index, and a plan made while a table was small must not go on reading all of it.
      enable_seqscan: readsByIndex ? "off" : "on",
      // As for memory and solid disks. By the default, for disks that seek, a page of a large account among small ones seems cheapest
      // when all that it has is collected and sorted, though the index has it in order.
      random_page_cost: "1.1",
      // A client's own clock is `StatementTimeout.ts`, which is longer.
      statement_timeout: "30s",
      // A transaction whose process hangs must not keep its locks.
      idle_in_transaction_session_timeout: "60s",
      ...startupParameters
    }
  })

/**
 * For statements that are always the same (`Statements.ts`), opened when the first comes: one at a time, and room for another while a
 * connection that says nothing is given up. Made for the values at hand, no plan of theirs would be another.
 */
const ownPool = (options: ConnectOptions) =>
  pool(
    { ...options, readsByIndex: true },
    { maxConnections: 2, minConnections: 0, idleTimeout: "30 minutes" },
    { plan_cache_mode: "force_generic_plan" }
  )

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

/** Containers start together: a database that is just coming up is waited for. */
const startPatience = Schedule.spaced("250 millis").pipe(Schedule.upTo({ duration: "10 seconds" }))

/** A pool of connections, once one of them has shown a server that is new enough. */
export const connect = Effect.fn("connect")(
  function* (options: ConnectOptions) {
    const { poolSize: maxConnections } = options
    const failures = makeFailures()
    const client = yield* withStatementTimeout(
      yield* pool(options, { maxConnections, minConnections: 1, idleTimeout: "1 minute" }),
      failures
    )
    const sql = withStatements(client, yield* ownPool(options), failures)
    yield* checkVersion(sql, options.called).pipe(
      Effect.retry({
        schedule: startPatience,
        while: (error) => error._tag === "SqlError" && error.reason._tag !== "AuthenticationError" && isPassing(error)
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

/** Those of the service and of a command beside it, with room for who looks in by hand; no fewer than a small pool has. */
const connectionsFor = (poolSize: number): number => Math.max(60, 2 * poolSize + 20)

const connected = (embedded: typeof startPostgres, readsByIndex: boolean) =>
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
            readsByIndex
          })
        : connect({ url: database.url, poolSize, called: "The database of DATABASE_URL", readsByIndex })
    })
  )

/** The service's database: that of DATABASE_URL, or an embedded server that lives as long as the layer. */
export const layer = connected(startPostgres, true)

/** The same database for a command beside a running service, whose embedded server it then uses; it may read all there is. */
export const layerCommand = connected(connectEmbedded, false)
