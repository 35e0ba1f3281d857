import { Effect } from "effect"
import { PersistedQueue } from "effect/persistence"
import { Migrator, SqlClient, SqlError } from "effect/sql"

/** The table of queued jobs. Effect's store creates it and defines its columns. */
export const JOB_TABLE = "job"

type StoreOptions = Omit<NonNullable<Parameters<typeof PersistedQueue.makeStoreSql>[0]>, "tableName">

/** The database error that caused this defect, if one did. */
const refused = (defect: unknown): SqlError.SqlError | undefined => {
  const error = defect instanceof Migrator.MigrationError ? defect.cause : defect
  return SqlError.isSqlError(error) ? error : undefined
}

/**
 * Creates Effect's store, which creates its table if it is missing. The store treats a database that refuses or disappears then as a
 * defect.
 */
export const makeJobStore = (options: StoreOptions) =>
  PersistedQueue.makeStoreSql({ ...options, tableName: JOB_TABLE }).pipe(
    Effect.catchDefect((defect) => {
      const error = refused(defect)
      return error === undefined ? Effect.die(defect) : Effect.fail(error)
    })
  )

/**
 * Lets the store create its table here, under the lock of all migrations. When the store starts later, it finds nothing left to do. A
 * version of Effect that changes the table needs a migration that does the same again.
 */
export const createJobTable = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.scoped(makeJobStore({}))
  // The store widens only its column. The column's sequence would still end after 2,147,483,647 attempts.
  yield* sql`ALTER SEQUENCE ${sql(`${JOB_TABLE}_sequence_seq`)} AS bigint`
  yield* sql`COMMENT ON TABLE ${sql(JOB_TABLE)} IS 'Queues of row ids that every node works on'`
  yield* sql`COMMENT ON TABLE ${sql(`${JOB_TABLE}_migrations`)} IS 'The changes of Effect''s store to that table'`
  // One index for all attempts of one job, newest first, and one for rows to delete, oldest first.
  yield* sql`CREATE INDEX job_turn ON ${sql(JOB_TABLE)} (queue_name, element, sequence DESC)`
  yield* sql`CREATE INDEX job_completed ON ${sql(JOB_TABLE)} (updated_at) WHERE state = 'completed'`
})
