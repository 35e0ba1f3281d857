import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { Nano } from "../domain/Money.ts"

type Sql = SqlClient.SqlClient

/** A session. `metadata` is JSON text; `bytes` counts its messages. */
export interface SessionRow {
  readonly id: string
  readonly session_id: string | null
  readonly model: string | null
  readonly metadata: string
  readonly messages: number
  readonly bytes: bigint
  readonly created_at: Date
  readonly updated_at: Date
}

/** A message of a session. `content` and `usage` are JSON text. Only responses have the fields after `content`. */
export interface MessageRow {
  readonly role: string
  readonly content: string
  readonly model: string | null
  readonly usage: string | null
  readonly cost: Nano | null
  readonly created_at: Date
}

/** A message to record. */
export interface NewMessage {
  readonly role: string
  readonly content: string
  readonly digest: string
  readonly turn: string | null
  readonly model: string | null
  readonly usage: string | null
  readonly cost: string | null
}

/** The bytes counted for each session beside its metadata. */
export const SESSION_BYTES = 256

const columns = (sql: Sql) => sql.literal("id, session_id, model, metadata, messages, bytes, created_at, updated_at")

/** The number of an account's sessions and their bytes. */
export interface Total {
  readonly sessions: number
  readonly bytes: number
}

const totalIn = ([row]: ReadonlyArray<{ readonly sessions: number; readonly bytes: bigint }>): Total => ({
  sessions: row?.sessions ?? 0,
  bytes: Number(row?.bytes ?? 0n)
})

export const totalOf = (sql: Sql, accountId: string) =>
  Effect.map(
    sql<{ sessions: number; bytes: bigint }>`SELECT sessions, bytes FROM session_total WHERE account_id = ${accountId}`,
    totalIn
  )

/** Locks the account's total against other sessions and turns until the transaction ends. */
export const lockTotal = (sql: Sql, accountId: string) =>
  Effect.map(
    sql<{ sessions: number; bytes: bigint }>`INSERT INTO session_total (account_id) VALUES (${accountId})
      ON CONFLICT (account_id) DO UPDATE SET sessions = session_total.sessions RETURNING sessions, bytes`,
    totalIn
  )

export const addToTotal = (sql: Sql, accountId: string, { bytes, sessions }: Total) =>
  sql`UPDATE session_total SET sessions = sessions + ${sessions}::int, bytes = bytes + ${bytes}::bigint
    WHERE account_id = ${accountId}`

/** Inserts a session with a new name. The caller holds the lock on the account's total, so the name cannot be taken meanwhile. */
export const insertSession = (
  sql: Sql,
  session: {
    readonly id: string
    readonly accountId: string
    readonly sessionId: string | null
    readonly model: string | null
    readonly metadata: string
  }
) =>
  Effect.map(
    sql<SessionRow>`INSERT INTO session (id, account_id, session_id, model, metadata)
      VALUES (${session.id}, ${session.accountId}, ${session.sessionId}::text, ${session.model}::text, ${session.metadata})
      RETURNING ${columns(sql)}`,
    (rows): SessionRow => rows[0]!
  )

export const sessionBySessionId = (sql: Sql, accountId: string, sessionId: string) =>
  Effect.map(
    sql<SessionRow>`SELECT ${columns(sql)} FROM session WHERE account_id = ${accountId} AND session_id = ${sessionId}`,
    (rows): SessionRow | undefined => rows[0]
  )

export const sessionById = (sql: Sql, accountId: string, id: string) =>
  Effect.map(
    sql<SessionRow>`SELECT ${columns(sql)} FROM session WHERE id = ${id} AND account_id = ${accountId}`,
    (rows): SessionRow | undefined => rows[0]
  )

/** Locks the session against other turns until the transaction ends. */
export const lockSession = (sql: Sql, id: string) =>
  Effect.map(
    sql<{ messages: number; bytes: bigint }>`SELECT messages, bytes FROM session WHERE id = ${id} FOR UPDATE`,
    (rows): { readonly messages: number; readonly bytes: bigint } | undefined => rows[0]
  )

