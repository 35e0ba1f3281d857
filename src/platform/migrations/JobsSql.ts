import { Effect } from "effect"
import { PersistedQueue } from "effect/persistence"
import { Migrator, SqlClient, SqlError } from "effect/sql"

/** The table of the queues' jobs. Its columns are those of Effect's store, which makes it. */
export const JOB_TABLE = "job"

type StoreOptions = Omit<NonNullable<Parameters<typeof PersistedQueue.makeStoreSql>[0]>, "tableName">

/** What the database refused of what ended with this, if it was that. */
const refused = (defect: unknown): SqlError.SqlError | undefined => {
  const error = defect instanceof Migrator.MigrationError ? defect.cause : defect
  return SqlError.isSqlError(error) ? error : undefined
}

/** Effect's store, which makes its table where there is none. To it, a database that refuses or goes away then is a defect. */
export const makeJobStore = (options: StoreOptions) =>
  PersistedQueue.makeStoreSql({ ...options, tableName: JOB_TABLE }).pipe(
    Effect.catchDefect((defect) => {
      const error = refused(defect)
      return error === undefined ? Effect.die(defect) : Effect.fail(error)
    })
  )

/**
 * Lets the store make its table here, under the lock of all migrations; when it starts later it finds nothing left to do. A
 * version of Effect that changes the table needs a migration that does the same again.
 */
export const jobs = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.scoped(makeJobStore({}))
  // All turns of one job, the newest first; and what is to be cleaned up, the oldest first.
  yield* sql`CREATE INDEX job_turn ON ${sql(JOB_TABLE)} (queue_name, element, sequence DESC)`
  yield* sql`CREATE INDEX job_completed ON ${sql(JOB_TABLE)} (updated_at) WHERE state = 'completed'`
})

/** The store widens its column only: the sequence of it would end after 2,147,483,647 turns of jobs. */
export const jobSequence = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER SEQUENCE ${sql(`${JOB_TABLE}_sequence_seq`)} AS bigint`
})
