/** What operators read of accounts, their keys, their requests and their top-ups. */
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { AccountState } from "../account/AccountsSql.ts"
import type { AuditRow } from "../account/AuditSql.ts"
import type { BudgetPeriodName } from "../domain/Budget.ts"
import type { TopUpStatus } from "../domain/TopUp.ts"
import { firstRequestIdAt } from "../platform/Ids.ts"
import { limitTo } from "../platform/database/Sql.ts"
import { columns, type RequestRow } from "../usage/RequestsSql.ts"

type Sql = SqlClient.SqlClient
type Rows<Row> = Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>

export const accountStates = ["active", "suspended", "closed"] as const satisfies ReadonlyArray<AccountState>

/** An account with its money. Amounts are in nano-USD. */
export interface AccountLine {
  readonly id: string
  readonly email: string
  readonly state: AccountState
  readonly state_reason: string | null
  readonly limit_scale: number
  /** In basis points. */
  readonly markup_bp: number
  readonly plan_id: string | null
  readonly plan_name: string | null
  readonly created_at: Date
  readonly posted: bigint
  readonly held: bigint
  readonly play: bigint
  readonly play_held: bigint
}

const lines = (sql: Sql) =>
  sql.literal(`SELECT a.id, a.email, a.state, a.state_reason, a.limit_scale, a.markup_bp, a.plan_id, pl.name AS plan_name, a.created_at, b.posted, b.held,
      COALESCE(p.posted, 0) AS play, COALESCE(p.held, 0) AS play_held
    FROM account a JOIN balance b ON b.account_id = a.id LEFT JOIN play_balance p ON p.account_id = a.id
    LEFT JOIN price_plan pl ON pl.id = a.plan_id`)

/** The filters of a page of accounts; null matches everything. */
export interface AccountSearch {
  /** Matches a part of the email address without regard to case, or the start of the ID. */
  readonly search: string | null
  readonly state: AccountState | null
  /** The page continues with accounts older than this one. */
  readonly after: string | null
  readonly limit: number
}

/** Returns accounts, newest first. */
export const accountsMatching = (sql: Sql, { after, limit, search, state }: AccountSearch): Rows<AccountLine> =>
  sql<AccountLine>`${lines(sql)}
    WHERE (${search}::text IS NULL OR strpos(lower(a.email), lower(${search})) > 0 OR starts_with(a.id, lower(${search})))
      AND (${state}::text IS NULL OR a.state = ${state})
      AND (${after}::text IS NULL
        OR (a.created_at, a.id) < (SELECT o.created_at, o.id FROM account o WHERE o.id = ${after}))
    ORDER BY a.created_at DESC, a.id DESC ${limitTo(sql, limit)}`

/** Returns the account with this ID or email address. */
export const accountNamed = (sql: Sql, name: string): Effect.Effect<AccountLine | undefined, SqlError.SqlError> =>
  Effect.map(sql<AccountLine>`${lines(sql)} WHERE a.id = ${name} OR lower(a.email) = lower(${name})`, (rows) => rows[0])

/** Counts of an account's keys by their state, and of its open requests. */
export interface AccountCounts {
  readonly active_keys: number
  readonly inactive_keys: number
  readonly open_requests: number
}

export const countsOf = (sql: Sql, accountId: string): Effect.Effect<AccountCounts, SqlError.SqlError> =>
  Effect.map(
    sql<AccountCounts>`SELECT
        (SELECT count(*) FROM api_key k WHERE k.account_id = ${accountId} AND k.revoked_at IS NULL
          AND COALESCE(k.expires_at > now(), true))::int AS active_keys,
        (SELECT count(*) FROM api_key k WHERE k.account_id = ${accountId} AND NOT (k.revoked_at IS NULL
          AND COALESCE(k.expires_at > now(), true)))::int AS inactive_keys,
        ((SELECT count(*) FROM request WHERE account_id = ${accountId} AND state = 'open')
          + (SELECT count(*) FROM request WHERE account_id = ${accountId} AND state = 'settled' AND closed IS NULL)
        )::int AS open_requests`,
    ([row = { active_keys: 0, inactive_keys: 0, open_requests: 0 }]) => row
  )

