import { Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import type { McpToolName } from "../../schemas/Mcp.ts"
import type { PlanPrice } from "../../schemas/operator/Plans.ts"
import type { RoutingPolicy } from "../../schemas/Routing.ts"
import type { BudgetPeriodName } from "../domain/Budget.ts"
import type { DataPolicy } from "../domain/Plan.ts"
import { limitTo } from "../platform/database/Sql.ts"
import type { AccountState } from "./AccountsSql.ts"

type Sql = SqlClient.SqlClient

/** A key as `Auth` needs it, with the account's fields that decide a request. */
export interface KeyRow {
  readonly id: string
  readonly account_id: string
  readonly project_id: string | null
  readonly kind: "inference" | "management"
  readonly scopes: ReadonlyArray<string>
  readonly active: boolean
  readonly expires_at: Date | null
  readonly limit_scale: number
  /** Of the account, in basis points. */
  readonly markup_bp: number
  /** The price plan of the account; null without one. */
  readonly plan: KeyPlan | null
  /** The daily budget of the account, while its plan has one. */
  readonly daily_budget_id: string | null
  readonly account_state: AccountState
  readonly account_state_reason: string | null
  /** The budget of the key itself. */
  readonly budget_id: string | null
  readonly budget_period: BudgetPeriodName | null
  /** The budget of its project. */
  readonly project_budget_id: string | null
  readonly project_budget_period: BudgetPeriodName | null
  readonly budgets_epoch: number
  /** The routing policy of the key itself. */
  readonly routing: RoutingPolicy | null
  /** The policies of its project; null without a project. */
  readonly project_routing: RoutingPolicy | null
  readonly project_data_policy: DataPolicy | null
  /** The tools of the MCP server that the key may call; null for all. */
  readonly allowed_tools: ReadonlyArray<McpToolName> | null
  /** The database's time when it read the row. */
  readonly read_at: Date
}

/** The parts of a price plan that decide a request. */
export interface KeyPlan {
  readonly id: string
  readonly version: number
  readonly name: string
  /** In basis points. */
  readonly markup_bp: number
  readonly prices: ReadonlyArray<PlanPrice>
  readonly running_videos: number | null
  readonly running_batches: number | null
}

/** The requests per minute of chat at factor 1, as `ratelimit/Limits.ts` has them. */
export const CHAT_REQUESTS = 60

/** An account's own factor wins over the requests per minute of its plan, which are those of chat. */
const limitScale = `CASE WHEN a.limit_scale <> 1 OR plan.requests_per_minute IS NULL THEN a.limit_scale
  ELSE plan.requests_per_minute::float8 / ${CHAT_REQUESTS} END AS limit_scale`

const keyWhere = (sql: Sql, named: Statement.Fragment): Effect.Effect<KeyRow | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<KeyRow>`SELECT k.id, k.account_id, k.project_id, k.kind, k.scopes, k.expires_at, ${sql.literal(limitScale)},
        a.markup_bp, CASE WHEN plan.id IS NOT NULL THEN to_jsonb(plan) END AS plan,
        CASE WHEN plan.daily_spend IS NOT NULL THEN a.daily_budget_id END AS daily_budget_id,
        a.state AS account_state, a.state_reason AS account_state_reason,
        k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now()) AS active,
        k.budget_id, b.period AS budget_period, p.budget_id AS project_budget_id, shared.period AS project_budget_period,
        k.budgets_epoch, k.routing, p.routing AS project_routing, p.data_policy AS project_data_policy,
        k.allowed_tools, clock_timestamp() AS read_at
      FROM api_key k JOIN account a ON a.id = k.account_id LEFT JOIN price_plan plan ON plan.id = a.plan_id
        LEFT JOIN budget b ON b.id = k.budget_id
        LEFT JOIN project p ON p.id = k.project_id LEFT JOIN budget shared ON shared.id = p.budget_id
      WHERE ${named}`,
    (rows) => rows[0]
  )

export const keyByHash = (sql: Sql, hash: Uint8Array) => keyWhere(sql, sql`k.hash = ${hash}`)

export const keyRowById = (sql: Sql, id: string) => keyWhere(sql, sql`k.id = ${id}`)

/** Reports whether a key is usable now. Returns false for an unknown key and for a key of an account that is not active. */
export const keyIsActive = (sql: Sql, id: string): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql`SELECT 1 FROM api_key k JOIN account a ON a.id = k.account_id
      WHERE k.id = ${id} AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now()) AND a.state = 'active'`,
    (rows) => rows.length === 1
  )

