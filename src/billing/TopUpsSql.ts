import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { TopUpStatus } from "../domain/TopUp.ts"
import { limitTo } from "../platform/database/Sql.ts"

type Sql = SqlClient.SqlClient

/** A row of the `top_up` table. */
export interface TopUpRow {
  readonly id: string
  readonly account_id: string
  readonly amount_cents: number
  /** The amount that an operator settled; null if the payment credited the top-up. */
  readonly credited_cents: number | null
  readonly processor: "stripe" | "simulated"
  /** The address that the customer returns to, without a slash at its end. */
  readonly return_url: string
  readonly status: TopUpStatus
  readonly session_id: string | null
  readonly checkout_url: string | null
  /** The largest amount that the processor has reported as returned to the payer. */
  readonly refunded_cents: bigint
  /** Why it needs an operator; null when it does not. */
  readonly attention: string | null
  readonly created_at: Date
  readonly paid_at: Date | null
}

const columns = (sql: Sql) =>
  sql.literal(
    "id, account_id, amount_cents, credited_cents, processor, return_url, status, session_id, checkout_url, refunded_cents, attention, created_at, paid_at"
  )

const first = (statement: Effect.Effect<ReadonlyArray<TopUpRow>, SqlError.SqlError>) =>
  Effect.map(statement, (rows): TopUpRow | undefined => rows[0])

/** `askMs` is the time until the gateway asks its processor about it. */
export const insertTopUp = (
  sql: Sql,
  row: {
    readonly id: string
    readonly accountId: string
    readonly amountCents: number
    readonly processor: string
    readonly returnUrl: string
    readonly askMs: number
  }
): Effect.Effect<TopUpRow, SqlError.SqlError> =>
  Effect.map(
    sql<TopUpRow>`INSERT INTO top_up (id, account_id, amount_cents, processor, return_url, ask_at)
      VALUES (${row.id}, ${row.accountId}, ${row.amountCents}, ${row.processor}, ${row.returnUrl},
        now() + ${row.askMs} * interval '1 millisecond')
      RETURNING ${columns(sql)}`,
    (rows) => rows[0]!
  )

/** Returns top-ups after the cursor, newest first. */
export const topUpsOf = (
  sql: Sql,
  accountId: string,
  page: { readonly limit: number; readonly cursor: string | null }
): Effect.Effect<ReadonlyArray<TopUpRow>, SqlError.SqlError> =>
  sql<TopUpRow>`SELECT ${columns(sql)} FROM top_up
    WHERE account_id = ${accountId} AND id COLLATE "C" < COALESCE(${page.cursor}::text, 'g')
    ORDER BY id COLLATE "C" DESC ${limitTo(sql, page.limit)}`

export const topUpById = (sql: Sql, accountId: string, id: string) =>
  first(sql<TopUpRow>`SELECT ${columns(sql)} FROM top_up WHERE id = ${id} AND account_id = ${accountId}`)

export const topUpBySession = (sql: Sql, sessionId: string) =>
  first(sql<TopUpRow>`SELECT ${columns(sql)} FROM top_up WHERE session_id = ${sessionId}`)

/** The top-up of a checkout, by the checkout or by its metadata, locked until the transaction ends. */
export const lockTopUp = (sql: Sql, sessionId: string, id: string | null) =>
  first(
    sql<TopUpRow>`SELECT ${columns(sql)} FROM top_up WHERE session_id = ${sessionId} OR id = ${id}::text
      ORDER BY session_id IS NOT DISTINCT FROM ${sessionId} DESC LIMIT 1 FOR UPDATE`
  )

/** The top-up of a payment, by the payment or by its metadata, locked until the transaction ends. */
export const lockTopUpOfPayment = (sql: Sql, paymentId: string | null, id: string | null) =>
  first(
    sql<TopUpRow>`SELECT ${columns(sql)} FROM top_up WHERE payment_id = ${paymentId}::text OR id = ${id}::text
      ORDER BY payment_id IS NOT DISTINCT FROM ${paymentId}::text DESC LIMIT 1 FOR UPDATE`
  )

/** Stores the checkout of a top-up, unless it has one. */
export const setCheckout = (
  sql: Sql,
  checkout: { readonly id: string; readonly sessionId: string; readonly url: string }
) =>
  first(sql<TopUpRow>`UPDATE top_up SET session_id = COALESCE(session_id, ${checkout.sessionId}),
      checkout_url = CASE WHEN COALESCE(session_id, ${checkout.sessionId}) = ${checkout.sessionId}
        THEN ${checkout.url} ELSE checkout_url END
    WHERE id = ${checkout.id} RETURNING ${columns(sql)}`)

export const setPaid = (
  sql: Sql,
  paid: { readonly id: string; readonly sessionId: string; readonly paymentId: string | null }
) =>
  sql`UPDATE top_up SET status = 'paid', paid_at = now(), session_id = ${paid.sessionId}, payment_id = ${paid.paymentId}
    WHERE id = ${paid.id}`

