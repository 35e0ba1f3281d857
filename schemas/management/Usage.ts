import { Schema } from "effect"
import { END_OF_TIME, integer, sized } from "../Bounds.ts"
import { UsagePeriod, usageFigures } from "../account/Usage.ts"
import { Limit } from "../Page.ts"

/** The dimensions by which usage can be grouped. */
export const UsageDimension = Schema.Literals(["project", "key", "model", "provider"])

const BucketWidth = Schema.Literals(["1h", "1d"])

/**
 * The time range: a period up to now (default: 30 days), or Unix times, from the bucket of `start_time` up to but not including
 * `end_time`, which defaults to now. At most 744 hourly or 366 daily buckets.
 */
export const UsageBreakdownQuery = {
  period: Schema.optionalKey(UsagePeriod),
  start_time: Schema.optionalKey(integer(0, END_OF_TIME)),
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
  start_time: Schema.Int,
  end_time: Schema.Int,
  /** Null for keys without a project. */
  project_id: Schema.optionalKey(Schema.NullOr(Schema.String)),
  key_id: Schema.optionalKey(Schema.String),
  /** The model that served, or the requested model if none did. */
  model: Schema.optionalKey(Schema.String),
  /** Null when no provider served. */
  provider: Schema.optionalKey(Schema.NullOr(Schema.String)),
  ...usageFigures
}).annotate({ identifier: "UsageBreakdownBucket" })

/**
 * The account's usage, up to the moment: buckets from the oldest on, without empty ones. `totals` cover all pages. `next_cursor` is
 * null on the last page.
 */
export const UsageBreakdownReport = Schema.Struct({
  object: Schema.Literal("usage"),
  /** Null when the query had times. */
  period: Schema.NullOr(UsagePeriod),
  start_time: Schema.Int,
  end_time: Schema.Int,
  bucket_width: BucketWidth,
  group_by: Schema.Array(UsageDimension),
  totals: Schema.Struct(usageFigures),
  data: Schema.Array(UsageBreakdownBucket),
  next_cursor: Schema.NullOr(Schema.String),
  balance_usd: Schema.Finite
}).annotate({ identifier: "UsageBreakdownReport" })
export type UsageBreakdownReport = typeof UsageBreakdownReport.Type
