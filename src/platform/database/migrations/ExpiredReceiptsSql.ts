import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ledgerCommit } from "../LedgerCommitSql.ts"

/**
 * The operation that ends an overdue hold: it settles the progress of the request and releases the rest. The receipt shows that
 * progress as the last extension recorded it, and that the hold expired.
 */
const ledgerExpiry = `
CREATE OR REPLACE FUNCTION ledger_expiry(request_id text, account_id text) RETURNS jsonb LANGUAGE sql STABLE AS $expiry$
  SELECT jsonb_build_object('kind', 'close', 'request_id', request_id, 'account_id', account_id, 'settle', true,
    'only_if_expired', true, 'status', 'failed', 'keep_claim', true, 'resolved_model', so_far -> 'resolved_model',
    'provider', so_far -> 'provider',
    'closed', COALESCE(so_far -> 'closed', '{}') || jsonb_build_object('error', jsonb_build_object('_tag', 'HoldExpired')))
  FROM (SELECT (SELECT r.opened -> 'soFar' FROM request r WHERE r.id = request_id) AS so_far) AS known
$expiry$`

/** An extension of a hold records what is known of the request, and its expiry copies that to the receipt. */
export const expiredReceipts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const definition of [ledgerExpiry, ledgerCommit]) yield* sql.unsafe(definition)
})