export const setEnded = (sql: Sql, id: string, status: "expired" | "failed") =>
  sql`UPDATE top_up SET status = ${status} WHERE id = ${id}`

/** Ends a top-up if it is open, and returns it. */
export const endOpen = (sql: Sql, id: string) =>
  first(
    sql<TopUpRow>`UPDATE top_up SET status = 'expired' WHERE id = ${id} AND status = 'open' RETURNING ${columns(sql)}`
  )

/** Marks a top-up for an operator. An earlier reason stays. */
export const setAttention = (sql: Sql, id: string, reason: string) =>
  sql`UPDATE top_up SET attention = COALESCE(attention, ${reason}) WHERE id = ${id}`

/**
 * Marks a top-up for an operator, and stops asking its processor about it until a decision. A payment for it may still be disputed.
 * Returns false if an operator has already decided about it.
 */
export const setStopped = (
  sql: Sql,
  stopped: {
    readonly id: string
    readonly reason: string
    /** The checkout that the reason is about. */
    readonly sessionId: string
    readonly paymentId: string | null
  }
): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql`UPDATE top_up t SET stopped = true, payment_id = COALESCE(payment_id, ${stopped.paymentId}),
        attention_session = CASE WHEN attention IS NULL THEN ${stopped.sessionId} ELSE attention_session END,
        attention = COALESCE(attention, ${stopped.reason})
      WHERE id = ${stopped.id} AND NOT EXISTS (SELECT FROM top_up_decision d
        WHERE d.account_id = t.account_id AND d.top_up_id = t.id AND d.attention = ${stopped.reason})
      RETURNING 1`,
    (rows) => rows.length === 1
  )

/** Stores the amount returned so far, because notices arrive in any order. A notice without an amount returns everything. */
export const setRefunded = (sql: Sql, id: string, cents: number | null) =>
  sql`UPDATE top_up SET refunded_cents = GREATEST(refunded_cents, COALESCE(${cents}::int8, amount_cents)) WHERE id = ${id}`

/**
 * How many top-ups of an account count as open: those that wait for a payment at this processor and not for an operator, and those
 * without a checkout that were made within `openingMs`.
 */
export const countOpen = (
  sql: Sql,
  of: { readonly accountId: string; readonly processor: string; readonly openingMs: number }
): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql<{ count: number }>`SELECT count(*)::int AS count FROM top_up WHERE account_id = ${of.accountId}
      AND status = 'open' AND NOT stopped AND processor = ${of.processor}
      AND (session_id IS NOT NULL OR created_at > now() - ${of.openingMs} * interval '1 millisecond')`,
    (rows) => rows[0]?.count ?? 0
  )

/** Records that the gateway has handled an event about a payment. Returns false if it already had. */
export const insertNotice = (
  sql: Sql,
  notice: { readonly eventId: string; readonly topUpId: string; readonly type: string }
): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql`INSERT INTO payment_notice (event_id, top_up_id, type)
      VALUES (${notice.eventId}, ${notice.topUpId}, ${notice.type}) ON CONFLICT (event_id) DO NOTHING RETURNING 1`,
    (rows) => rows.length === 1
  )

/** An open top-up to ask its processor about. */
export interface DueRow {
  readonly id: string
  readonly session_id: string | null
  /** Whether the top-up is older than any open checkout. */
  readonly old: boolean
}

/**
 * Claims some due open top-ups of a processor, and postpones the next question about each by half of its age, within bounds. So nodes
 * share the work, and the other nodes take over the top-ups of a dead one.
 */
export const takeDue = (
  sql: Sql,
  of: {
    readonly processor: string
    readonly limit: number
    readonly leastMs: number
    readonly mostMs: number
    readonly lifeMs: number
  }
): Effect.Effect<ReadonlyArray<DueRow>, SqlError.SqlError> =>
  sql<DueRow>`UPDATE top_up SET ask_at = now() + LEAST(${of.mostMs} * interval '1 millisecond',
      GREATEST(${of.leastMs} * interval '1 millisecond', (now() - created_at) / 2))
    WHERE id IN (SELECT id FROM top_up WHERE status = 'open' AND NOT stopped AND ask_at <= now()
      AND processor = ${of.processor} ORDER BY ask_at LIMIT ${of.limit} FOR UPDATE SKIP LOCKED)
    RETURNING id, session_id, created_at < now() - ${of.lifeMs} * interval '1 millisecond' AS old`

/** Ends a top-up if no checkout of it ever became known; returns false otherwise. */
export const expireUnopened = (sql: Sql, id: string): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql`UPDATE top_up SET status = 'expired' WHERE id = ${id} AND status = 'open' AND session_id IS NULL RETURNING 1`,
    (rows) => rows.length === 1
  )
