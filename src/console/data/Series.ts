/** Spans of time, and usage in series to draw. */
import type { UsageBreakdownBucket } from "../../client/Contract.ts"

export const ranges = ["24h", "7d", "30d"] as const
export type Range = (typeof ranges)[number]

export const dimensions = ["model", "key", "provider", "project"] as const
export type Dimension = (typeof dimensions)[number]

export const HOUR = 3_600
const DAY = 86_400

const lengths: Readonly<Record<Range, { readonly width: number; readonly buckets: number }>> = {
  "24h": { width: HOUR, buckets: 24 },
  "7d": { width: DAY, buckets: 7 },
  "30d": { width: DAY, buckets: 30 }
}

/** A span of whole buckets, as Unix seconds, with its end excluded. */
export interface Span {
  readonly start: number
  readonly end: number
  readonly width: number
}

/** The span of a range that ends with the bucket of `now`. */
export const spanOf = (range: Range, now: number): Span => {
  const { buckets, width } = lengths[range]
  const end = (Math.floor(now / width) + 1) * width
  return { start: end - buckets * width, end, width }
}

/** The span of equal length before a span. */
export const spanBefore = ({ end, start, width }: Span): Span => ({ start: start - (end - start), end: start, width })

export type Metric = "cost" | "requests" | "tokens"

/** The figure of a bucket that a metric names. */
export const figureOf = (bucket: Omit<UsageBreakdownBucket, "object" | "start_time" | "end_time">, metric: Metric) => {
  if (metric === "cost") return bucket.cost_usd
  if (metric === "requests") return bucket.requests
  return bucket.prompt_tokens + bucket.cached_tokens + bucket.cache_creation_tokens + bucket.completion_tokens
}

/** The group of a bucket: an id, or null for what has none. */
export const groupOf = (bucket: UsageBreakdownBucket, by: Dimension): string | null => {
  if (by === "model") return bucket.model ?? null
  if (by === "key") return bucket.key_id ?? null
  return (by === "provider" ? bucket.provider : bucket.project_id) ?? null
}

export interface Series {
  /** Undefined for the rest that has no colour of its own. */
  readonly group: string | null | undefined
  readonly values: ReadonlyArray<number>
  readonly total: number
}

/** The sums of a metric in each bucket of a span. */
export const totalsIn = (buckets: ReadonlyArray<UsageBreakdownBucket>, span: Span, metric: Metric): Array<number> => {
  const values = Array.from({ length: (span.end - span.start) / span.width }, () => 0)
  for (const bucket of buckets) {
    const at = (bucket.start_time - span.start) / span.width
    if (values[at] !== undefined) values[at] += figureOf(bucket, metric)
  }
  return values
}

/** The groups with the largest sums, each with its values, and the rest as one series. */
export const seriesOf = (
  buckets: ReadonlyArray<UsageBreakdownBucket>,
  span: Span,
  { by, metric, most }: { readonly by: Dimension; readonly metric: Metric; readonly most: number }
): ReadonlyArray<Series> => {
  const groups = Map.groupBy(buckets, (bucket) => groupOf(bucket, by))
  const sorted = [...groups]
    .map(([group, own]) => {
      const values = totalsIn(own, span, metric)
      return { group, values, total: values.reduce((sum, value) => sum + value, 0) }
    })
    .toSorted((a, b) => b.total - a.total)
  if (sorted.length <= most) return sorted
  const rest = sorted.slice(most - 1)
  const values = rest[0]!.values.map((_, at) => rest.reduce((sum, one) => sum + one.values[at]!, 0))
  return [
    ...sorted.slice(0, most - 1),
    { group: undefined, values, total: rest.reduce((sum, one) => sum + one.total, 0) }
  ]
}

export interface GroupRow {
  readonly group: string | null
  readonly cost: number
  readonly requests: number
  readonly tokens: number
}

/** Every group with its sums, the dearest first. */
export const rowsOf = (buckets: ReadonlyArray<UsageBreakdownBucket>, by: Dimension): ReadonlyArray<GroupRow> =>
  [...Map.groupBy(buckets, (bucket) => groupOf(bucket, by))]
    .map(([group, own]) => ({
      group,
      cost: own.reduce((sum, bucket) => sum + figureOf(bucket, "cost"), 0),
      requests: own.reduce((sum, bucket) => sum + figureOf(bucket, "requests"), 0),
      tokens: own.reduce((sum, bucket) => sum + figureOf(bucket, "tokens"), 0)
    }))
    .toSorted((a, b) => b.cost - a.cost || b.requests - a.requests)
