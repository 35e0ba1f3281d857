import { Effect, Layer } from "effect"
import { Migrator, SqlClient, SqlError } from "effect/sql"
import { migrations } from "./MigrationsSql.ts"
import { describeSqlError } from "./SqlCondition.ts"
import { StatementTimeout } from "./StatementTimeout.ts"
import { StartError } from "../config/Variables.ts"

/** Schema changes under names such as `0001_name`, run in numeric order. */
export type MigrationRecord = Record<string, Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient>>

/** An arbitrary number. No other advisory lock of this program uses it. */
const lockKey = 6_801_143_210n

const table = "schema_migration"

const newestOf = (record: MigrationRecord) => Math.max(0, ...Object.keys(record).map((key) => Number.parseInt(key, 10)))

const run = Migrator.make({})

/** Returns whether the database started with another first migration than the record does. */
const isOfAnotherLine = (first: string | undefined, record: MigrationRecord): boolean =>
  first !== undefined && Object.keys(record).some((key) => Number.parseInt(key, 10) === 1 && key !== `0001_${first}`)

const anotherLine = () =>
  new StartError({
    message:
      "The database was made by a version of tollgate with another schema, which this version does not change in place. Back it up " +
      "with that version (`npm run admin -- backup FILE`), restore the file into a new, empty database with this one " +
      "(`npm run admin -- restore FILE`), and start on that; docs/operate/upgrade.md has the steps"
  })

const aheadOfThis = () =>
  new StartError({
    message: "The database belongs to a later version of tollgate (its schema is ahead); start that version"
  })

const tableExists = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ exists: boolean }>`SELECT to_regclass(${table}) IS NOT NULL AS exists`,
    ([found]) => found?.exists === true
  )

/** Returns whether the schema is exactly that of the record. */
const isCurrent = (sql: SqlClient.SqlClient, record: MigrationRecord) =>
  Effect.gen(function* () {
    if (!(yield* tableExists(sql))) return false
    const rows = yield* sql<{ id: number; name: string }>`SELECT migration_id AS id, name FROM ${sql(table)}`
    const newest = Math.max(0, ...rows.map(({ id }) => id))
    return newest === newestOf(record) && !isOfAnotherLine(rows.find(({ id }) => id === 1)?.name, record)
  })

/**
 * Brings the schema up to date in one transaction: all pending migrations or none. Processes that start at the same time wait for each
 * other. Fails when a migration fails, or when the database is newer than this program or started with another schema.
 */
export const migrate = Effect.fn("migrate")(function* (record: MigrationRecord) {
  const sql = yield* SqlClient.SqlClient
  // A role that may not change tables can start on a current schema: the lock below and the migrator's need that right.
  if (yield* isCurrent(sql, record)) return []
  const work = Effect.gen(function* () {
    yield* sql`SET LOCAL statement_timeout = 0`
    // The service itself turns sequential scans off; migrations need them.
    yield* sql`SET LOCAL enable_seqscan = on`
    // The migrator locks its own table, which the first process must create before it can lock it.
    yield* sql`SELECT pg_advisory_xact_lock(${lockKey})`
    // After a failure to create its table, the migrator would query again and report only that a failed transaction accepts no
    // statements.
    if (!(yield* tableExists(sql))) {
      yield* sql`CREATE TABLE ${sql(table)} (
        migration_id integer PRIMARY KEY,
        created_at timestamptz NOT NULL DEFAULT now(),
        name text NOT NULL
      )`
    }
    const [oldest] = yield* sql<{ name: string }>`SELECT name FROM ${sql(table)} WHERE migration_id = 1`
    if (isOfAnotherLine(oldest?.name, record)) return yield* anotherLine()
    const done = yield* run({ loader: Migrator.fromRecord(record), table })
    const rows = yield* sql<{ newest: number }>`SELECT max(migration_id) AS newest FROM ${sql(table)}`
    if ((rows[0]?.newest ?? 0) <= newestOf(record)) return done
    return yield* aheadOfThis()
  })
  return yield* Effect.provideService(sql.withTransaction(work), StatementTimeout, Infinity)
})

/** Describes an error; says what to do when the role may not change the schema. */
export const describeOwnership = (error: SqlError.SqlError): string => {
  const detail = describeSqlError(error)
  return detail.includes("SQLSTATE 42501")
    ? `${detail}. Run \`npm run admin -- migrate\` as the owner of the tables, then start with DATABASE_MIGRATE=0.`
    : detail
}

const cannotMigrate = (detail: string) => new StartError({ message: `The schema cannot be migrated: ${detail}` })

/** Runs the pending migrations of this program, and returns those that it ran. */
export const migrateAll = migrate(migrations).pipe(
  Effect.catchTags({
    MigrationError: ({ message, cause }) =>
      cannotMigrate(SqlError.isSqlError(cause) ? `${message}: ${describeOwnership(cause)}` : message),
    SqlError: (error) => cannotMigrate(describeOwnership(error))
  })
)

/** Runs the pending migrations before any layer above this one starts. */
export const layer = Layer.effectDiscard(
  Effect.tap(migrateAll, (done) => {
    const last = done.at(-1)
    return last === undefined
      ? Effect.void
      : Effect.logDebug(`The schema has been migrated to ${last[0]} (${last[1]}) in ${done.length} steps`)
  })
)

/** The start of a node that may not change the schema fails with this until it is up to date. */
export const notUpToDate = (what: string) =>
  new StartError({
    message:
      `${what}, and DATABASE_MIGRATE is 0: run \`npm run admin -- migrate\` of this version with a DATABASE_URL whose role owns the ` +
      "tables, then start again"
  })

/** Fails unless the schema is that of this program. Changes nothing. */
export const schemaCheck = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    if (!(yield* tableExists(sql))) return yield* notUpToDate("The database has no tables of tollgate")
    const rows = yield* sql<{ id: number; name: string }>`SELECT migration_id AS id, name FROM ${sql(table)}`
    if (isOfAnotherLine(rows.find(({ id }) => id === 1)?.name, migrations)) return yield* anotherLine()
    const newest = Math.max(0, ...rows.map(({ id }) => id))
    if (newest > newestOf(migrations)) return yield* aheadOfThis()
    if (newest < newestOf(migrations)) return yield* notUpToDate("The schema is behind this version")
  }).pipe(
    Effect.catchTag(
      "SqlError",
      (error) => new StartError({ message: `The schema cannot be checked: ${describeSqlError(error)}` })
    )
  )
)
