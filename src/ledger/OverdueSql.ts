import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/**
 * Counts the holds and the charges of all accounts that stand longer than this past their expiry. A sweep has had its chance to end
 * each of them.
 */
export const countOverdue = (sql: SqlClient.SqlClient, graceMs: number): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql<{
      overdue: bigint
    }>`WITH due AS MATERIALIZED (SELECT now() - ${BigInt(graceMs)} * interval '1 millisecond' AS before)
      SELECT (SELECT count(*) FROM request WHERE state = 'open' AND expires_at < (SELECT before FROM due))
        + (SELECT count(*) FROM request WHERE state = 'settled' AND closed IS NULL AND expires_at < (SELECT before FROM due))
        AS overdue`,
    (rows) => Number(rows[0]?.overdue ?? 0n)
  )
