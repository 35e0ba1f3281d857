import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { limitTo } from "../platform/database/Sql.ts"
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
export interface SessionLifetimes {
  readonly wholeMs: number
  readonly idleMs: number
}

/** Where a session began, as far as the request told; null where it did not. */
export interface Origin {
  /** The browser and its system in words, such as `Firefox on Linux`. */
  readonly browser: string | null
  /** The address of the client. */
  readonly address: string | null
}

export const insertSession = (
  sql: SqlClient.SqlClient,
  row: Origin & { readonly id: string; readonly accountId: string; readonly hash: Uint8Array }
) => sql`INSERT INTO owner_session (id, account_id, hash, browser, address)
  VALUES (${row.id}, ${row.accountId}, ${row.hash}, ${row.browser}, ${row.address})`

/** A session that has not ended, as its owner sees it. */
export interface ListedSession extends Origin {
  readonly id: string
  readonly created_at: Date
  readonly seen_at: Date
  /** When it ends without further use. */
  readonly ends_at: Date
}

/** Returns an account's sessions that have not ended, newest first, at most `limit` of those before the cursor. */
export const sessionsOf = (
  sql: SqlClient.SqlClient,
  accountId: string,
  page: { readonly limit: number; readonly cursor: string | undefined },
  { idleMs, wholeMs }: SessionLifetimes
): Effect.Effect<ReadonlyArray<ListedSession>, SqlError.SqlError> =>
  sql<ListedSession>`SELECT id, browser, address, created_at, seen_at,
      LEAST(created_at + ${wholeMs} * interval '1 millisecond', seen_at + ${idleMs} * interval '1 millisecond') AS ends_at
    FROM owner_session
    WHERE account_id = ${accountId} AND id COLLATE "C" < ${page.cursor ?? "g"}
      AND created_at > now() - ${wholeMs} * interval '1 millisecond' AND seen_at > now() - ${idleMs} * interval '1 millisecond'
    ORDER BY id COLLATE "C" DESC ${limitTo(sql, page.limit)}`

/** Records the use at most once a minute, so that most requests write nothing. */
export const sessionByHash = (
  sql: SqlClient.SqlClient,
  hash: Uint8Array,
  { idleMs, wholeMs }: SessionLifetimes
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

/** Returns whether the account had the session. */
export const deleteSession = (
  sql: SqlClient.SqlClient,
  accountId: string,
  id: string
): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql`DELETE FROM owner_session WHERE id = ${id} AND account_id = ${accountId} RETURNING 1`,
    (rows) => rows.length === 1
  )

/** Deletes the sessions of an account, but not the one that is kept. Returns how many it deleted. */
export const deleteSessionsOf = (
  sql: SqlClient.SqlClient,
  accountId: string,
  kept: string | undefined
): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql`DELETE FROM owner_session WHERE account_id = ${accountId} AND id IS DISTINCT FROM ${kept ?? null}::text RETURNING 1`,
    (rows) => rows.length
  )

/** Deletes expired sessions, a bounded number at a time. Returns how many it deleted. */
export const dropEndedSessions = (
  sql: SqlClient.SqlClient,
  { idleMs, wholeMs }: SessionLifetimes
): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql`DELETE FROM owner_session WHERE id IN (
      SELECT id FROM owner_session WHERE created_at < now() - ${wholeMs} * interval '1 millisecond'
        OR seen_at < now() - ${idleMs} * interval '1 millisecond' LIMIT 1000 FOR UPDATE SKIP LOCKED) RETURNING 1`,
    (rows) => rows.length
  )
