import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/** What stands under an idempotency key of something that is not paid for. */
export interface ClaimRow {
  readonly fingerprint: string
  readonly request_id: string
  /** Null where it was not kept, as one with a secret is. */
  readonly answer: object | null
}

export const claimOf = (
  sql: SqlClient.SqlClient,
  accountId: string,
  claim: string
): Effect.Effect<ClaimRow | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<ClaimRow>`SELECT fingerprint, request_id, answer FROM unpaid_claim
      WHERE account_id = ${accountId} AND claim = ${claim}`,
    (rows) => rows[0]
  )

/**
 * Lays a claim; false where it is another's. The row of one that is being laid is seen by nobody, and would be waited for. The lock,
 * which goes with the transaction, tells of it at once.
 */
export const insertClaim = (
  sql: SqlClient.SqlClient,
  row: { readonly accountId: string; readonly claim: string; readonly fingerprint: string; readonly requestId: string }
): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql`INSERT INTO unpaid_claim (account_id, claim, fingerprint, request_id)
      SELECT ${row.accountId}, ${row.claim}, ${row.fingerprint}, ${row.requestId}
      WHERE pg_try_advisory_xact_lock(hashtext(${row.accountId}), hashtext(${row.claim}))
      ON CONFLICT (account_id, claim) DO NOTHING RETURNING 1`,
    (rows) => rows.length === 1
  )

/** `answer` is JSON. */
export const keepAnswer = (sql: SqlClient.SqlClient, accountId: string, claim: string, answer: string) =>
  sql`UPDATE unpaid_claim SET answer = ${answer}::json WHERE account_id = ${accountId} AND claim = ${claim}`

/** Drops claims older than this, a bounded number at a time; answers how many. */
export const dropClaims = (sql: SqlClient.SqlClient, olderThanMs: number): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql`DELETE FROM unpaid_claim WHERE (account_id, claim) IN (
      SELECT account_id, claim FROM unpaid_claim WHERE created_at < now() - ${olderThanMs} * interval '1 millisecond'
      ORDER BY created_at LIMIT 1000 FOR UPDATE SKIP LOCKED) RETURNING 1`,
    (rows) => rows.length
  )
