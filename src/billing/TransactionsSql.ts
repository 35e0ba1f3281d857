import type { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { limitTo } from "../platform/database/Sql.ts"

/** A movement of an account's money other than a charge. An amount above zero came to the account. */
export interface TransactionRow {
  readonly id: bigint
  readonly at: Date
  readonly amount: bigint
  readonly kind: "credit" | "adjust" | "refund"
  /** The operator's account on the other side. */
  readonly house: string
  readonly request_id: string | null
  readonly reference: string | null
  readonly top_up_id: string | null
}

/** The greatest number of a transfer. */
const LAST = 2n ** 63n - 1n

/**
 * Returns an account's movements of money other than charges, newest first. The conditions compare rows of account and number. Only the
 * index of each side fits that, so no plan can walk the primary key past charges and the transfers of other accounts.
 */
export const transactionsOf = (
  sql: SqlClient.SqlClient,
  accountId: string,
  before: bigint | null,
  limit: number
): Effect.Effect<ReadonlyArray<TransactionRow>, SqlError.SqlError> => {
  const page = (side: "credit" | "debit") => {
    const name = sql.literal(side)
    return sql`(${name}, id) >= (${accountId}, 0) AND (${name}, id) ${sql.literal(before === null ? "<=" : "<")}
      (${accountId}, ${before ?? LAST}) ORDER BY ${name} DESC, id DESC ${limitTo(sql, limit)}`
  }
  return sql<TransactionRow>`SELECT t.*, u.id AS top_up_id FROM (
      SELECT * FROM (
        (SELECT id, at, amount, kind, debit AS house, request_id, reference FROM transfer
          WHERE left(credit, 6) <> 'house:' AND ${page("credit")})
        UNION ALL
        (SELECT id, at, -amount, kind, credit, request_id, reference FROM transfer
          WHERE kind = 'adjust' AND ${page("debit")})
      ) AS sides ORDER BY id DESC ${limitTo(sql, limit)}
    ) AS t
    LEFT JOIN top_up u ON t.kind = 'credit' AND u.session_id = substring(t.reference FROM '^(?:stripe|simulated):(.*)$')
    ORDER BY t.id DESC`
}
