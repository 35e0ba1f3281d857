import type { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/** One line of an account's audit log. */
export interface AuditRow {
  readonly id: string
  readonly type: string
  readonly actor_type: string
  readonly actor_id: string
  readonly resource_type: string
  readonly resource_id: string
  readonly request_id: string | null
  readonly effective_at: Date
  /** `pending` while nobody knows how the deed ended. */
  readonly status: "completed" | "pending"
  /** Null while it is pending. */
  readonly outcome: "succeeded" | "failed" | null
  /** The code of the error it failed with. */
  readonly code: string | null
  readonly changes: unknown
}

type Written = Pick<
  AuditRow,
  "id" | "type" | "actor_type" | "actor_id" | "resource_type" | "resource_id" | "request_id"
> & {
  readonly account_id: string
}

/** A line that is whole: its deed is done in the same transaction. `changes` is JSON. */
export const insertAuditEvent = (sql: SqlClient.SqlClient, row: Written & { readonly changes: string }) =>
  sql`INSERT INTO audit_event (id, account_id, type, actor_type, actor_id, resource_type, resource_id, request_id, changes)
    VALUES (${row.id}, ${row.account_id}, ${row.type}, ${row.actor_type}, ${row.actor_id}, ${row.resource_type},
      ${row.resource_id}, ${row.request_id}, ${row.changes}::jsonb)`

/** A line whose deed is still to come. */
export const openAuditEvent = (sql: SqlClient.SqlClient, row: Written) =>
  sql`WITH opened AS (
    INSERT INTO audit_event (id, account_id, type, actor_type, actor_id, resource_type, resource_id, request_id, awaited)
      VALUES (${row.id}, ${row.account_id}, ${row.type}, ${row.actor_type}, ${row.actor_id}, ${row.resource_type},
        ${row.resource_id}, ${row.request_id}, true)
  ) INSERT INTO audit_open (event_id) VALUES (${row.id})`

/** How the deed of an opened line ended; said once. `changes` is JSON. */
export const completeAuditEvent = (
  sql: SqlClient.SqlClient,
  row: { readonly id: string; readonly code: string | null; readonly changes: string }
) =>
  sql`WITH completed AS (
    INSERT INTO audit_completion (event_id, outcome, code, changes)
      VALUES (${row.id}, ${row.code === null ? "succeeded" : "failed"}, ${row.code}, ${row.changes}::jsonb)
  ) DELETE FROM audit_open WHERE event_id = ${row.id}`

export const auditEvents = (
  sql: SqlClient.SqlClient,
  accountId: string,
  limit: number
): Effect.Effect<ReadonlyArray<AuditRow>, SqlError.SqlError> =>
  sql<AuditRow>`SELECT e.id, e.type, e.actor_type, e.actor_id, e.resource_type, e.resource_id, e.request_id, e.effective_at,
      CASE WHEN e.awaited AND c.event_id IS NULL THEN 'pending' ELSE 'completed' END AS status,
      CASE WHEN e.awaited THEN c.outcome ELSE 'succeeded' END AS outcome, c.code,
      CASE WHEN e.awaited THEN COALESCE(c.changes, '{}') ELSE e.changes END AS changes
    FROM audit_event e LEFT JOIN audit_completion c ON c.event_id = e.id
    WHERE e.account_id = ${accountId} ORDER BY e.id DESC LIMIT ${limit}`

/** A line that nobody completed. */
export interface PendingRow {
  readonly id: string
  readonly account_id: string
  readonly type: string
  readonly request_id: string | null
  readonly effective_at: Date
}

/** The oldest lines that have been pending for so long. */
export const pendingEvents = (
  sql: SqlClient.SqlClient,
  olderThanMs: number,
  limit: number
): Effect.Effect<ReadonlyArray<PendingRow>, SqlError.SqlError> =>
  sql<PendingRow>`SELECT e.id, e.account_id, e.type, e.request_id, e.effective_at
    FROM audit_open o JOIN audit_event e ON e.id = o.event_id
    WHERE o.opened_at < now() - ${olderThanMs} * interval '1 millisecond' ORDER BY o.event_id LIMIT ${limit}`