/** A budget of a key or a project in its current period. Amounts are in nano-USD. */
export interface BudgetLine {
  readonly scope: "account" | "key" | "project"
  readonly owner_id: string
  readonly name: string
  readonly period: BudgetPeriodName
  readonly limit_nano: bigint
  readonly spent: bigint
  readonly held: bigint
}

/** Returns the budgets that keys and projects of the account have now. */
export const budgetsOf = (
  sql: Sql,
  accountId: string,
  starts: Readonly<Record<BudgetPeriodName, string>>
): Rows<BudgetLine> =>
  sql<BudgetLine>`SELECT b.scope, b.owner_id, COALESCE(k.name, j.name, '') AS name, b.period, b.limit_nano,
      COALESCE(p.spent, 0) AS spent, COALESCE(p.held, 0) AS held
    FROM budget b LEFT JOIN api_key k ON k.budget_id = b.id LEFT JOIN project j ON j.budget_id = b.id
      LEFT JOIN budget_period p ON p.budget_id = b.id AND p.period_start = CASE b.period
        WHEN 'daily' THEN ${starts.daily}::date WHEN 'weekly' THEN ${starts.weekly}::date
        WHEN 'monthly' THEN ${starts.monthly}::date ELSE ${starts.lifetime}::date END
      LEFT JOIN account a ON a.daily_budget_id = b.id AND EXISTS (
        SELECT FROM price_plan p WHERE p.id = a.plan_id AND p.daily_spend IS NOT NULL)
    WHERE b.account_id = ${accountId} AND COALESCE(k.id, j.id, a.id) IS NOT NULL ORDER BY b.scope, b.owner_id`

/** A key of either kind, without its secret. */
export interface KeyLine {
  readonly id: string
  readonly kind: "inference" | "management"
  readonly name: string
  readonly prefix: string
  readonly last4: string
  readonly scopes: ReadonlyArray<string>
  readonly project_id: string | null
  readonly state: "active" | "revoked" | "expired"
  readonly created_at: Date
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
}

/** Returns keys of an account, newest first, that come after this one. */
export const keysOfAccount = (
  sql: Sql,
  accountId: string,
  { after, limit }: { readonly after: string | null; readonly limit: number }
): Rows<KeyLine> =>
  sql<KeyLine>`SELECT id, kind, name, prefix, last4, scopes, project_id, created_at, expires_at, revoked_at,
      CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= now() THEN 'expired' ELSE 'active' END AS state
    FROM api_key WHERE account_id = ${accountId} AND id COLLATE "C" < COALESCE(${after}::text, 'g')
    ORDER BY id COLLATE "C" DESC ${limitTo(sql, limit)}`

/** A request in a list. Amounts are in nano-USD. */
export interface RequestLine {
  readonly id: string
  readonly created_at: Date
  readonly operation: string
  readonly model: string
  readonly resolved_model: string | null
  readonly provider: string | null
  readonly status: "open" | "succeeded" | "failed" | "cancelled"
  readonly held: bigint
  readonly cost: bigint
  readonly key_id: string
}

/** The filters of a page of requests; null matches everything. */
export interface RequestSearch {
  readonly status: RequestLine["status"] | null
  /** Matches the requested or the served model. */
  readonly model: string | null
  readonly since: Date | null
  /** The page continues with requests older than this ID. */
  readonly after: string | null
  readonly limit: number
}

/** A node's clock makes the ID and the database's clock the time. They differ by less than this. */
const CLOCK_DIFFERENCE_MS = 3_600_000

/** Returns requests of an account, newest first. */
export const requestsMatching = (
  sql: Sql,
  accountId: string,
  { after, limit, model, since, status }: RequestSearch
): Effect.Effect<ReadonlyArray<RequestLine>, SqlError.SqlError> => {
  const from = since === null ? "" : firstRequestIdAt(Math.max(0, since.getTime() - CLOCK_DIFFERENCE_MS))
  return sql<RequestLine>`SELECT * FROM (
      SELECT id, created_at, operation, model, resolved_model, provider, held, settled - refunded AS cost, key_id,
        CASE WHEN closed IS NULL THEN 'open' ELSE status END AS status
      FROM request WHERE account_id = ${accountId} AND id >= ${from}
    ) AS r
    WHERE (${after}::text IS NULL OR id < ${after}) AND (${since}::timestamptz IS NULL OR created_at >= ${since})
      AND (${status}::text IS NULL OR status = ${status})
      AND (${model}::text IS NULL OR model = ${model} OR resolved_model = ${model})
    ORDER BY id DESC ${limitTo(sql, limit)}`
}

