import type { Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import { firstRequestIdAt } from "../platform/Ids.ts"
import { usageOutsideRollups, ofRequests } from "./RollupsSql.ts"

/** The dimensions of a series and their columns. */
const seriesDimensions = {
  model: "model",
  provider: "provider",
  key: "key_id",
  project: "project_id",
  operation: "operation",
  status: "status"
} as const
export type SeriesDimension = keyof typeof seriesDimensions

/** The figures by which groups can be ranked, as expressions over sums. */
const ranks = {
  cost: "total(cost)",
  requests: "total(requests)",
  prompt: "total(prompt)",
  completion: "total(completion)",
  failed: "total(failed)",
  latency: "total(latency_us)::float8 / NULLIF(total(timed), 0)"
} as const
export type SeriesRank = keyof typeof ranks

export type SeriesInterval = "minute" | "hour" | "day" | "week"

/** The values that a request must have to count. */
export type SeriesFilters = { readonly [Name in SeriesDimension]?: string | undefined }

export interface SeriesSelection {
  readonly accountId: string
  readonly interval: SeriesInterval
  readonly from: Date
  readonly until: Date
  /** Absent: everything is one group. */
  readonly by: SeriesDimension | undefined
  readonly rank: SeriesRank
  /** The groups with a series of their own. The rest share one. */
  readonly top: number
  readonly filters: SeriesFilters
}

/** The figures of a group in a bucket. Amounts are in nano-USD, latencies in microseconds summed over `timed` requests. */
export interface SeriesRow {
  /** From 1; one more than `top` for the rest. */
  readonly place: number
  /** Null for what has no value; meaningless for the rest. */
  readonly group: string | null
  /** How many groups there are, over all places. */
  readonly groups: number
  readonly start: Date
  readonly requests: bigint
  readonly failed: bigint
  readonly prompt: bigint
  readonly completion: bigint
  readonly cost: bigint
  readonly latency_us: bigint
  readonly timed: bigint
}

const figures = ["requests", "failed", "prompt", "completion", "cost", "latency_us", "timed"]

/** A node's clock may differ from the database's by less than this. Reading further changes no result. */
const SKEW_MS = 60_000

/** The rollups that answer the question with the fewest rows. */
const sourceOf = ({ by, filters }: SeriesSelection): "usage_rollup" | "model_usage" => {
  const isNarrow = by === "key" || by === "project" || filters.key !== undefined || filters.project !== undefined
  return isNarrow ? "usage_rollup" : "model_usage"
}

/** Returns sums of the largest groups and of the rest in each bucket that has any. It reads one moment and is complete up to it. */
export const seriesOf = (
  sql: SqlClient.SqlClient,
  selection: SeriesSelection
): Effect.Effect<ReadonlyArray<SeriesRow>, SqlError.SqlError> => {
  const { accountId, by, filters, from, interval, rank, top, until } = selection
  // Empty for what has no value: PostgreSQL joins on equality by hashing, and on IS NOT DISTINCT FROM by comparing each with each.
  const group = sql.literal(by === undefined ? "''::text" : `COALESCE(${seriesDimensions[by]}, '')`)
  const each = sql.literal(
    figures
      .map((name) => (name === "failed" ? "CASE WHEN status = 'failed' THEN requests ELSE 0 END AS failed" : name))
      .join(", ")
  )
  const summed = sql.literal(figures.map((name) => `total(${name}) AS ${name}`).join(", "))
  const matches = Object.entries(filters).reduce<Statement.Fragment>(
    (all, [name, value]) =>
      value === undefined ? all : sql`${all} AND ${sql.literal(seriesDimensions[name as SeriesDimension])} = ${value}`,
    sql.literal("")
  )
  const past =
    interval === "minute"
      ? sql.literal("")
      : sql`SELECT ${interval === "week" ? sql`date_trunc('week', start, 'UTC')` : sql.literal("start")} AS start, ${group} AS named, ${each} FROM ${sql.literal(sourceOf(selection))}
        WHERE account_id = ${accountId} AND width = ${interval === "hour" ? "hour" : "day"} AND start >= ${from} AND start < ${until}
          ${matches} UNION ALL`
  const rest =
    interval === "minute"
      ? ofRequests(sql, accountId, {
          from: firstRequestIdAt(Math.max(0, from.getTime() - SKEW_MS)),
          until: firstRequestIdAt(until.getTime() + SKEW_MS)
        })
      : usageOutsideRollups(sql, accountId)
  return sql<SeriesRow>`WITH facts AS MATERIALIZED (
      SELECT start, named, ${summed} FROM (
        ${past} SELECT date_trunc(${interval}, created_at, 'UTC') AS start, ${group} AS named, ${each} FROM (${rest}) AS live
          WHERE created_at >= ${from} AND created_at < ${until} ${matches}
      ) AS known GROUP BY start, named
    ), ranked AS MATERIALIZED (
      SELECT named, row_number() OVER (ORDER BY ${sql.literal(ranks[rank])} DESC NULLS LAST, named COLLATE "C") AS place
        FROM facts GROUP BY named HAVING total(requests) > 0
    )
    SELECT LEAST(place, ${top + 1}::int)::int AS place, NULLIF(min(ranked.named), '') AS "group", (SELECT count(*)::int FROM ranked) AS groups,
      start, ${summed}
    FROM facts JOIN ranked USING (named)
    GROUP BY 1, start ORDER BY 1, start`
}
