import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { PlanPrice } from "../../schemas/operator/Plans.ts"
import type { Nano } from "../domain/Money.ts"

type Sql = SqlClient.SqlClient

/** The properties of a plan that an operator sets. */
export interface PlanFacts {
  readonly name: string
  /** In basis points. */
  readonly markup_bp: number
  readonly prices: ReadonlyArray<PlanPrice>
  readonly requests_per_minute: number | null
  readonly running_videos: number | null
  readonly running_batches: number | null
  readonly daily_spend: Nano | null
}

/** A price plan and the number of its accounts. */
export interface PlanRow extends PlanFacts {
  readonly id: string
  readonly created_at: Date
  readonly accounts: number
}

const plans = (sql: Sql) =>
  sql.literal(`SELECT p.id, p.name, p.markup_bp, p.prices, p.requests_per_minute, p.running_videos, p.running_batches, p.daily_spend,
    p.created_at, (SELECT count(*) FROM account a WHERE a.plan_id = p.id)::int AS accounts FROM price_plan p`)

export const allPlans = (sql: Sql): Effect.Effect<ReadonlyArray<PlanRow>, SqlError.SqlError> =>
  sql<PlanRow>`${plans(sql)} ORDER BY lower(p.name)`

/** Returns the plan with this ID or name. */
export const planNamed = (sql: Sql, name: string): Effect.Effect<PlanRow | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<PlanRow>`${plans(sql)} WHERE p.id = ${name} OR lower(p.name) = lower(${name}) ORDER BY p.id = ${name} DESC LIMIT 1`,
    (rows) => rows[0]
  )

export const insertPlan = (sql: Sql, id: string, plan: PlanFacts) =>
  sql`INSERT INTO price_plan (id, name, markup_bp, prices, requests_per_minute, running_videos, running_batches, daily_spend)
    VALUES (${id}, ${plan.name}, ${plan.markup_bp}, ${JSON.stringify(plan.prices)}::jsonb, ${plan.requests_per_minute}::int,
      ${plan.running_videos}::int, ${plan.running_batches}::int, ${plan.daily_spend}::bigint)`

/** Changes a plan. Its version tells nodes that the prices they keep of it are outdated. */
export const updatePlan = (sql: Sql, id: string, plan: PlanFacts) =>
  sql`UPDATE price_plan SET name = ${plan.name}, markup_bp = ${plan.markup_bp}, prices = ${JSON.stringify(plan.prices)}::jsonb,
      requests_per_minute = ${plan.requests_per_minute}::int, running_videos = ${plan.running_videos}::int,
      running_batches = ${plan.running_batches}::int, daily_spend = ${plan.daily_spend}::bigint, version = version + 1
    WHERE id = ${id}`

/** Locks a plan and returns it. While it is locked, no account joins it. */
export const lockPlan = (sql: Sql, id: string): Effect.Effect<PlanRow | undefined, SqlError.SqlError> =>
  Effect.andThen(sql`SELECT 1 FROM price_plan WHERE id = ${id} FOR UPDATE`, planNamed(sql, id))

export const deletePlan = (sql: Sql, id: string) => sql`DELETE FROM price_plan WHERE id = ${id}`

/** Sets the plan of an account. Returns the former plan's ID; undefined for an unknown account. */
export const setPlanOf = (sql: Sql, accountId: string, planId: string | null) =>
  Effect.map(
    sql<{
      former: string | null
    }>`WITH before AS (SELECT id, plan_id FROM account WHERE id = ${accountId} FOR NO KEY UPDATE)
      UPDATE account a SET plan_id = ${planId}::text FROM before b WHERE a.id = b.id RETURNING b.plan_id AS former`,
    (rows) => rows[0]?.former
  )

/**
 * Gives every account of a plan with a daily limit a budget of that limit. An account keeps its budget when its plan has no such limit,
 * so that a later one counts what the day has spent.
 */
export const setDailyBudgets = (sql: Sql, planId: string) =>
  Effect.andThen(
    sql`WITH fresh AS (
        INSERT INTO budget (id, account_id, scope, owner_id, limit_nano, period)
          SELECT substr(replace(gen_random_uuid()::text, '-', ''), 1, 24), a.id, 'account', a.id, p.daily_spend, 'daily'
          FROM account a JOIN price_plan p ON p.id = a.plan_id
          WHERE p.id = ${planId} AND p.daily_spend IS NOT NULL AND a.daily_budget_id IS NULL
        RETURNING id, account_id)
      UPDATE account a SET daily_budget_id = f.id FROM fresh f WHERE a.id = f.account_id`,
    sql`UPDATE budget b SET limit_nano = p.daily_spend FROM account a JOIN price_plan p ON p.id = a.plan_id
      WHERE p.id = ${planId} AND p.daily_spend IS NOT NULL AND b.id = a.daily_budget_id`
  )

/** Makes every node read the keys of the plan's accounts again before their next hold. */
export const outdateKeysOfPlan = (sql: Sql, planId: string) =>
  sql`UPDATE api_key SET budgets_epoch = budgets_epoch + 1
    WHERE account_id IN (SELECT id FROM account WHERE plan_id = ${planId}) AND revoked_at IS NULL`