/** The account of a request. */
export interface RequestOwner {
  readonly account_id: string
  readonly email: string
}

/** Returns the account of the request with this ID, or of the request that a replay with this ID repeated. */
export const ownerOfRequest = (sql: Sql, id: string): Effect.Effect<RequestOwner | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<RequestOwner>`SELECT a.id AS account_id, a.email FROM account a WHERE a.id IN (
      SELECT account_id FROM request WHERE id = ${id} UNION ALL SELECT account_id FROM replay WHERE id = ${id})`,
    (rows) => rows[0]
  )

/** A movement of money for a request. Above zero it came to the account. */
export interface Movement {
  readonly at: Date
  readonly kind: string
  readonly amount: bigint
  readonly reference: string | null
}

/** Returns the movements for a request, oldest first. */
export const movementsFor = (
  sql: Sql,
  accountId: string,
  requestId: string
): Effect.Effect<ReadonlyArray<Movement>, SqlError.SqlError> =>
  sql<Movement>`SELECT at, kind, CASE WHEN credit = ${accountId} THEN amount ELSE -amount END AS amount, reference
    FROM transfer WHERE (debit = ${accountId} OR credit = ${accountId}) AND request_id = ${requestId} ORDER BY id`

/** The maximum number of requests that one page of all accounts examines. In the database's memory they take a tenth of a second. */
const MAX_EXAMINED = 10_000

/** The filters of a page of the requests of all accounts; null matches everything. */
export interface AnySearch {
  readonly status: RequestLine["status"] | null
  /** Matches the requested or the served model. */
  readonly model: string | null
  readonly provider: string | null
  readonly operation: string | null
  /** The page continues with requests older than this ID. */
  readonly after: string | null
  readonly limit: number
}

/** A receipt of any account. */
export interface AnyRow extends RequestRow {
  readonly email: string
}

/** Returns the newest requests of all accounts that match among the `MAX_EXAMINED` before this one. */
export const requestsOfAll = (
  sql: Sql,
  { after, limit, model, operation, provider, status }: AnySearch
): Rows<AnyRow> =>
  sql<AnyRow>`SELECT r.*, a.email FROM (
      SELECT * FROM (
        SELECT ${columns(sql)} FROM request WHERE id < COALESCE(${after}::text, 'req_z') ORDER BY id DESC ${limitTo(sql, MAX_EXAMINED)}
      ) AS near
      WHERE (${status}::text IS NULL OR status = ${status}) AND (${provider}::text IS NULL OR provider = ${provider})
        AND (${operation}::text IS NULL OR operation = ${operation})
        AND (${model}::text IS NULL OR model = ${model} OR resolved_model = ${model})
      ORDER BY id DESC ${limitTo(sql, limit)}
    ) AS r JOIN account a ON a.id = r.account_id ORDER BY r.id DESC`

/** Returns the ID of the oldest request that such a page examines; undefined when it examines all that there are. */
export const examinedTo = (sql: Sql, after: string | null): Effect.Effect<string | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<{ id: string }>`SELECT id FROM request WHERE id < COALESCE(${after}::text, 'req_z')
      ORDER BY id DESC LIMIT 1 OFFSET ${MAX_EXAMINED - 1}`,
    (rows) => rows[0]?.id
  )

/** A top-up of an account. */
export interface TopUpLine {
  readonly id: string
  readonly account_id: string
  readonly email: string
  readonly amount_cents: number
  /** Null unless it is paid. */
  readonly credited_cents: number | null
  readonly refunded_cents: bigint
  /** What operators have taken back, in nano-USD. */
  readonly taken_back: bigint
  readonly processor: "stripe" | "simulated"
  readonly status: TopUpStatus
  readonly attention: string | null
  readonly created_at: Date
  readonly paid_at: Date | null
}

