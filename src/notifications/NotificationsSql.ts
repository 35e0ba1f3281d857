import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

type Sql = SqlClient.SqlClient

/** The kinds of notifications. An owner gets them by email unless the owner declines the kind. */
export const notificationKinds = ["low_balance", "budget_alert", "webhook_disabled", "sign_in", "key_change"] as const

export type NotificationKind = (typeof notificationKinds)[number]

/** The kind of an email: that of its notifications, or the change of the address, which an owner cannot decline. */
export type EmailKind = NotificationKind | "email_changed"

/** A notification to record for an account. */
export interface NewNotification {
  readonly accountId: string
  readonly kind: NotificationKind
  /** The facts from which the email is written. */
  readonly data: object
}

/**
 * Records a notification for an owner, unless the owner declined its kind. Call it in the transaction of the reported change, so that both
 * commit together.
 */
export const insertNotification = (sql: Sql, { accountId, data, kind }: NewNotification) =>
  sql`INSERT INTO notice (account_id, kind, data) SELECT ${accountId}, ${kind}, ${JSON.stringify(data)}::jsonb
    WHERE NOT EXISTS (SELECT FROM declined_notice d WHERE d.account_id = ${accountId} AND d.kind = ${kind})`

/** Records a notification about a change of a key, with the name and the visible characters of the key. */
export const insertKeyNotification = (sql: Sql, accountId: string, keyId: string, data: object) =>
  sql`INSERT INTO notice (account_id, kind, data)
    SELECT ${accountId}, 'key_change', ${JSON.stringify(data)}::jsonb
        || jsonb_build_object('name', k.name, 'kind', k.kind, 'prefix', k.prefix, 'last4', k.last4)
      FROM api_key k WHERE k.id = ${keyId}
        AND NOT EXISTS (SELECT FROM declined_notice d WHERE d.account_id = ${accountId} AND d.kind = 'key_change')`

/** Records a sign-in of the account from an origin. Returns whether the origin is new. */
export const rememberOrigin = (
  sql: Sql,
  accountId: string,
  origin: string
): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql<{ is_new: boolean }>`INSERT INTO known_origin AS o (account_id, digest)
      VALUES (${accountId}, sha256(convert_to(${origin}, 'UTF8')))
      ON CONFLICT (account_id, digest) DO UPDATE SET seen_at = now() RETURNING xmax = 0 AS is_new`,
    (rows) => rows[0]?.is_new === true
  )

/** Returns the kinds that the owner declined. */
export const declinedKinds = (sql: Sql, accountId: string): Effect.Effect<ReadonlySet<string>, SqlError.SqlError> =>
  Effect.map(
    sql<{ kind: string }>`SELECT kind FROM declined_notice WHERE account_id = ${accountId}`,
    (rows) => new Set(rows.map(({ kind }) => kind))
  )

export const declineKind = (sql: Sql, accountId: string, kind: NotificationKind) =>
  sql`INSERT INTO declined_notice (account_id, kind) VALUES (${accountId}, ${kind}) ON CONFLICT DO NOTHING`

export const acceptKind = (sql: Sql, accountId: string, kind: NotificationKind) =>
  sql`DELETE FROM declined_notice WHERE account_id = ${accountId} AND kind = ${kind}`

/** Reports whether any notification waits for an email. It costs one index lookup and needs no transaction. */
export const anyNotification = (sql: Sql): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(sql<{ any: boolean }>`SELECT EXISTS (SELECT FROM notice) AS any`, (rows) => rows[0]?.any === true)

/** An arbitrary number. No other advisory lock of this program uses it. */
const WRITING_LOCK = 6_801_143_211n

/** Returns false while another node writes emails. The lock lasts until the transaction ends. */
export const lockWriting = (sql: Sql): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql<{ locked: boolean }>`SELECT pg_try_advisory_xact_lock(${WRITING_LOCK}) AS locked`,
    (rows) => rows[0]?.locked === true
  )

/** The notifications of one kind that an account's next email contains. */
export interface NotificationGroup {
  readonly account_id: string
  readonly kind: NotificationKind
  readonly email: string
  readonly closed: boolean
  /** The account's money in nano-USD. */
  readonly posted: bigint
  /** The oldest notifications first. */
  readonly notifications: ReadonlyArray<{ readonly at: string; readonly data: Readonly<Record<string, unknown>> }>
}

