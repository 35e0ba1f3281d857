import { Schema } from "effect"
import { Count, Usd } from "../Bounds.ts"

/** The last 24 hours, 7 days or 30 days, including the current hour or day. */
export const UsagePeriod = Schema.Literals(["1d", "7d", "30d"])

/** `period` defaults to 30 days. Any other value is rejected with `invalid_period`. */
export const UsageQuery = { period: Schema.optionalKey(UsagePeriod) }

/**
 * Usage figures. Tokens are zero for work that is not priced by them. `prompt_tokens` includes prompt cache reads and writes,
 * `completion_tokens` includes hidden reasoning. A request counts once it has ended, in any way, in the bucket in which it was made.
 * `cost_usd` is the charge minus later refunds.
 */
export const usageFigures = {
  requests: Count,
  prompt_tokens: Count,
  cached_tokens: Count,
  cache_creation_tokens: Count,
  completion_tokens: Count,
  reasoning_tokens: Count,
  cost_usd: Usd
}

/** The usage of one model at one provider in one time bucket. Times are Unix seconds. */
export const UsageBucket = Schema.Struct({
  object: Schema.Literal("bucket"),
  start_time: Schema.Int,
  end_time: Schema.Int,
  /** The model that served, or the requested model if none did. */
  model: Schema.String,
  /** Null when no provider served. */
  provider: Schema.NullOr(Schema.String),
  ...usageFigures
}).annotate({ identifier: "UsageBucket" })

/**
 * The account's usage in a period, up to the moment. Buckets are UTC hours for `1d` and UTC days for `7d` and `30d`, sorted by start,
 * model and provider. Buckets without usage are omitted. `end_time` is the end of the current bucket.
 */
export const UsageReport = Schema.Struct({
  object: Schema.Literal("usage"),
  period: UsagePeriod,
  start_time: Schema.Int,
  end_time: Schema.Int,
  totals: Schema.Struct(usageFigures),
  data: Schema.Array(UsageBucket),
  balance_usd: Schema.Finite
}).annotate({ identifier: "UsageReport" })
export type UsageReport = typeof UsageReport.Type
