import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/** A movement by an operator under a reference. An amount above zero came to the account, and one below zero left it. */
export interface OperatorMovement {
  readonly account_id: string
  readonly email: string
  readonly amount: bigint
  readonly at: Date
}

/** The movement of this kind with this reference, of any account. */
export const movementUnder = (
  sql: SqlClient.SqlClient,
  kind: "credit" | "adjust",
  reference: string
): Effect.Effect<OperatorMovement | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<OperatorMovement>`SELECT a.id AS account_id, a.email, CASE WHEN t.credit = a.id THEN t.amount ELSE -t.amount END AS amount, t.at
      FROM transfer t JOIN account a ON a.id IN (t.debit, t.credit)
      WHERE t.reference = ${reference} AND t.kind = ${kind}`,
    (rows) => rows[0]
  )

/** A refund by an operator. */
export interface RefundMovement {
  readonly request_id: string
  readonly amount: bigint
  readonly at: Date
}

/** The refund with this reference, of any request. */
export const refundUnder = (
  sql: SqlClient.SqlClient,
  reference: string
): Effect.Effect<RefundMovement | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<RefundMovement>`SELECT request_id, amount, at FROM transfer WHERE reference = ${reference} AND kind = 'refund'`,
    (rows) => rows[0]
  )