/** A page of a list that is newest first. */
interface Page {
  readonly after: string | null
  readonly limit: number
}

const topUpColumns = (sql: Sql) =>
  sql.literal(`t.id, t.account_id, a.email, t.amount_cents, t.refunded_cents, t.processor, t.status, t.attention, t.created_at, t.paid_at,
    CASE WHEN t.status = 'paid' THEN COALESCE(t.credited_cents, t.amount_cents) END AS credited_cents,
    (SELECT COALESCE(-sum(d.amount), 0)::bigint FROM top_up_decision d
      WHERE d.account_id = t.account_id AND d.top_up_id = t.id AND d.amount < 0) AS taken_back`)

/** Returns top-ups that need an operator, newest first. */
export const topUpsToSee = (sql: Sql, { after, limit }: Page): Rows<TopUpLine> =>
  sql<TopUpLine>`SELECT ${topUpColumns(sql)} FROM top_up t JOIN account a ON a.id = t.account_id
    WHERE t.attention IS NOT NULL AND t.id COLLATE "C" < COALESCE(${after}::text, 'g')
    ORDER BY t.id COLLATE "C" DESC ${limitTo(sql, limit)}`

/** Returns the top-ups of an account, newest first. */
export const topUpsOfAccount = (sql: Sql, accountId: string, { after, limit }: Page): Rows<TopUpLine> =>
  sql<TopUpLine>`SELECT ${topUpColumns(sql)} FROM top_up t JOIN account a ON a.id = t.account_id
    WHERE t.account_id = ${accountId} AND t.id COLLATE "C" < COALESCE(${after}::text, 'g')
    ORDER BY t.id COLLATE "C" DESC ${limitTo(sql, limit)}`

export const topUpOfAny = (sql: Sql, id: string): Effect.Effect<TopUpLine | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<TopUpLine>`SELECT ${topUpColumns(sql)} FROM top_up t JOIN account a ON a.id = t.account_id WHERE t.id = ${id}`,
    (rows) => rows[0]
  )

/** A change by an operator: of an account, or of none. */
export interface ChangeLine extends AuditRow {
  /** The name of the operator key; null for the admin command. */
  readonly actor_name: string | null
  readonly account_id: string | null
  readonly email: string | null
}

/** Returns what operators changed anywhere, newest first. */
export const changesByOperators = (sql: Sql, { after, limit }: Page): Rows<ChangeLine> =>
  sql<ChangeLine>`WITH page AS (
      (SELECT id, type, actor_id, resource_type, resource_id, request_id, changes, effective_at, NULL AS account_id, false AS awaited
        FROM operator_event WHERE id COLLATE "C" < COALESCE(${after}::text, 'g') ORDER BY id COLLATE "C" DESC ${limitTo(sql, limit)})
      UNION ALL
      (SELECT id, type, actor_id, resource_type, resource_id, request_id, changes, effective_at, account_id, awaited
        FROM audit_event WHERE actor_type = 'operator' AND id COLLATE "C" < COALESCE(${after}::text, 'g')
        ORDER BY id COLLATE "C" DESC ${limitTo(sql, limit)})
      ORDER BY id DESC ${limitTo(sql, limit)}
    )
    SELECT p.id, p.type, 'operator' AS actor_type, p.actor_id, k.name AS actor_name, p.resource_type, p.resource_id, p.request_id,
      p.effective_at, p.account_id, a.email,
      CASE WHEN p.awaited AND c.event_id IS NULL THEN 'pending' ELSE 'completed' END AS status,
      CASE WHEN p.awaited THEN c.outcome ELSE 'succeeded' END AS outcome, c.code,
      CASE WHEN p.awaited THEN COALESCE(c.changes, '{}') ELSE p.changes END AS changes
    FROM page p LEFT JOIN audit_completion c ON c.event_id = p.id LEFT JOIN account a ON a.id = p.account_id
      LEFT JOIN operator_key k ON k.id = p.actor_id
    ORDER BY p.id COLLATE "C" DESC`
