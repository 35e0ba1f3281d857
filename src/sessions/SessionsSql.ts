import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Nano } from "../domain/Money.ts"

type Sql = SqlClient.SqlClient

/** A session; `metadata` is JSON, `bytes` are those its messages take. */
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

/** A message as it stands in its session. `content` and `usage` are JSON; an answer alone has what follows its content. */
export interface MessageRow {
  readonly role: string
  readonly content: string
  readonly model: string | null
  readonly usage: string | null
  readonly cost: Nano | null
  readonly created_at: Date
}

/** A message about to be recorded. */
export interface NewMessage {
  readonly role: string
  readonly content: string
  readonly digest: string
  readonly turn: string | null
  readonly model: string | null
  readonly usage: string | null
  readonly cost: string | null
}

const columns = (sql: Sql) => sql.literal("id, session_id, model, metadata, messages, bytes, created_at, updated_at")

/** How many sessions an account has, and bytes in all of them. */
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

/** Keeps other sessions and turns from the account's total until the transaction ends. */
export const lockTotal = (sql: Sql, accountId: string) =>
  Effect.map(
    sql<{ sessions: number; bytes: bigint }>`INSERT INTO session_total (account_id) VALUES (${accountId})
      ON CONFLICT (account_id) DO UPDATE SET sessions = session_total.sessions RETURNING sessions, bytes`,
    totalIn
  )

export const addToTotal = (sql: Sql, accountId: string, { bytes, sessions }: Total) =>
  sql`UPDATE session_total SET sessions = sessions + ${sessions}::int, bytes = bytes + ${bytes}::bigint
    WHERE account_id = ${accountId}`

/** A session of a name that the account has not used: whoever locks its total knows. */
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

/** Keeps other turns from the session until the transaction ends. */
export const lockSession = (sql: Sql, id: string) =>
  Effect.map(
    sql<{ messages: number; bytes: bigint }>`SELECT messages, bytes FROM session WHERE id = ${id} FOR UPDATE`,
    (rows): { readonly messages: number; readonly bytes: bigint } | undefined => rows[0]
  )

/** Whether this turn was recorded within so many milliseconds. */
export const hasTurn = (sql: Sql, id: string, turn: string, withinMs: number) =>
  Effect.map(
    sql`SELECT FROM session_message WHERE session = ${id} AND turn = ${turn}
      AND created_at > now() - make_interval(secs => ${withinMs / 1000}) LIMIT 1`,
    (rows) => rows.length > 0
  )

/** What the last messages say, in their order. */
export const lastDigests = (sql: Sql, id: string, count: number) =>
  Effect.map(
    sql<{ digest: string }>`SELECT digest FROM session_message WHERE session = ${id}
      ORDER BY position DESC LIMIT ${count}::int`,
    (rows) => rows.map(({ digest }) => digest).toReversed()
  )

/** Which of these the session's messages have, wherever they stand. */
export const digestsAmong = (sql: Sql, id: string, digests: ReadonlyArray<string>) =>
  Effect.map(
    sql<{ digest: string }>`SELECT DISTINCT digest FROM session_message WHERE session = ${id}
      AND digest = ANY (${[...digests]}::text[])`,
    (rows) => rows.map(({ digest }) => digest)
  )

/** Appends messages behind those that are there, which are `from`. */
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

/** Messages from a position on, in their order. */
export interface Page {
  readonly from: number
  /** Where they end, which is not among them. */
  readonly end: number
  /** Of them at most. */
  readonly limit: number
  /** Of what they say at most, but for a message that has more alone. */
  readonly maxBytes: number
}

/** The length of a text is known without reading it, so that no more is read than is given. */
export const messagesOf = (sql: Sql, id: string, { end, from, limit, maxBytes }: Page) =>
  sql<MessageRow>`SELECT role, content, model, usage, cost, created_at FROM (
      SELECT m.*, sum(octet_length(content)) OVER (ORDER BY position) AS bytes FROM (
        SELECT position, role, content, model, usage, cost, created_at FROM session_message
        WHERE session = ${id} AND position >= ${from}::int AND position < ${end}::int
        ORDER BY position LIMIT ${limit}::int
      ) AS m
    ) AS summed
    WHERE bytes <= ${maxBytes}::bigint OR position = ${from}::int ORDER BY position`
