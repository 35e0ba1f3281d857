import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/**
 * Counts the holds and charges of all accounts that are open longer than this after their expiry. Sweeps should have ended each of
 * them by then.
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
