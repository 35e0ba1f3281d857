import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Indexes for the lists of receipts of one status. A request that succeeds is in neither, so the ledger writes nothing for them on its
 * usual way. The collation of the first is none that another index on requests has: no plan can walk through all of an account's
 * requests in the order of another index instead.
 */
export const requestFilters = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX request_unserved ON request (account_id, status, id COLLATE "C" DESC)
    WHERE status IN ('failed', 'cancelled')`
  yield* sql`CREATE INDEX request_unconcluded_account ON request (account_id) WHERE state = 'settled' AND closed IS NULL`
})
