import { Schema } from "effect"
import { Count, Usd } from "../Bounds.ts"

/** The last 24 hours, 7 days or 30 days, including the current hour or day. */
export const UsagePeriod = Schema.Literals(["1d", "7d", "30d"])

/** The period of a report. */
export const UsageQuery = {
  /**
   * The last 24 hours, 7 days or 30 days, including the current hour or day. Default: `30d`. Any other value is rejected with
   * `invalid_period`.
   */
  period: Schema.optionalKey(UsagePeriod)
}

/** Usage figures. Tokens are zero for work that is not priced by them. */
export const usageFigures = {
  /** Requests that have ended, in any way. Each counts in the bucket in which it was made. */
  requests: Count,
  /** The tokens of prompts, prompt cache reads and writes included. */
  prompt_tokens: Count,
  /** Tokens read from prompt caches. */
  cached_tokens: Count,
  /** Tokens written to prompt caches. */
  cache_creation_tokens: Count,
  /** The tokens of outputs, reasoning included. */
  completion_tokens: Count,
  /** The part of `completion_tokens` that was reasoning. */
  reasoning_tokens: Count,
  /** The charges minus later refunds. */
  cost_usd: Usd
}

/** The usage of one model at one provider in one time bucket. Times are Unix seconds. */
export const UsageBucket = Schema.Struct({
  object: Schema.Literal("bucket"),
  /** The start of the bucket. */
  start_time: Schema.Int,
  /** The end of the bucket, which it excludes. */
  end_time: Schema.Int,
  /** The model that served, or the requested model if none did. */
  model: Schema.String,
  /** Null when no provider served. */
  provider: Schema.NullOr(Schema.String),
  ...usageFigures
}).annotate({ identifier: "UsageBucket" })

/**
 * The account's usage in a period, up to the moment. Buckets are UTC hours for `1d` and UTC days for `7d` and `30d`, sorted by start,
 * model and provider. Buckets without usage are omitted.
 */
export const UsageReport = Schema.Struct({
  object: Schema.Literal("usage"),
  period: UsagePeriod,
  /** The start of the range, in Unix seconds. */
  start_time: Schema.Int,
  /** The end of the current bucket, in Unix seconds. */
  end_time: Schema.Int,
  /** The sums over all buckets. */
  totals: Schema.Struct(usageFigures),
  /** The buckets. */
  data: Schema.Array(UsageBucket),
  /** The account's balance. */
  balance_usd: Schema.Finite
}).annotate({ identifier: "UsageReport" })
export type UsageReport = typeof UsageReport.Type
