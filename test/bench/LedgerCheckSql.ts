import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** The balance of an account and the sum of its receipts, in nano-USD. */
export interface AccountSummary {
  readonly email: string
  readonly posted: bigint
  readonly held: bigint
  /** The sum of its receipts, minus refunds. */
  readonly settled: bigint
  readonly requests: bigint
  readonly open: bigint
}

/** All accounts, sorted by email address. */
export const accountSummaries = (sql: SqlClient.SqlClient) =>
  sql<AccountSummary>`SELECT a.email, b.posted, b.held, COALESCE(r.settled, 0)::bigint AS settled,
      COALESCE(r.requests, 0) AS requests, COALESCE(r.open, 0) AS open
    FROM account a JOIN balance b ON b.account_id = a.id
    LEFT JOIN (SELECT account_id, sum(settled - refunded) AS settled, count(*) AS requests,
      count(*) FILTER (WHERE state = 'open') AS open FROM request GROUP BY account_id) r ON r.account_id = a.id
    ORDER BY a.email`

/** The number of open holds. */
export const openHolds = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ open: bigint }>`SELECT count(*) AS open FROM request WHERE state = 'open'`,
    ([row]) => row?.open ?? 0n
  )
