import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { TopUpRow } from "./TopUpsSql.ts"

type Sql = SqlClient.SqlClient

/** A top-up to decide about, locked until the transaction ends. */
export interface UndecidedTopUp extends Pick<
  TopUpRow,
  "id" | "account_id" | "amount_cents" | "processor" | "status" | "session_id" | "refunded_cents" | "attention"
> {
  /** Whether it waits for an operator. Then the gateway does not ask its processor about it. */
  readonly stopped: boolean
  /** The checkout that needs attention; null when it is the top-up's own. */
  readonly attention_session: string | null
}

export const lockUndecided = (sql: Sql, id: string): Effect.Effect<UndecidedTopUp | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<UndecidedTopUp>`SELECT id, account_id, amount_cents, processor, status, session_id, refunded_cents, stopped,
        attention, attention_session FROM top_up WHERE id = ${id} FOR UPDATE`,
    (rows) => rows[0]
  )

/** A decision that was made. The amount, in nano-USD, came to the account; an amount below zero was taken back. */
export interface DecisionRow {
  readonly action: "settled" | "dismissed"
  readonly amount: bigint
  readonly reason: string
  readonly decided_at: Date
}

export const decisionUnder = (
  sql: Sql,
  { account_id, id }: Pick<TopUpRow, "account_id" | "id">,
  reference: string
): Effect.Effect<DecisionRow | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<DecisionRow>`SELECT action, amount, reason, decided_at FROM top_up_decision
      WHERE account_id = ${account_id} AND top_up_id = ${id} AND reference = ${reference}`,
    (rows) => rows[0]
  )

/** Returns how much of a top-up was taken back so far, in nano-USD. */
export const amountTakenBack = (
  sql: Sql,
  { account_id, id }: Pick<TopUpRow, "account_id" | "id">
): Effect.Effect<bigint, SqlError.SqlError> =>
  Effect.map(
    sql<{ taken: bigint }>`SELECT COALESCE(-sum(amount), 0)::bigint AS taken FROM top_up_decision
      WHERE account_id = ${account_id} AND top_up_id = ${id} AND amount < 0`,
    (rows) => rows[0]?.taken ?? 0n
  )

export const insertDecision = (
  sql: Sql,
  row: Omit<DecisionRow, "decided_at"> & {
    readonly accountId: string
    readonly topUpId: string
    readonly reference: string
    readonly attention: string
    readonly actorId: string
  }
) =>
  sql`INSERT INTO top_up_decision (account_id, top_up_id, reference, action, attention, amount, reason, actor_id)
    VALUES (${row.accountId}, ${row.topUpId}, ${row.reference}, ${row.action}, ${row.attention}, ${row.amount}, ${row.reason},
      ${row.actorId})`

/** Sets a top-up paid, with the checkout and the amount that an operator settled. */
export const setSettled = (
  sql: Sql,
  { amountCents, id, sessionId }: { readonly id: string; readonly sessionId: string; readonly amountCents: number }
) =>
  sql`UPDATE top_up SET status = 'paid', paid_at = now(), session_id = ${sessionId}, credited_cents = ${amountCents},
      stopped = false, attention = NULL, attention_session = NULL
    WHERE id = ${id}`

/** Removes the mark of a top-up. An unpaid one that waited for an operator ends. */
export const setDismissed = (sql: Sql, id: string) =>
  sql`UPDATE top_up SET attention = NULL, attention_session = NULL, stopped = false,
      status = CASE WHEN status = 'open' AND stopped THEN 'expired' ELSE status END
    WHERE id = ${id}`
