import { Effect } from "effect"
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
  "id" | "type" | "actor_type" | "actor_id" | "resource_type" | "resource_id" | "request_id" | "effective_at"
> & {
  readonly account_id: string
}

/** A line that is whole: its deed is done in the same transaction. `changes` is JSON. */
export const insertAuditEvent = (sql: SqlClient.SqlClient, row: Written & { readonly changes: string }) =>
  sql`INSERT INTO audit_event (id, account_id, type, actor_type, actor_id, resource_type, resource_id, request_id, effective_at,
      changes)
    VALUES (${row.id}, ${row.account_id}, ${row.type}, ${row.actor_type}, ${row.actor_id}, ${row.resource_type},
      ${row.resource_id}, ${row.request_id}, ${row.effective_at}, ${row.changes}::jsonb)`

/** A line whose deed is still to come. */
export const openAuditEvent = (sql: SqlClient.SqlClient, row: Written) =>
  sql`WITH opened AS (
    INSERT INTO audit_event (id, account_id, type, actor_type, actor_id, resource_type, resource_id, request_id, effective_at,
        awaited)
      VALUES (${row.id}, ${row.account_id}, ${row.type}, ${row.actor_type}, ${row.actor_id}, ${row.resource_type},
        ${row.resource_id}, ${row.request_id}, ${row.effective_at}, true)
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

/** Lines of an account: those with ids from `least` on and before `end`; of these types, actors and resources where some are named. */
export interface AuditSelection {
  readonly accountId: string
  readonly types: ReadonlyArray<string> | undefined
  readonly actors: ReadonlyArray<string> | undefined
  readonly resources: ReadonlyArray<string> | undefined
  readonly least: string
  readonly end: string
  readonly limit: number
}

/**
 * The newest of a selection. Each combination of what it is narrowed to is a scan of its own, of no more than the page, of the
 * index that has just these columns before the id.
 */
export const auditEvents = (
  sql: SqlClient.SqlClient,
  { accountId, actors, end, least, limit, resources, types }: AuditSelection
): Effect.Effect<ReadonlyArray<AuditRow>, SqlError.SqlError> => {
  const filters = [
    ["type", types],
    ["actor_id", actors],
    ["resource_id", resources]
  ] as const
  const none = sql.literal("")
  const [ofTypes, ofActors, ofResources] = filters.map(([column, values]) =>
    values === undefined
      ? none
      : sql`CROSS JOIN unnest(${[...values]}::text[]) AS of_${sql.literal(`${column} (${column})`)}`
  )
  const conditions = filters.flatMap(([column, values]) =>
    values === undefined ? [] : [`AND e.${column} = of_${column}.${column}`]
  )
  return sql<AuditRow>`WITH page AS MATERIALIZED (
      SELECT found.id FROM (SELECT ${accountId}::text AS id) AS own ${ofTypes!} ${ofActors!} ${ofResources!}
      CROSS JOIN LATERAL (
        SELECT e.id FROM audit_event e
          WHERE e.account_id = own.id ${sql.literal(conditions.join(" "))} AND e.id >= ${least} AND e.id < ${end}
          ORDER BY e.id DESC LIMIT ${limit}
      ) AS found ORDER BY found.id DESC LIMIT ${limit}
    )
    SELECT e.id, e.type, e.actor_type, e.actor_id, e.resource_type, e.resource_id, e.request_id, e.effective_at,
      CASE WHEN e.awaited AND c.event_id IS NULL THEN 'pending' ELSE 'completed' END AS status,
      CASE WHEN e.awaited THEN c.outcome ELSE 'succeeded' END AS outcome, c.code,
      CASE WHEN e.awaited THEN COALESCE(c.changes, '{}') ELSE e.changes END AS changes
    FROM page JOIN audit_event e ON e.id = page.id LEFT JOIN audit_completion c ON c.event_id = e.id
    ORDER BY e.id DESC`
}

/** A line that nobody completed. */
export interface PendingRow {
  readonly id: string
  readonly account_id: string
  readonly type: string
  readonly actor_type: string
  readonly actor_id: string
  readonly resource_type: string
  readonly resource_id: string
  readonly request_id: string | null
  readonly effective_at: Date
}

/** The oldest lines that have been pending for so long, and how many there are of them. */
export const pendingEvents = (
  sql: SqlClient.SqlClient,
  olderThanMs: number,
  limit: number
): Effect.Effect<{ readonly total: number; readonly rows: ReadonlyArray<PendingRow> }, SqlError.SqlError> =>
  Effect.map(
    sql<
      PendingRow & { readonly total: number }
    >`SELECT e.id, e.account_id, e.type, e.actor_type, e.actor_id, e.resource_type,
        e.resource_id, e.request_id, e.effective_at, o.total
      FROM (
        SELECT event_id, count(*) OVER ()::int AS total FROM audit_open
          WHERE opened_at < now() - ${olderThanMs} * interval '1 millisecond' ORDER BY event_id LIMIT ${limit}
      ) AS o JOIN audit_event e ON e.id = o.event_id ORDER BY e.id`,
    (rows) => ({ total: rows[0]?.total ?? 0, rows: rows.map(({ total: _, ...row }) => row) })
  )
