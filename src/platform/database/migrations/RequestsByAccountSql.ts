import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * The index through which an account's requests are read, now in ascending order. It was descending before, so each new entry came
 * before all existing ones: pages were split in the middle and stayed half empty, and this index took most of the ledger's index time.
 * PostgreSQL reads both kinds in either direction.
 */
export const requestsByAccount = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP INDEX request_account`
  yield* sql`CREATE INDEX request_account ON request (account_id, id)`
})
