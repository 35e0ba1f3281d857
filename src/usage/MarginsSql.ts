import type { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { limitTo } from "../platform/database/Sql.ts"
import { unrolledMargins } from "./RollupsSql.ts"

/** The dimensions of a report and their columns. */
export const marginDimensions = {
  day: "to_char(day, 'YYYY-MM-DD')",
  account: "account_id",
  model: "model",
  provider: "COALESCE(provider, '')"
} as const
export type MarginDimension = keyof typeof marginDimensions

/** The group of a row. A value is empty when the report is not grouped by it, and for requests that no provider served. */
export type MarginGroup = Readonly<Record<MarginDimension, string>>

/** The revenue and the cost of a group of requests. Amounts are in nano-USD. */
export interface MarginRow extends MarginGroup {
  /** All groups together. */
  readonly summary: boolean
  /** Of the account; null when the report is not grouped by it. */
  readonly email: string | null
  readonly requests: bigint
  /** What accounts paid, less refunds. */
  readonly revenue: bigint
  /** What the providers charge for it, as far as known. */
  readonly provider_cost: bigint
  /** What attempts that served no answer cost, reported or estimated. They count for their own provider and model. */
  readonly attempt_cost: bigint
  /** Charged requests of which the provider's cost is unknown. */
  readonly uncosted: bigint
  /** The price of what was used beyond holds, which the operator bears. */
  readonly absorbed: bigint
}

export interface MarginSelection {
  /** The first day and the day after the last, `YYYY-MM-DD`, in UTC. */
  readonly from: string
  readonly until: string
  readonly by: ReadonlyArray<MarginDimension>
  /** Absent: all accounts. */
  readonly accountId: string | undefined
  /** Whether to report requests paid with simulated money, or those paid with real money. */
  readonly play: boolean
  /** The page continues after this group. */
  readonly after: MarginGroup | undefined
  readonly limit: number
}

const names = Object.keys(marginDimensions) as ReadonlyArray<MarginDimension>
const figures = ["requests", "revenue", "provider_cost", "attempt_cost", "uncosted", "absorbed"]

/** Returns a page of groups in their order, then the sum of all groups. It reads one moment and is complete up to it. */
export const marginsOf = (
  sql: SqlClient.SqlClient,
  { accountId, after, by, from, limit, play, until }: MarginSelection
): Effect.Effect<ReadonlyArray<MarginRow>, SqlError.SqlError> => {
  const group = sql.literal(names.join(", "))
  const columns = sql.literal(
    names.map((name) => `${by.includes(name) ? marginDimensions[name] : "''"} COLLATE "C" AS ${name}`).join(", ")
  )
  const each = sql.literal(figures.join(", "))
  const summed = sql.literal(figures.map((figure) => `total(${figure}) AS ${figure}`).join(", "))
  const all = sql.literal(figures.map((figure) => `COALESCE(total(${figure}), 0) AS ${figure}`).join(", "))
  const behind =
    after === undefined
      ? sql.literal("true")
      : sql`(${group}) > (${after.day}, ${after.account}, ${after.model}, ${after.provider})`
  return sql<MarginRow>`WITH facts AS MATERIALIZED (
      SELECT ${columns}, ${each} FROM (
        SELECT day, account_id, model, provider, play, ${each} FROM margin_day WHERE day >= ${from}::date AND day < ${until}::date
        UNION ALL SELECT (created_at AT TIME ZONE 'UTC')::date, account_id, model, provider, play, requests, cost,
          provider_cost, 0, uncosted, absorbed FROM (${unrolledMargins(sql)}) AS live
          WHERE created_at >= ${from}::date::timestamp AT TIME ZONE 'UTC' AND created_at < ${until}::date::timestamp AT TIME ZONE 'UTC'
        UNION ALL SELECT day, account_id, model, provider, play, 0, 0, 0, cost, 0, 0 FROM attempt_cost
          WHERE day >= ${from}::date AND day < ${until}::date
      ) AS known WHERE play = ${play} AND (${accountId ?? null}::text IS NULL OR account_id = ${accountId ?? null})
    ), page AS (
      SELECT ${group}, ${summed} FROM facts WHERE ${behind} GROUP BY ${group} HAVING total(requests) > 0 OR total(attempt_cost) > 0
      ORDER BY ${group} ${limitTo(sql, limit)}
    )
    SELECT false AS summary, ${group}, (SELECT email FROM account a WHERE a.id = page.account) AS email, ${each} FROM page
    UNION ALL SELECT true, '', '', '', '', NULL, ${all} FROM facts
    ORDER BY summary, ${group}`
}
