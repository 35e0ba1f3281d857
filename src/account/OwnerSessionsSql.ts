import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { AccountState } from "./AccountsSql.ts"

/** An active session with the account's fields that decide a request. */
export interface SessionRow {
  readonly id: string
  readonly account_id: string
  readonly email: string
  readonly limit_scale: number
  readonly state: AccountState
  readonly state_reason: string | null
  readonly ends_at: Date
}

/** How long a session lasts in total and without use, in milliseconds. */
export interface Lives {
  readonly wholeMs: number
  readonly idleMs: number
}

export const insertSession = (
  sql: SqlClient.SqlClient,
  row: { readonly id: string; readonly accountId: string; readonly hash: Uint8Array }
) => sql`INSERT INTO owner_session (id, account_id, hash) VALUES (${row.id}, ${row.accountId}, ${row.hash})`

/** Records the use at most once a minute, so that most requests write nothing. */
export const sessionByHash = (
  sql: SqlClient.SqlClient,
  hash: Uint8Array,
  { idleMs, wholeMs }: Lives
): Effect.Effect<SessionRow | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<SessionRow>`WITH found AS (
      SELECT s.id, s.account_id, s.seen_at, a.email, a.limit_scale, a.state, a.state_reason,
          s.created_at + ${wholeMs} * interval '1 millisecond' AS ends_at
        FROM owner_session s JOIN account a ON a.id = s.account_id
        WHERE s.hash = ${hash} AND s.created_at > now() - ${wholeMs} * interval '1 millisecond'
          AND s.seen_at > now() - ${idleMs} * interval '1 millisecond'
    ), seen AS (
      UPDATE owner_session SET seen_at = now()
        WHERE id IN (SELECT id FROM found WHERE seen_at < now() - interval '1 minute')
    ) SELECT id, account_id, email, limit_scale, state, state_reason, ends_at FROM found`,
    (rows) => rows[0]
  )

export const deleteSession = (sql: SqlClient.SqlClient, accountId: string, id: string) =>
  sql`DELETE FROM owner_session WHERE id = ${id} AND account_id = ${accountId}`

/** Returns how many sessions there were. */
export const deleteSessionsOf = (
  sql: SqlClient.SqlClient,
  accountId: string
): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(sql`DELETE FROM owner_session WHERE account_id = ${accountId} RETURNING 1`, (rows) => rows.length)

/** Deletes expired sessions, a bounded number at a time. Returns how many it deleted. */
export const dropEndedSessions = (
  sql: SqlClient.SqlClient,
  { idleMs, wholeMs }: Lives
): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql`DELETE FROM owner_session WHERE id IN (
      SELECT id FROM owner_session WHERE created_at < now() - ${wholeMs} * interval '1 millisecond'
        OR seen_at < now() - ${idleMs} * interval '1 millisecond' LIMIT 1000 FOR UPDATE SKIP LOCKED) RETURNING 1`,
    (rows) => rows.length
  )
