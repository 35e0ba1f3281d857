import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * The index by which an account's requests are read, in the order in which they come. It was in the opposite one, in which each
 * comes before all that are there: pages were split in the middle, stayed half empty, and most of the time that the ledger took for
 * an index went into this one. PostgreSQL reads either of them in both directions.
 */
export const requestsByAccount = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP INDEX request_account`
  yield* sql`CREATE INDEX request_account ON request (account_id, id)`
})
