import { Schema } from "effect"
import { Count, Usd } from "../Bounds.ts"

/** How far back: the last 24 hours, 7 days or 30 days, of which the one that runs is the last. */
export const UsagePeriod = Schema.Literals(["1d", "7d", "30d"])

/** Without `period` it is 30 days; any other value is refused with `invalid_period`. */
export const UsageQuery = { period: Schema.optionalKey(UsagePeriod) }

/**
 * Tokens are zero for work that is not priced by them. `prompt_tokens` has those read from and written to a prompt cache in it,
 * `completion_tokens` those of hidden reasoning. Requests count when they have ended, however they did, and in the bucket in which
 * they were made; `cost_usd` is what was charged less what was given back since.
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

/** What was used of one model at one provider in one bucket of time; times are Unix seconds. */
export const UsageBucket = Schema.Struct({
  object: Schema.Literal("bucket"),
  start_time: Schema.Int,
  end_time: Schema.Int,
  /** The model that served, or the one asked for where none did. */
  model: Schema.String,
  /** Null where no provider served. */
  provider: Schema.NullOr(Schema.String),
  ...usageFigures
}).annotate({ identifier: "UsageBucket" })

/**
 * What the account used in a period, complete to the moment. Buckets are UTC hours for `1d` and UTC days for `7d` and `30d`, sorted
 * by start, model and provider; where nothing was used there is none. `end_time` is when the bucket that runs will end.
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