/**
 * Removes the waiting notifications of at most `limit` groups and returns them, in the caller's transaction, which holds the lock. A group
 * waits while its last email is younger than `pauseMs`, so that many changes make one email.
 */
export const takeNotifications = (
  sql: Sql,
  limit: number,
  pauseMs: number
): Effect.Effect<ReadonlyArray<NotificationGroup>, SqlError.SqlError> =>
  sql<NotificationGroup>`WITH waiting AS (
      SELECT n.account_id, n.kind FROM notice n
      WHERE NOT EXISTS (SELECT FROM letter l WHERE l.account_id = n.account_id AND l.kind = n.kind
        AND l.created_at > now() - ${pauseMs} * interval '1 millisecond')
      GROUP BY n.account_id, n.kind ORDER BY min(n.id) LIMIT ${limit}
    ), taken AS (
      DELETE FROM notice n USING waiting w WHERE n.account_id = w.account_id AND n.kind = w.kind
      RETURNING n.id, n.account_id, n.kind, n.data, n.created_at
    ) SELECT t.account_id, t.kind, a.email, a.state = 'closed' AS closed, b.posted,
        jsonb_agg(jsonb_build_object('at', t.created_at, 'data', t.data) ORDER BY t.id) AS notifications
      FROM taken t JOIN account a ON a.id = t.account_id JOIN balance b ON b.account_id = t.account_id
      GROUP BY t.account_id, t.kind, a.email, a.state, b.posted`

/** An email as it is sent. Every attempt sends the same text under the same ID. */
export interface EmailRow {
  readonly id: string
  readonly recipient: string
  readonly subject: string
  readonly body: string
  readonly attempts: number
}

export const insertEmail = (
  sql: Sql,
  row: Omit<EmailRow, "attempts"> & { readonly accountId: string; readonly kind: EmailKind }
) => sql`INSERT INTO letter (id, account_id, kind, recipient, subject, body)
  VALUES (${row.id}, ${row.accountId}, ${row.kind}, ${row.recipient}, ${row.subject}, ${row.body})`

/**
 * Claims emails that are due and returns them. A claimed email is due again when its claim ends, so the emails of a dead node return by
 * themselves.
 */
export const claimEmails = (
  sql: Sql,
  limit: number,
  leaseMs: number
): Effect.Effect<ReadonlyArray<EmailRow>, SqlError.SqlError> =>
  sql<EmailRow>`UPDATE letter SET attempts = attempts + 1, due_at = now() + ${leaseMs} * interval '1 millisecond'
    WHERE id IN (SELECT id FROM letter WHERE ended_at IS NULL AND due_at <= now()
      ORDER BY due_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    RETURNING id, recipient, subject, body, attempts`

/** Records how an email ended. */
export const endEmail = (sql: Sql, id: string, outcome: "sent" | "refused" | "given_up") =>
  sql`UPDATE letter SET ended_at = now(), outcome = ${outcome} WHERE id = ${id} AND ended_at IS NULL`

export const postponeEmail = (sql: Sql, id: string, delayMs: number) =>
  sql`UPDATE letter SET due_at = now() + ${delayMs} * interval '1 millisecond' WHERE id = ${id} AND ended_at IS NULL`

/** Deletes old emails and long unused origins, a bounded number at a time. Returns the number of deleted rows. */
export const forgetEmails = (
  sql: Sql,
  { emailMs, originMs }: { readonly emailMs: number; readonly originMs: number }
): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql<{ count: number }>`WITH emails AS (
      DELETE FROM letter WHERE id IN (SELECT id FROM letter
        WHERE ended_at < now() - ${emailMs} * interval '1 millisecond' LIMIT 1000 FOR UPDATE SKIP LOCKED) RETURNING 1
    ), origins AS (
      DELETE FROM known_origin WHERE (account_id, digest) IN (SELECT account_id, digest FROM known_origin
        WHERE seen_at < now() - ${originMs} * interval '1 millisecond' LIMIT 1000 FOR UPDATE SKIP LOCKED) RETURNING 1
    ) SELECT (SELECT count(*) FROM emails)::int + (SELECT count(*) FROM origins)::int AS count`,
    (rows) => rows[0]?.count ?? 0
  )
