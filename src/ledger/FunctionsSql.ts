/**
 * The ledger's rules as functions of the database. `sql/` holds each rule once: a file per function, composed of the files in
 * `sql/rules` and `sql/commit`. Migrations hold tables only.
 */
import { Effect, Layer, Schedule } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { createHash } from "node:crypto"
import { readdirSync } from "node:fs"
import { Config } from "../platform/config/Config.ts"
import { StartError } from "../platform/config/Variables.ts"
import { describeOwnership, schemaCheck, layer as migrated, notUpToDate } from "../platform/database/Migrations.ts"
import { readSql, statementsIn } from "../platform/database/SqlFiles.ts"

/** The functions of one version of the rules. */
export interface Functions {
  /** A digest of their text. Every name ends with it, so versions never replace each other. */
  readonly version: string
  readonly names: ReadonlyArray<string>
  readonly definitions: ReadonlyArray<string>
}

/** Reads the functions in a directory: each `.sql` file that is directly in it creates one. */
export const readFunctions = (directory: URL): Functions => {
  const texts = readdirSync(directory)
    .filter((file) => file.endsWith(".sql"))
    .toSorted()
    .map((file) => readSql(directory, file))
  const version = createHash("sha256").update(texts.join("\n")).digest("hex").slice(0, 12)
  const plain = texts.flatMap((text) => /^CREATE OR REPLACE FUNCTION (\w+)/m.exec(text)?.[1] ?? [])
  const mention = new RegExp(`\\b(?:${plain.join("|")})\\b`, "g")
  return {
    version,
    names: plain.map((name) => `${name}_${version}`),
    definitions: texts.flatMap((text) => statementsIn(text.replaceAll(mention, `$&_${version}`)))
  }
}

/** The functions that this program calls. */
export const functions = readFunctions(new URL("./sql/", import.meta.url))

/** Returns the name in the database of a function in `sql/`. */
export const functionNamed = (name: string): string => `${name}_${functions.version}`

/** An arbitrary number. No other advisory lock of this program uses it. */
const LOCK_KEY = 6_801_143_212n

/** How often a running node records that it uses its functions. */
const USE_RECORDED = "1 hour"

/**
 * How long unused functions stay. A node that could not reach the database for this long may find its functions gone, and needs a
 * restart.
 */
const KEPT_DAYS = 7

const recordUse = (sql: SqlClient.SqlClient, { version }: Functions) =>
  sql`INSERT INTO ledger_version (version) VALUES (${version}) ON CONFLICT (version) DO UPDATE SET used_at = now()`

const isMissing = (sql: SqlClient.SqlClient, own: Functions): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql`SELECT 1 FROM unnest(${[...own.names]}::text[]) AS name WHERE to_regproc(name) IS NULL`,
    (missing) => missing.length > 0
  )

/** Another role's functions are left to that role. */
const dropUnused = (sql: SqlClient.SqlClient) =>
  Effect.gen(function* () {
    const unused = yield* sql<{ signature: string }>`
      WITH unused AS (
        DELETE FROM ledger_version WHERE used_at < now() - ${KEPT_DAYS} * interval '1 day' RETURNING version
      )
      SELECT p.oid::regprocedure::text AS signature FROM pg_proc p JOIN unused u ON right(p.proname, 13) = '_' || u.version
      WHERE p.pronamespace = current_schema()::regnamespace AND starts_with(p.proname, 'ledger_')
        AND p.proowner = current_user::regrole`
    for (const { signature } of unused) yield* sql.unsafe(`DROP FUNCTION ${signature}`)
  })

/**
 * Creates the functions of a version unless the database has them, records their use, and drops those that no node has used for a
 * while. Nodes that start together wait for each other. Nodes of other versions are not affected: they call functions of their own.
 */
export const install = (own: Functions): Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const work = Effect.gen(function* () {
      yield* sql`SELECT pg_advisory_xact_lock(${LOCK_KEY})`
      if (yield* isMissing(sql, own)) for (const definition of own.definitions) yield* sql.unsafe(definition)
      yield* recordUse(sql, own)
      yield* dropUnused(sql)
    })
    yield* sql.withTransaction(work)
  })

const cannotCreate = (error: SqlError.SqlError) =>
  new StartError({ message: `The ledger's functions cannot be created: ${describeOwnership(error)}` })

/** Installs the functions of this program. */
export const installAll = Effect.catchTag(install(functions), "SqlError", cannotCreate)

/** Fails unless the database has the functions of this program. */
const check = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  if (yield* isMissing(sql, functions))
    return yield* notUpToDate("The database lacks the ledger's functions of this version")
  yield* recordUse(sql, functions)
})

/**
 * Brings the database up to date before any layer above this one starts: its schema and the functions of this program, whose use it
 * records while it runs. With `DATABASE_MIGRATE=0` it only checks both, and the start fails unless they are up to date.
 */
export const layer = Layer.unwrap(
  Effect.map(Config, ({ database: { migrates } }) => {
    const installed = Layer.effectDiscard(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* migrates ? install(functions) : check
        yield* recordUse(sql, functions).pipe(
          Effect.ignore,
          Effect.delay(USE_RECORDED),
          Effect.repeat(Schedule.forever),
          Effect.forkScoped
        )
      }).pipe(Effect.catchTag("SqlError", cannotCreate))
    )
    return Layer.provideMerge(installed, migrates ? migrated : schemaCheck)
  })
)
