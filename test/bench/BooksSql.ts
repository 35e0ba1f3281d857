import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** What the accounts of a run have, and what their receipts say; amounts are nano-USD. */
export interface Standing {
  readonly email: string
  readonly posted: bigint
  readonly held: bigint
  /** Of all receipts, less what was given back. */
  readonly settled: bigint
  readonly requests: bigint
  readonly open: bigint
}

/** Every account, by its email address. */
export const standings = (sql: SqlClient.SqlClient) =>
  sql<Standing>`SELECT a.email, b.posted, b.held, COALESCE(r.settled, 0)::bigint AS settled,
      COALESCE(r.requests, 0) AS requests, COALESCE(r.open, 0) AS open
    FROM account a JOIN balance b ON b.account_id = a.id
    LEFT JOIN (SELECT account_id, sum(settled - refunded) AS settled, count(*) AS requests,
      count(*) FILTER (WHERE state = 'open') AS open FROM request GROUP BY account_id) r ON r.account_id = a.id
    ORDER BY a.email`

/** Holds that are open at this moment. */
export const openHolds = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ open: bigint }>`SELECT count(*) AS open FROM request WHERE state = 'open'`,
    ([row]) => row?.open ?? 0n
  )
