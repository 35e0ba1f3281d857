import { Schema } from "effect"
import { integer, sized } from "../Bounds.ts"
import { UsagePeriod, usageFigures } from "../account/Usage.ts"
import { Limit } from "../Page.ts"

/** The end of the year 9999, beyond which times have no usual form. */
const END_OF_TIME = 253_402_300_799

/** What usage can be told apart by. */
export const UsageDimension = Schema.Literals(["project", "key", "model", "provider"])

const BucketWidth = Schema.Literals(["1h", "1d"])

/**
 * A period up to now, 30 days unless told, or times as Unix seconds: from the bucket of `start_time` on, before `end_time`, which
 * is now unless told. At most 744 buckets of an hour, or 366 of a day.
 */
export const UsageBreakdownQuery = {
  period: Schema.optionalKey(UsagePeriod),
  start_time: Schema.optionalKey(integer(0, END_OF_TIME)),
  end_time: Schema.optionalKey(integer(0, END_OF_TIME)),
  /** A UTC day unless told, and an hour for the period `1d`. */
  bucket_width: Schema.optionalKey(BucketWidth),
  /** Given once or several times; model and provider unless told. */
  group_by: Schema.optionalKey(Schema.Array(UsageDimension).check(...sized(1, 4, "items"))),
  limit: Schema.optionalKey(Limit),
  /** The `next_cursor` of the page before. */
  cursor: Schema.optionalKey(Schema.String.check(...sized(1, 2_048, "characters")))
}

/** What was used in one bucket of time of what is told apart; only what was asked to be is named. Times are Unix seconds. */
export const UsageBreakdownBucket = Schema.Struct({
  object: Schema.Literal("bucket"),
  start_time: Schema.Int,
  end_time: Schema.Int,
  /** Null for keys in no project. */
  project_id: Schema.optionalKey(Schema.NullOr(Schema.String)),
  key_id: Schema.optionalKey(Schema.String),
  /** The model that served, or the one asked for where none did. */
  model: Schema.optionalKey(Schema.String),
  /** Null where no provider served. */
  provider: Schema.optionalKey(Schema.NullOr(Schema.String)),
  ...usageFigures
}).annotate({ identifier: "UsageBreakdownBucket" })

/**
 * What the account used, complete to the moment: buckets from the oldest on, where nothing was used there is none. `totals` are
 * those of all pages; `next_cursor` is null on the last one.
 */
export const UsageBreakdownReport = Schema.Struct({
  object: Schema.Literal("usage"),
  /** Null where times were given. */
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
