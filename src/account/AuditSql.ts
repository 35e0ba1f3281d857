import type { SqlClient } from "effect/sql"

/** One line of an account's audit log. */
export interface AuditRow {
  readonly id: string
  readonly type: string
  readonly actor_type: string
  readonly actor_id: string
  readonly resource_type: string
  readonly resource_id: string
  readonly changes: unknown
  readonly effective_at: Date
}

export const insertAuditEvent = (
  sql: SqlClient.SqlClient,
  row: Omit<AuditRow, "effective_at" | "changes"> & { readonly account_id: string; readonly changes: string }
) =>
  sql`INSERT INTO audit_event (id, account_id, type, actor_type, actor_id, resource_type, resource_id, changes)
    VALUES (${row.id}, ${row.account_id}, ${row.type}, ${row.actor_type}, ${row.actor_id}, ${row.resource_type},
      ${row.resource_id}, ${row.changes}::jsonb)`

export const auditEvents = (sql: SqlClient.SqlClient, accountId: string, limit: number) =>
  sql<AuditRow>`SELECT id, type, actor_type, actor_id, resource_type, resource_id, changes, effective_at
    FROM audit_event WHERE account_id = ${accountId} ORDER BY id DESC LIMIT ${limit}`
