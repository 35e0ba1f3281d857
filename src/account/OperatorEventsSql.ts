import type { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { limitTo } from "../platform/database/Sql.ts"

/** A change by an operator that concerns no single account. */
export interface OperatorEventRow {
  readonly id: string
  readonly type: string
  readonly actor_id: string
  /** The name of the operator key; null for the admin command. */
  readonly actor_name: string | null
  readonly resource_type: string
  readonly resource_id: string
  readonly request_id: string | null
  readonly changes: unknown
  readonly effective_at: Date
}

export const insertOperatorEvent = (
  sql: SqlClient.SqlClient,
  row: Omit<OperatorEventRow, "actor_name" | "changes" | "effective_at"> & { readonly changes: object }
) =>
  sql`INSERT INTO operator_event (id, type, actor_id, resource_type, resource_id, request_id, changes)
    VALUES (${row.id}, ${row.type}, ${row.actor_id}, ${row.resource_type}, ${row.resource_id}, ${row.request_id}::text,
      ${JSON.stringify(row.changes)}::jsonb)`

/** Returns the newest events, older than the one with the ID `after`. */
export const operatorEvents = (
  sql: SqlClient.SqlClient,
  { after, limit }: { readonly after: string | null; readonly limit: number }
): Effect.Effect<ReadonlyArray<OperatorEventRow>, SqlError.SqlError> =>
  sql<OperatorEventRow>`SELECT e.id, e.type, e.actor_id, k.name AS actor_name, e.resource_type, e.resource_id, e.request_id, e.changes,
      e.effective_at FROM operator_event e LEFT JOIN operator_key k ON k.id = e.actor_id
    WHERE e.id COLLATE "C" < COALESCE(${after}::text, 'g') ORDER BY e.id COLLATE "C" DESC ${limitTo(sql, limit)}`
