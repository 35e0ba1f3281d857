import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { SessionLifetimes, Origin } from "./OwnerSessionsSql.ts"

type Sql = SqlClient.SqlClient

/** A session that has not ended, with the key that it acts with. */
export interface OperatorSessionRow {
  readonly id: string
  readonly key_id: string
  readonly key_name: string
  /** When it ends even if it is used. */
  readonly ends_at: Date
}

/** A session lives no longer than the key that began it. */
const endsAt = (sql: Sql, { wholeMs }: SessionLifetimes) =>
  sql`LEAST(s.created_at + ${wholeMs} * interval '1 millisecond', k.expires_at)`

/** Inserts a session of a key. Returns undefined when the key is revoked or has expired. */
export const insertOperatorSession = (
  sql: Sql,
  row: Origin & { readonly id: string; readonly keyId: string; readonly hash: Uint8Array },
  lives: SessionLifetimes
): Effect.Effect<OperatorSessionRow | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<OperatorSessionRow>`WITH s AS (
        INSERT INTO operator_session (id, key_id, hash, browser, address)
          SELECT ${row.id}, id, ${row.hash}, ${row.browser}, ${row.address} FROM operator_key
          WHERE id = ${row.keyId} AND revoked_at IS NULL AND COALESCE(expires_at > now(), true)
          RETURNING id, key_id, created_at
      ) SELECT s.id, s.key_id, k.name AS key_name, ${endsAt(sql, lives)} AS ends_at FROM s JOIN operator_key k ON k.id = s.key_id`,
    (rows) => rows[0]
  )

/** Returns the session with this hash and records its use, at most once a minute. */
export const operatorSessionByHash = (
  sql: Sql,
  hash: Uint8Array,
  lives: SessionLifetimes
): Effect.Effect<OperatorSessionRow | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<OperatorSessionRow>`WITH found AS (
        SELECT s.id, s.key_id, k.name AS key_name, s.seen_at, ${endsAt(sql, lives)} AS ends_at
          FROM operator_session s JOIN operator_key k ON k.id = s.key_id
          WHERE s.hash = ${hash} AND s.created_at > now() - ${lives.wholeMs} * interval '1 millisecond'
            AND s.seen_at > now() - ${lives.idleMs} * interval '1 millisecond'
            AND k.revoked_at IS NULL AND COALESCE(k.expires_at > now(), true)
      ), seen AS (
        UPDATE operator_session SET seen_at = now()
          WHERE id IN (SELECT id FROM found WHERE seen_at < now() - interval '1 minute')
      ) SELECT id, key_id, key_name, ends_at FROM found`,
    (rows) => rows[0]
  )

/** Returns whether there was such a session. */
export const deleteOperatorSession = (sql: Sql, id: string): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(sql`DELETE FROM operator_session WHERE id = ${id} RETURNING 1`, (rows) => rows.length === 1)

/** Deletes sessions that have ended, a bounded number at a time. Returns how many it deleted. */
export const dropEndedOperatorSessions = (
  sql: Sql,
  { idleMs, wholeMs }: SessionLifetimes
): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql`DELETE FROM operator_session WHERE id IN (
      SELECT s.id FROM operator_session s JOIN operator_key k ON k.id = s.key_id
        WHERE s.created_at < now() - ${wholeMs} * interval '1 millisecond'
          OR s.seen_at < now() - ${idleMs} * interval '1 millisecond' OR k.revoked_at IS NOT NULL OR k.expires_at <= now()
        LIMIT 1000 FOR UPDATE OF s SKIP LOCKED) RETURNING 1`,
    (rows) => rows.length
  )