/**
 * Locks the account, so that two concurrent creations cannot both take the last free place. `FOR NO KEY UPDATE` does not block rows
 * that only reference the account. Otherwise two transactions that have each inserted a claim for the account would wait for each
 * other.
 */
export const lockAccount = (sql: Sql, accountId: string) =>
  sql`SELECT id FROM account WHERE id = ${accountId} FOR NO KEY UPDATE`

/** Counts of working inference keys: `active` ones, and `replaced` ones that still work during their grace period. */
export interface WorkingKeys {
  readonly active: number
  readonly replaced: number
}

export const workingKeys = (sql: Sql, accountId: string): Effect.Effect<WorkingKeys, SqlError.SqlError> =>
  Effect.map(
    sql<WorkingKeys>`SELECT count(*) FILTER (WHERE replaced_by IS NULL)::int AS active, count(replaced_by)::int AS replaced
      FROM api_key WHERE account_id = ${accountId} AND kind = 'inference' AND revoked_at IS NULL
        AND COALESCE(expires_at, 'infinity'::timestamptz) > now()`,
    ([row = { active: 0, replaced: 0 }]) => row
  )

export interface NewKeyRow {
  readonly id: string
  readonly accountId: string
  readonly kind: "inference" | "management"
  readonly name: string
  readonly hash: Uint8Array
  readonly prefix: string
  readonly last4: string
  readonly scopes: ReadonlyArray<string>
  readonly projectId: string | null
  readonly budgetId: string | null
  readonly expiresAt: Date | null
  /** JSON text. */
  readonly routing: string | null
  readonly allowedTools: ReadonlyArray<McpToolName> | null
}

/** An array that may be null, as a parameter. */
const textsOf = (texts: ReadonlyArray<string> | null) => (texts === null ? null : [...texts])

export const insertKey = (sql: Sql, key: NewKeyRow) =>
  sql`INSERT INTO api_key (id, account_id, kind, name, hash, prefix, last4, scopes, project_id, budget_id, expires_at, routing,
      allowed_tools)
    VALUES (${key.id}, ${key.accountId}, ${key.kind}, ${key.name}, ${key.hash}, ${key.prefix}, ${key.last4},
      ${[...key.scopes]}::text[], ${key.projectId}::text, ${key.budgetId}::text, ${key.expiresAt}::timestamptz,
      ${key.routing}::json, ${textsOf(key.allowedTools)}::text[])`

export interface KeysOf {
  readonly accountId: string
  readonly kind: "inference" | "management"
}

/** Revokes a key unless it is revoked already. Returns its account, or undefined when no key matched. */
export const revokeKey = (sql: Sql, id: string, of: KeysOf | undefined) =>
  Effect.map(
    sql<{ account_id: string }>`UPDATE api_key SET revoked_at = now() WHERE id = ${id} AND revoked_at IS NULL
      AND (${of?.accountId ?? null}::text IS NULL OR account_id = ${of?.accountId ?? null} AND kind = ${of?.kind ?? null})
      RETURNING account_id`,
    (rows) => rows[0]?.account_id
  )

/**
 * Makes every node read the account's keys again before their next hold, because the ledger refuses a hold that knows an earlier epoch.
 */
export const outdateKeys = (sql: Sql, accountId: string) =>
  sql`UPDATE api_key SET budgets_epoch = budgets_epoch + 1 WHERE account_id = ${accountId} AND revoked_at IS NULL`

/** Revokes all keys of an account. Returns how many were not revoked before. */
export const revokeKeysOf = (sql: Sql, accountId: string): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql`UPDATE api_key SET revoked_at = now() WHERE account_id = ${accountId} AND revoked_at IS NULL RETURNING 1`,
    (rows) => rows.length
  )

/** A key as lists show it, with its budget in the current period. Amounts are in nano-USD. */
export interface KeyRecord {
  readonly id: string
  readonly name: string
  readonly prefix: string
  readonly last4: string
  readonly scopes: ReadonlyArray<string>
  readonly project_id: string | null
  readonly active: boolean
  readonly replaced_by: string | null
  readonly routing: RoutingPolicy | null
  readonly allowed_tools: ReadonlyArray<McpToolName> | null
  readonly budget_id: string | null
  readonly budget_limit: bigint | null
  readonly budget_period: BudgetPeriodName | null
  readonly budget_spent: bigint | null
  readonly created_at: Date
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
}

/** The start dates of the current periods. */
export type PeriodStarts = Readonly<Record<BudgetPeriodName, string>>

