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

export type Metric = "cost" | "requests" | "tokens"

/** The figure of a bucket that a metric names. */
export const figureOf = (bucket: Omit<UsageBreakdownBucket, "object" | "start_time" | "end_time">, metric: Metric) => {
  if (metric === "cost") return bucket.cost_usd
  if (metric === "requests") return bucket.requests
  return bucket.prompt_tokens + bucket.completion_tokens
}

/** The group of a bucket: an id, or null for what has none. */
export const groupOf = (bucket: UsageBreakdownBucket, by: Dimension): string | null => {
  if (by === "model") return bucket.model ?? null
  if (by === "key") return bucket.key_id ?? null
  return (by === "provider" ? bucket.provider : bucket.project_id) ?? null
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
