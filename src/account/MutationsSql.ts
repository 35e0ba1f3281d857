import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/** The record of an idempotency key for an operation that costs nothing. */
export interface ClaimRow {
  readonly fingerprint: string
  readonly request_id: string
  /** Null when the answer was not stored, for instance because it contains a secret. */
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
 * Claims a key. Returns false when another request has it. An uncommitted row of another transaction is invisible, and inserting
 * beside it would wait for that transaction. The advisory lock, which ends with the transaction, reveals the conflict at once.
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

/** `answer` is JSON text. */
export const keepAnswer = (sql: SqlClient.SqlClient, accountId: string, claim: string, answer: string) =>
  sql`UPDATE unpaid_claim SET answer = ${answer}::json WHERE account_id = ${accountId} AND claim = ${claim}`

/** Deletes claims older than this, a bounded number at a time. Returns how many it deleted. */
export const dropClaims = (sql: SqlClient.SqlClient, olderThanMs: number): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql`DELETE FROM unpaid_claim WHERE (account_id, claim) IN (
      SELECT account_id, claim FROM unpaid_claim WHERE created_at < now() - ${olderThanMs} * interval '1 millisecond'
      ORDER BY created_at LIMIT 1000 FOR UPDATE SKIP LOCKED) RETURNING 1`,
    (rows) => rows.length
  )
