import { Schema } from "effect"
import { END_OF_TIME, integer, sized } from "../Bounds.ts"
import { UsagePeriod, usageFigures } from "../account/Usage.ts"
import { Limit } from "../Page.ts"

/** The dimensions by which usage can be grouped. */
export const UsageDimension = Schema.Literals(["project", "key", "model", "provider"])

/** The width of a bucket: an hour or a UTC day. */
const BucketWidth = Schema.Literals(["1h", "1d"])

/**
 * The time range: a period up to now (default: 30 days), or Unix times, from the bucket of `start_time` up to but not including
 * `end_time`, which defaults to now. At most 744 hourly or 366 daily buckets.
 */
export const UsageBreakdownQuery = {
  /** The range up to now, including the current hour or day. Default: `30d`. */
  period: Schema.optionalKey(UsagePeriod),
  /** The start of the range, in Unix seconds. Excludes `period`. */
  start_time: Schema.optionalKey(integer(0, END_OF_TIME)),
  /** The end of the range, which it excludes, in Unix seconds. Default: now. */
  end_time: Schema.optionalKey(integer(0, END_OF_TIME)),
  /** Default: a UTC day, or an hour for the period `1d`. */
  bucket_width: Schema.optionalKey(BucketWidth),
  /** May be given several times. Default: model and provider. */
  group_by: Schema.optionalKey(Schema.Array(UsageDimension).check(...sized(1, 4, "items"))),
  limit: Schema.optionalKey(Limit),
  /** The `next_cursor` of the previous page. */
  cursor: Schema.optionalKey(Schema.String.check(...sized(1, 2_048, "characters")))
}

/** The usage in one time bucket of one group. It contains only the requested dimensions. Times are Unix seconds. */
export const UsageBreakdownBucket = Schema.Struct({
  object: Schema.Literal("bucket"),
  /** The start of the bucket. */
  start_time: Schema.Int,
  /** The end of the bucket, which it excludes. */
  end_time: Schema.Int,
  /** Null for keys without a project. */
  project_id: Schema.optionalKey(Schema.NullOr(Schema.String)),
  /** The key that made the requests. */
  key_id: Schema.optionalKey(Schema.String),
  /** The model that served, or the requested model if none did. */
  model: Schema.optionalKey(Schema.String),
  /** Null when no provider served. */
  provider: Schema.optionalKey(Schema.NullOr(Schema.String)),
  ...usageFigures
}).annotate({ identifier: "UsageBreakdownBucket" })

/**
 * The account's usage, up to the moment: buckets from the oldest on, without empty ones. `next_cursor` is null on the last page.
 */
export const UsageBreakdownReport = Schema.Struct({
  object: Schema.Literal("usage"),
  /** Null when the query had times. */
  period: Schema.NullOr(UsagePeriod),
  /** The start of the range, in Unix seconds. */
  start_time: Schema.Int,
  /** The end of the range, in Unix seconds. */
  end_time: Schema.Int,
  bucket_width: BucketWidth,
  /** The dimensions of the groups. */
  group_by: Schema.Array(UsageDimension),
  /** The sums over all pages. */
  totals: Schema.Struct(usageFigures),
  /** The buckets. */
  data: Schema.Array(UsageBreakdownBucket),
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: Schema.NullOr(Schema.String),
  /** The account's balance. */
  balance_usd: Schema.Finite
}).annotate({ identifier: "UsageBreakdownReport" })
export type UsageBreakdownReport = typeof UsageBreakdownReport.Type
