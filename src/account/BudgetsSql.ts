import { Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import type { Nano } from "../domain/Money.ts"

export interface BudgetRow {
  readonly id: string
  readonly limit_nano: Nano
  readonly period: string
  /** Amounts in the current period. */
  readonly spent: Nano
  readonly held: Nano
}

export const insertBudget = (
  sql: SqlClient.SqlClient,
  budget: {
    readonly id: string
    readonly accountId: string
    readonly scope: string
    readonly ownerId: string
    readonly limit: Nano
    readonly period: string
  }
) =>
  sql`INSERT INTO budget (id, account_id, scope, owner_id, limit_nano, period)
    VALUES (${budget.id}, ${budget.accountId}, ${budget.scope}, ${budget.ownerId}, ${budget.limit}, ${budget.period})`

/** Changes the limit of an account's budget. Returns false when the account has no such budget with this period. */
export const changeLimit = (
  sql: SqlClient.SqlClient,
  budget: {
    readonly id: string
    readonly accountId: string
    readonly scope: string
    readonly limit: Nano
    readonly period: string
  }
): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql`UPDATE budget SET limit_nano = ${budget.limit} WHERE id = ${budget.id} AND account_id = ${budget.accountId}
      AND scope = ${budget.scope} AND period = ${budget.period} RETURNING id`,
    (rows) => rows.length === 1
  )

/** The start dates of the current periods. */
type PeriodStarts = Readonly<Record<"daily" | "weekly" | "monthly" | "lifetime", string>>

const budgetsWhere = (sql: SqlClient.SqlClient, named: Statement.Fragment, starts: PeriodStarts) =>
  sql<BudgetRow>`SELECT b.id, b.limit_nano, b.period, COALESCE(p.spent, 0) AS spent, COALESCE(p.held, 0) AS held
    FROM budget b LEFT JOIN budget_period p ON p.budget_id = b.id AND p.period_start = CASE b.period
      WHEN 'daily' THEN ${starts.daily}::date WHEN 'weekly' THEN ${starts.weekly}::date
      WHEN 'monthly' THEN ${starts.monthly}::date ELSE ${starts.lifetime}::date END
    WHERE ${named}`

/** Returns budgets with their spending. */
export const budgetsById = (
  sql: SqlClient.SqlClient,
  ids: ReadonlyArray<string>,
  starts: PeriodStarts
): Effect.Effect<ReadonlyArray<BudgetRow>, SqlError.SqlError> =>
  budgetsWhere(sql, sql`b.id = ANY (${[...ids]}::text[])`, starts)

/** Returns the budgets that a key's requests count toward: its own, its project's, and its account's daily one. */
export const budgetsOfKey = (
  sql: SqlClient.SqlClient,
  keyId: string,
  starts: PeriodStarts
): Effect.Effect<ReadonlyArray<BudgetRow>, SqlError.SqlError> =>
  budgetsWhere(
    sql,
    sql`b.id = ANY (ARRAY(SELECT unnest(ARRAY[k.budget_id, j.budget_id, CASE WHEN p.daily_spend IS NOT NULL THEN a.daily_budget_id END])
      FROM api_key k JOIN account a ON a.id = k.account_id LEFT JOIN price_plan p ON p.id = a.plan_id
        LEFT JOIN project j ON j.id = k.project_id WHERE k.id = ${keyId}))`,
    starts
  )
