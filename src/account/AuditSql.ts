import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { limitTo } from "../platform/database/Sql.ts"

/** One entry of an account's audit log. */
export interface AuditRow {
  readonly id: string
  readonly type: string
  readonly actor_type: string
  readonly actor_id: string
  readonly resource_type: string
  readonly resource_id: string
  readonly request_id: string | null
  readonly effective_at: Date
  /** `pending` while the outcome of the action is unknown. */
  readonly status: "completed" | "pending"
  /** Null while the entry is pending. */
  readonly outcome: "succeeded" | "failed" | null
  /** The code of the error that the action failed with. */
  readonly code: string | null
  readonly changes: unknown
}

type NewAuditRow = Pick<
  AuditRow,
  "id" | "type" | "actor_type" | "actor_id" | "resource_type" | "resource_id" | "request_id" | "effective_at"
> & {
  readonly account_id: string
}

/** Inserts a complete entry. Its action commits in the same transaction. `changes` is JSON text. */
export const insertAuditEvent = (sql: SqlClient.SqlClient, row: NewAuditRow & { readonly changes: string }) =>
  sql`INSERT INTO audit_event (id, account_id, type, actor_type, actor_id, resource_type, resource_id, request_id, effective_at,
      changes)
    VALUES (${row.id}, ${row.account_id}, ${row.type}, ${row.actor_type}, ${row.actor_id}, ${row.resource_type},
      ${row.resource_id}, ${row.request_id}, ${row.effective_at}, ${row.changes}::jsonb)`

/** Inserts an entry for an action that has not run yet. */
export const openAuditEvent = (sql: SqlClient.SqlClient, row: NewAuditRow) =>
  sql`WITH opened AS (
    INSERT INTO audit_event (id, account_id, type, actor_type, actor_id, resource_type, resource_id, request_id, effective_at,
        awaited)
      VALUES (${row.id}, ${row.account_id}, ${row.type}, ${row.actor_type}, ${row.actor_id}, ${row.resource_type},
        ${row.resource_id}, ${row.request_id}, ${row.effective_at}, true)
  ) INSERT INTO audit_open (event_id) VALUES (${row.id})`

/** Records the outcome of an open entry, once. `changes` is JSON text. */
export const completeAuditEvent = (
  sql: SqlClient.SqlClient,
  row: { readonly id: string; readonly code: string | null; readonly changes: string }
) =>
  sql`WITH completed AS (
    INSERT INTO audit_completion (event_id, outcome, code, changes)
      VALUES (${row.id}, ${row.code === null ? "succeeded" : "failed"}, ${row.code}, ${row.changes}::jsonb)
  ) DELETE FROM audit_open WHERE event_id = ${row.id}`

/**
 * Removes an entry that has been pending for longer than `olderThanMs` from the pending ones. Returns its account, or undefined
 * when no such entry is pending.
 */
export const closePending = (
  sql: SqlClient.SqlClient,
  { id, olderThanMs }: { readonly id: string; readonly olderThanMs: number }
): Effect.Effect<string | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<{ account_id: string }>`WITH closed AS (
        DELETE FROM audit_open WHERE event_id = ${id} AND opened_at < now() - ${olderThanMs} * interval '1 millisecond'
        RETURNING event_id
      ) SELECT e.account_id FROM audit_event e JOIN closed c ON c.event_id = e.id`,
    (rows) => rows[0]?.account_id
  )

/**
 * Selects an account's entries with IDs from `least` (inclusive) to `end` (exclusive). A list limits the type, actor or resource to
 * its values; an empty list selects nothing. No list contains a value twice.
 */
export interface AuditSelection {
  readonly accountId: string
  readonly types: ReadonlyArray<string> | undefined
  readonly actors: ReadonlyArray<string> | undefined
  readonly resources: ReadonlyArray<string> | undefined
  readonly least: string
  readonly end: string
  readonly limit: number
}

/** The columns that a selection can filter by, in the order of `audit_place`'s arguments. */
const narrowing = [
  ["types", "type"],
  ["actors", "actor_id"],
  ["resources", "resource_id"]
] as const

