import type { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { usageOutsideRollups } from "./RollupsSql.ts"

/** The dimensions of usage and their columns. */
export const dimensions = { project: "project_id", key: "key_id", model: "model", provider: "provider" } as const
export type Dimension = keyof typeof dimensions

/**
 * The position of a row: its bucket and its value for each dimension. A value is empty when there is none or the rows are not
 * grouped by it.
 */
export interface Position {
  readonly start: Date
  readonly project: string
  readonly key: string
  readonly model: string
  readonly provider: string
}

/** The usage of a group in a bucket, or in all buckets for the summary row. Amounts are in nano-USD. */
export interface BreakdownRow extends Position {
  readonly summary: boolean
  readonly requests: bigint
  readonly prompt: bigint
  readonly cached: bigint
  readonly cache_write: bigint
  readonly completion: bigint
  readonly reasoning: bigint
  readonly cost: bigint
}

export interface BreakdownSelection {
  readonly accountId: string
  readonly width: "hour" | "day"
  readonly from: Date
  readonly until: Date
  readonly by: ReadonlyArray<Dimension>
  /** The page continues after this position. */
  readonly after: Position | undefined
  readonly limit: number
}

const figures = ["requests", "prompt", "cached", "cache_write", "completion", "reasoning", "cost"]

/** Returns the table that answers the question with the fewest rows. */
const sourceOf = (by: ReadonlyArray<Dimension>): "usage_rollup" | "model_usage" =>
  by.includes("key") || by.includes("project") ? "usage_rollup" : "model_usage"

/**
 * Returns a page of rows in order of position, followed by the summary of all rows. It reads one moment and is complete up to it.
 * It reads the page's buckets one after another and stops after the last. The summary comes from sums that are not divided by key.
 */
export const breakdown = (
  sql: SqlClient.SqlClient,
  { accountId, after, by, from, limit, until, width }: BreakdownSelection
): Effect.Effect<ReadonlyArray<BreakdownRow>, SqlError.SqlError> => {
  const names = Object.keys(dimensions) as ReadonlyArray<Dimension>
  const position = sql.literal(names.join(", "))
  const grouped = sql.literal(
    names
      .map((name) => `${by.includes(name) ? `COALESCE(${dimensions[name]}, '')` : "''"} COLLATE "C" AS ${name}`)
      .join(", ")
  )
  const each = sql.literal(figures.join(", "))
  const summed = sql.literal(figures.map((figure) => `total(${figure}) AS ${figure}`).join(", "))
  const all = sql.literal(figures.map((figure) => `COALESCE(total(${figure}), 0) AS ${figure}`).join(", "))
  const source = sql.literal(sourceOf(by))
  const isBehind =
    after === undefined
      ? sql.literal("true")
      : sql`(start, ${position}) > (${after.start}, ${after.project}, ${after.key}, ${after.model}, ${after.provider})`
  return sql<BreakdownRow>`WITH live AS MATERIALIZED (
      SELECT date_trunc(${width}, created_at, 'UTC') AS start, ${grouped}, ${each}
        FROM (${usageOutsideRollups(sql, accountId)}) AS live WHERE created_at >= ${from} AND created_at < ${until}
    ), known AS MATERIALIZED (
      SELECT start, ${each} FROM model_usage
        WHERE account_id = ${accountId} AND width = ${width} AND start >= ${from} AND start < ${until}
      UNION ALL SELECT start, ${each} FROM live
    ), page AS (
      SELECT * FROM (
        SELECT DISTINCT start FROM known WHERE start >= ${after?.start ?? from} ORDER BY start
      ) AS bucket CROSS JOIN LATERAL (
        SELECT ${position}, ${summed} FROM (
          SELECT ${grouped}, ${each} FROM ${source}
            WHERE account_id = ${accountId} AND width = ${width} AND start = bucket.start
          UNION ALL SELECT ${position}, ${each} FROM live WHERE live.start = bucket.start
        ) AS facts GROUP BY ${position} HAVING total(requests) > 0
      ) AS sums
      WHERE ${isBehind} ORDER BY start, ${position} LIMIT ${limit}
    )
    SELECT false AS summary, start, ${position}, ${each} FROM page
    UNION ALL SELECT true, ${from}::timestamptz, '', '', '', '', ${all} FROM known
    ORDER BY summary, start, ${position}`
}