/** Reports whether this turn was recorded within the last `withinMs` milliseconds. */
export const hasTurn = (sql: Sql, id: string, turn: string, withinMs: number) =>
  Effect.map(
    sql`SELECT FROM session_message WHERE session = ${id} AND turn = ${turn}
      AND created_at > now() - make_interval(secs => ${withinMs / 1000}) LIMIT 1`,
    (rows) => rows.length > 0
  )

/** Returns the digests of the last messages, in order. */
export const lastDigests = (sql: Sql, id: string, count: number) =>
  Effect.map(
    sql<{ digest: string }>`SELECT digest FROM session_message WHERE session = ${id}
      ORDER BY position DESC LIMIT ${count}::int`,
    (rows) => rows.map(({ digest }) => digest).toReversed()
  )

/** Returns those of the digests that any message of the session has. */
export const digestsAmong = (sql: Sql, id: string, digests: ReadonlyArray<string>) =>
  Effect.map(
    sql<{ digest: string }>`SELECT DISTINCT digest FROM session_message WHERE session = ${id}
      AND digest = ANY (${[...digests]}::text[])`,
    (rows) => rows.map(({ digest }) => digest)
  )

/** Appends messages after the existing ones. `from` is their number. */
export const appendMessages = (
  sql: Sql,
  id: string,
  {
    bytes,
    from,
    messages
  }: { readonly from: number; readonly messages: ReadonlyArray<NewMessage>; readonly bytes: number }
) =>
  Effect.andThen(
    sql`INSERT INTO session_message (session, position, role, content, digest, turn, model, usage, cost)
      SELECT ${id}, ${from}::int + m.position - 1, m.role, m.content, m.digest, m.turn, m.model, m.usage, m.cost
      FROM ROWS FROM (json_to_recordset(${JSON.stringify(messages)}::json) AS
        (role text, content text, digest text, turn text, model text, usage text, cost bigint))
        WITH ORDINALITY AS m(role, content, digest, turn, model, usage, cost, position)`,
    sql`UPDATE session SET messages = messages + ${messages.length}::int, bytes = bytes + ${bytes}::bigint, updated_at = now()
      WHERE id = ${id}`
  )

/** A range of messages, in order. */
export interface Page {
  readonly from: number
  /** The position after the last message. */
  readonly end: number
  /** The maximum number of messages. */
  readonly limit: number
  /** The maximum bytes of content. A single larger message is returned alone. */
  readonly maxBytes: number
}

/** PostgreSQL knows the length of a text without reading it, so the query reads no more content than it returns. */
export const messagesOf = (sql: Sql, id: string, { end, from, limit, maxBytes }: Page) =>
  sql<MessageRow>`SELECT role, content, model, usage, cost, created_at FROM (
      SELECT m.*, sum(octet_length(content)) OVER (ORDER BY position) AS bytes FROM (
        SELECT position, role, content, model, usage, cost, created_at FROM session_message
        WHERE session = ${id} AND position >= ${from}::int AND position < ${end}::int
        ORDER BY position LIMIT ${limit}::int
      ) AS m
    ) AS summed
    WHERE bytes <= ${maxBytes}::bigint OR position = ${from}::int ORDER BY position`

/**
 * Deletes one session without a turn for this long, with its messages, and skips those that another node or a turn has locked. A session
 * has a bounded number of messages, so the statement stays short. Returns how many it deleted.
 */
export const dropUnused = (sql: Sql, unusedMs: number): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql`WITH old AS MATERIALIZED (
        SELECT id, account_id, bytes, metadata FROM session
        WHERE updated_at < now() - ${unusedMs}::double precision * interval '1 millisecond' LIMIT 1 FOR UPDATE SKIP LOCKED
      ), messages AS (
        DELETE FROM session_message m USING old WHERE m.session = old.id RETURNING 1
      ), total AS (
        UPDATE session_total t SET sessions = t.sessions - 1,
            bytes = t.bytes - old.bytes - octet_length(old.metadata) - ${SESSION_BYTES}::bigint
          FROM old WHERE t.account_id = old.account_id
      )
      DELETE FROM session s USING old WHERE s.id = old.id AND (SELECT count(*) FROM messages) >= 0 RETURNING 1`,
    (rows) => rows.length
  )
