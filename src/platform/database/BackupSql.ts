import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

type Sql = SqlClient.SqlClient
type Rows<Row> = Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>

/** All statements of a backup see the same moment. */
export const beginBackup = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

/** A large table takes longer than a request's statement may, and a slow disk longer than a transaction may pause. */
export const allowBackupTime = (sql: Sql) =>
  Effect.andThen(sql`SET LOCAL statement_timeout = 0`, sql`SET LOCAL idle_in_transaction_session_timeout = 0`)

/**
 * `durable_write` holds filler, and a reader would keep the gateway from emptying it. The manifest holds `schema_migration`. Each
 * database has its own functions, which `ledger_version` lists. What a verification proved about one database says nothing about
 * another, so the ledger's checkpoint stays behind.
 */
const LEFT_OUT = new Set([
  "durable_write",
  "ledger_version",
  "schema_migration",
  "ledger_checkpoint",
  "ledger_checkpoint_sum",
  "ledger_verification"
])

/** Returns the names of all tables of the schema. */
export const tableNames = (sql: Sql): Effect.Effect<ReadonlyArray<string>, SqlError.SqlError> =>
  Effect.map(
    sql<{ name: string }>`SELECT relname::text AS name FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') ORDER BY relname`,
    (rows) => rows.map(({ name }) => name)
  )

/** Returns the tables whose rows a backup contains. */
export const tablesToBackUp = (sql: Sql): Effect.Effect<ReadonlyArray<string>, SqlError.SqlError> =>
  Effect.map(tableNames(sql), (names) => names.filter((name) => !LEFT_OUT.has(name)))

/** A migration that the database has run. */
export interface RanMigration {
  readonly id: number
  readonly name: string
}

export const ranMigrations = (sql: Sql): Rows<RanMigration> =>
  sql<RanMigration>`SELECT migration_id AS id, name FROM schema_migration ORDER BY migration_id`

/** Opens the cursor that `fetchRows` reads. Each row is the text of the whole row, which restores every type without loss. */
export const openRows = (sql: Sql, table: string) =>
  sql`DECLARE backup_rows NO SCROLL CURSOR FOR SELECT t::text AS row FROM ONLY ${sql(table)} AS t`

export const fetchRows = (sql: Sql, count: number): Effect.Effect<ReadonlyArray<string>, SqlError.SqlError> =>
  Effect.map(sql<{ row: string }>`FETCH FORWARD ${sql.literal(String(BigInt(count)))} FROM backup_rows`, (rows) =>
    rows.map(({ row }) => row)
  )

export const closeRows = (sql: Sql) => sql`CLOSE backup_rows`

/** The last value that a sequence gave out; null when it gave out none. */
export interface SequenceValue {
  readonly name: string
  readonly value: bigint | null
}

export const sequences = (sql: Sql): Rows<SequenceValue> =>
  sql<SequenceValue>`SELECT sequencename::text AS name, last_value AS value FROM pg_sequences
    WHERE schemaname = current_schema() ORDER BY sequencename`

export const setSequence = (sql: Sql, { name, value }: SequenceValue) =>
  sql`SELECT setval(quote_ident(${name})::regclass, ${value}::bigint)`

export const insertRows = (sql: Sql, table: string, rows: ReadonlyArray<string>) =>
  sql`INSERT INTO ${sql(table)} OVERRIDING SYSTEM VALUE SELECT * FROM unnest(${[...rows]}::text[]::${sql(table)}[])`

interface ForeignKey {
  readonly table: string
  readonly name: string
  readonly definition: string
}

/**
 * Loads a database behind its rules: without triggers, which would act on each row again, and without foreign keys, which rows in the
 * order of tables do not fulfil. It removes the rows that migrations insert. Afterwards the foreign keys are checked for all rows.
 */
export const loadWithoutRules = <A, E, R>(sql: Sql, tables: ReadonlyArray<string>, load: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const keys = yield* sql<ForeignKey>`SELECT r.relname::text AS table, c.conname::text AS name,
        pg_get_constraintdef(c.oid) AS definition
      FROM pg_constraint c JOIN pg_class r ON r.oid = c.conrelid
      WHERE c.contype = 'f' AND c.connamespace = current_schema()::regnamespace ORDER BY c.oid`
    for (const { name, table } of keys) yield* sql`ALTER TABLE ${sql(table)} DROP CONSTRAINT ${sql(name)}`
    for (const table of tables) {
      yield* sql`ALTER TABLE ${sql(table)} DISABLE TRIGGER USER`
      yield* sql`DELETE FROM ${sql(table)}`
    }
    const loaded = yield* load
    for (const { definition, name, table } of keys) {
      yield* sql`ALTER TABLE ${sql(table)} ADD CONSTRAINT ${sql(name)} ${sql.literal(definition)}`
    }
    for (const table of tables) yield* sql`ALTER TABLE ${sql(table)} ENABLE TRIGGER USER`
    return loaded
  })

/** Without it, the first plans on the restored tables take them for empty. */
export const analyze = (sql: Sql) => sql`ANALYZE`