/**
 * Returns the newest entries of a selection. Each combination of filter values is a separate index scan that reads at most one
 * page. The index is on `audit_place`, which is a hash, so the outer query compares the real values again.
 *
 * A generic plan is as good as a plan for one selection, and PostgreSQL must estimate it so. Otherwise it plans each read anew,
 * which takes longer than the read. Therefore the text contains the number of filter values, and `OFFSET 0` stops the planner from
 * estimating how common the values are and how many rows lie between the IDs.
 */
export const auditEvents = (
  sql: SqlClient.SqlClient,
  selection: AuditSelection
): Effect.Effect<ReadonlyArray<AuditRow>, SqlError.SqlError> => {
  const { accountId, end, least, limit } = selection
  const nothing = sql.literal("")
  const used = narrowing.filter(([name]) => selection[name] !== undefined)
  if (used.some(([name]) => selection[name]?.length === 0)) return Effect.succeed([])
  const from = used.map(([name, column]) => {
    const values = (selection[name] ?? []).map((value) => sql`(${value}::text)`)
    const all = values.reduce((before, value) => sql`${before}, ${value}`)
    return sql`CROSS JOIN (VALUES ${all} OFFSET 0) AS ${sql.literal(`${name} (${column})`)}`
  })
  const place = (of: (name: string, column: string) => string) =>
    narrowing.map(([name, column]) => (selection[name] === undefined ? "NULL" : of(name, column))).join(", ")
  const here =
    used.length === 0
      ? sql`e.account_id = own.id`
      : sql`audit_place(e.account_id, ${sql.literal(place((_, column) => `e.${column}`))})
          = audit_place(own.id, ${sql.literal(place((name, column) => `${name}.${column}`))})`
  const again = sql.literal(used.map(([name, column]) => `AND found.${column} = ${name}.${column}`).join(" "))
  return sql<AuditRow>`WITH page AS MATERIALIZED (
      SELECT found.* FROM (SELECT ${accountId}::text AS id, ${least}::text AS least, ${end}::text AS before OFFSET 0) AS own
      ${from[0] ?? nothing} ${from[1] ?? nothing} ${from[2] ?? nothing} CROSS JOIN LATERAL (
        SELECT e.* FROM audit_event e WHERE ${here} AND e.id COLLATE "C" >= own.least AND e.id COLLATE "C" < own.before
          ORDER BY e.id COLLATE "C" DESC ${limitTo(sql, limit)}
      ) AS found
      WHERE found.account_id = own.id ${again}
      ORDER BY found.id COLLATE "C" DESC ${limitTo(sql, limit)}
    )
    SELECT e.id, e.type, e.actor_type, e.actor_id, e.resource_type, e.resource_id, e.request_id, e.effective_at,
      CASE WHEN e.awaited AND c.event_id IS NULL THEN 'pending' ELSE 'completed' END AS status,
      CASE WHEN e.awaited THEN c.outcome ELSE 'succeeded' END AS outcome, c.code,
      CASE WHEN e.awaited THEN COALESCE(c.changes, '{}') ELSE e.changes END AS changes
    FROM page e LEFT JOIN audit_completion c ON c.event_id = e.id
    ORDER BY e.id COLLATE "C" DESC`
}

/** An entry without an outcome. */
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

/**
 * Returns the oldest entries that have been pending for longer than `olderThanMs`, of one account or of all, and their total
 * number.
 */
export const pendingEvents = (
  sql: SqlClient.SqlClient,
  of: { readonly olderThanMs: number; readonly accountId: string | undefined; readonly limit: number }
): Effect.Effect<{ readonly total: number; readonly rows: ReadonlyArray<PendingRow> }, SqlError.SqlError> =>
  Effect.map(
    sql<
      PendingRow & { readonly total: number }
    >`SELECT e.id, e.account_id, e.type, e.actor_type, e.actor_id, e.resource_type,
        e.resource_id, e.request_id, e.effective_at, count(*) OVER ()::int AS total
      FROM audit_open o JOIN audit_event e ON e.id = o.event_id
      WHERE o.opened_at < now() - ${of.olderThanMs} * interval '1 millisecond'
        AND (${of.accountId ?? null}::text IS NULL OR e.account_id = ${of.accountId ?? null})
      ORDER BY o.event_id LIMIT ${of.limit}`,
    (rows) => ({ total: rows[0]?.total ?? 0, rows })
  )
