import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Indexes for lists of receipts with a given status. A successful request is in neither, so the ledger's usual path writes nothing for
 * them. No other index on requests has the collation of the first. So no plan can walk through all of an account's requests in the
 * order of another index instead.
 */
export const requestFilters = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX request_unserved ON request (account_id, status, id COLLATE "C" DESC)
    WHERE status IN ('failed', 'cancelled')`
  yield* sql`CREATE INDEX request_unconcluded_account ON request (account_id) WHERE state = 'settled' AND closed IS NULL`
})