/** Looks up the budget of each key separately, so that the cost of a page does not grow with the number of budgets. */
const records = (sql: Sql, starts: PeriodStarts) => sql`
  SELECT k.id, k.name, k.prefix, k.last4, k.scopes, k.project_id, k.replaced_by, k.routing, k.allowed_tools, k.budget_id,
    k.created_at, k.expires_at, k.revoked_at, k.revoked_at IS NULL AND COALESCE(k.expires_at > now(), true) AS active,
    b.limit_nano AS budget_limit, b.period AS budget_period, b.spent AS budget_spent
  FROM api_key k LEFT JOIN LATERAL (
    SELECT g.limit_nano, g.period, COALESCE((SELECT p.spent FROM budget_period p WHERE p.budget_id = g.id
      AND p.period_start = CASE g.period WHEN 'daily' THEN ${starts.daily}::date WHEN 'weekly' THEN ${starts.weekly}::date
        WHEN 'monthly' THEN ${starts.monthly}::date ELSE ${starts.lifetime}::date END), 0) AS spent
    FROM budget g WHERE g.id = k.budget_id LIMIT 1
  ) AS b ON true`

/** A page of at most `limit` keys, newest first, that come after the cursor. */
export interface KeysPage {
  readonly cursor: string | null
  readonly limit: number
}

const behind = (sql: Sql, { accountId, kind }: KeysOf, { cursor, limit }: KeysPage) => sql`
  WHERE k.account_id = ${accountId} AND k.kind = ${kind} AND k.id COLLATE "C" < COALESCE(${cursor}::text, 'g')
  ORDER BY k.id COLLATE "C" DESC ${limitTo(sql, limit)}`

/** Returns a subquery for the IDs of a page, for use in other statements. */
export const idsOfPage = (sql: Sql, of: KeysOf, page: KeysPage): Statement.Fragment =>
  sql`SELECT k.id FROM api_key k ${behind(sql, of, page)}`

/** Returns keys, newest first, that come after the cursor. */
export const keysOf = (
  sql: Sql,
  of: KeysOf,
  { starts, ...page }: KeysPage & { readonly starts: PeriodStarts }
): Effect.Effect<ReadonlyArray<KeyRecord>, SqlError.SqlError> =>
  sql<KeyRecord>`${records(sql, starts)} ${behind(sql, of, page)}`

export const keyById = (
  sql: Sql,
  { accountId, kind }: KeysOf,
  id: string,
  starts: PeriodStarts
): Effect.Effect<KeyRecord | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<KeyRecord>`${records(sql, starts)} WHERE k.id = ${id} AND k.account_id = ${accountId} AND k.kind = ${kind}`,
    (rows) => rows[0]
  )

/** Prevents other transactions from changing the key until this one ends. */
export const lockKey = (sql: Sql, accountId: string, id: string) =>
  sql`SELECT 1 FROM api_key WHERE id = ${id} AND account_id = ${accountId} FOR NO KEY UPDATE`

/** Replaces a key with another one. The old key stops now, or after `graceSeconds` unless it expires earlier. */
export const replaceKey = (
  sql: Sql,
  {
    accountId,
    by,
    graceSeconds,
    id
  }: { readonly accountId: string; readonly id: string; readonly by: string } & {
    readonly graceSeconds: number
  }
) =>
  sql`UPDATE api_key SET replaced_by = ${by},
      revoked_at = CASE WHEN ${graceSeconds}::int = 0 THEN now() END,
      expires_at = CASE WHEN ${graceSeconds}::int = 0 THEN expires_at
        ELSE LEAST(expires_at, now() + ${graceSeconds}::int * interval '1 second') END
    WHERE id = ${id} AND account_id = ${accountId}`

/** The changeable settings of a key. */
export interface KeySettings {
  readonly name: string
  readonly projectId: string | null
  readonly budgetId: string | null
  readonly expiresAt: Date | null
  /** JSON text. */
  readonly routing: string | null
  readonly allowedTools: ReadonlyArray<McpToolName> | null
}

export const updateKey = (sql: Sql, accountId: string, id: string, to: KeySettings) =>
  sql`UPDATE api_key SET name = ${to.name}, project_id = ${to.projectId}::text, budget_id = ${to.budgetId}::text,
      expires_at = ${to.expiresAt}::timestamptz, routing = ${to.routing}::json,
      allowed_tools = ${textsOf(to.allowedTools)}::text[]
    WHERE id = ${id} AND account_id = ${accountId}`
