import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { Nano } from "../domain/Money.ts"

/** A crossed threshold with its figures at that time, and the current owner of its budget. */
export interface CrossingRow {
  readonly budget_id: string
  readonly period_start: string
  readonly threshold_percent: number
  readonly limit_nano: Nano
  readonly spent: Nano
  readonly crossed_at: Date
  readonly account_id: string
  readonly scope: "account" | "key" | "project"
  readonly period: string
  readonly owner_id: string | null
  readonly name: string | null
}

/** Reports whether any crossing is unreported. It costs one index lookup and needs no transaction. */
export const anyUnreported = (sql: SqlClient.SqlClient): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql<{ any: boolean }>`SELECT EXISTS (SELECT FROM budget_crossing WHERE told_at IS NULL) AS any`,
    (rows) => rows[0]?.any === true
  )

/**
 * Marks the oldest unreported crossings as reported, in the caller's transaction, and returns them in order. It skips crossings
 * that another node has locked. A budget belongs to its current owner or, if it was replaced since, to its last owner.
 */
export const takeUnreported = (
  sql: SqlClient.SqlClient,
  limit: number
): Effect.Effect<ReadonlyArray<CrossingRow>, SqlError.SqlError> =>
  sql<CrossingRow>`WITH due AS (
      SELECT budget_id, period_start, threshold_percent FROM budget_crossing WHERE told_at IS NULL
      ORDER BY crossed_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ), told AS (
      UPDATE budget_crossing c SET told_at = now() FROM due
      WHERE c.budget_id = due.budget_id AND c.period_start = due.period_start AND c.threshold_percent = due.threshold_percent
      RETURNING c.*
    )
    SELECT t.budget_id, t.period_start::text, t.threshold_percent, t.limit_nano, t.spent, t.crossed_at, b.account_id, b.scope,
      b.period, COALESCE(k.id, p.id, b.owner_id) AS owner_id, COALESCE(k.name, p.name, CASE WHEN b.scope = 'account' THEN 'the account' END) AS name
    FROM told t JOIN budget b ON b.id = t.budget_id
    LEFT JOIN LATERAL (
      SELECT id, name FROM api_key WHERE b.scope = 'key' AND (budget_id = b.id OR id = b.owner_id)
      ORDER BY budget_id IS DISTINCT FROM b.id, id DESC LIMIT 1
    ) AS k ON true
    LEFT JOIN project p ON b.scope = 'project' AND p.id = b.owner_id
    ORDER BY t.crossed_at, t.budget_id, t.threshold_percent`
