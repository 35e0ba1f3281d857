import { Schema } from "effect"
import { RequestStatus } from "../account/Requests.ts"
import { Count, END_OF_TIME, integer, sized } from "../Bounds.ts"
import { ModelString, ResourceId } from "../Ids.ts"

const Dimension = Schema.Literals(["model", "provider", "key", "project", "operation", "status"])

const Interval = Schema.Literals(["minute", "hour", "day", "week"])

const Figure = Schema.Literals([
  "cost_usd",
  "requests",
  "prompt_tokens",
  "completion_tokens",
  "failed_requests",
  "latency_ms"
] as const)

const Period = Schema.Literals(["1h", "1d", "7d", "30d"])

const Name = Schema.String.check(...sized(1, 64, "characters"))

/**
 * The time range: a period up to now (default: 7 days), or Unix times, from the bucket of `start_time` up to but not including
 * `end_time`, which defaults to now. At most 360 buckets of a minute, 744 of an hour, 366 of a day or 105 of a week. The filters
 * combine: only requests that match all of them count.
 */
export const UsageSeriesQuery = {
  /** The range up to now. Default: `7d`. */
  period: Schema.optionalKey(Period),
  /** The start of the range, in Unix seconds. Excludes `period`. */
  start_time: Schema.optionalKey(integer(0, END_OF_TIME)),
  /** The end of the range, which it excludes, in Unix seconds. Default: now. */
  end_time: Schema.optionalKey(integer(0, END_OF_TIME)),
  /** The width of a bucket, in UTC; weeks begin on Mondays. Default: minutes up to 6 hours, hours up to 3 days, days up to a year. */
  interval: Schema.optionalKey(Interval),
  /** The property that divides the usage into series. Default: none, which gives one series. */
  group_by: Schema.optionalKey(Dimension),
  /** The figure by which groups are ranked. Default: `cost_usd`. */
  rank_by: Schema.optionalKey(Figure),
  /** The number of groups with a series of their own, from 1 to 20. Default: 8. The rest share one series. */
  top: Schema.optionalKey(integer(1, 20)),
  /** The model that served, or the requested model if none did. */
  model: Schema.optionalKey(ModelString),
  /** The provider that served. */
  provider: Schema.optionalKey(Name),
  /** The key that made the requests. */
  key_id: Schema.optionalKey(ResourceId),
  /** The project of that key. */
  project_id: Schema.optionalKey(ResourceId),
  /** The `operation` of the receipts, such as `chat.completions`. */
  operation: Schema.optionalKey(Name),
  /** The status of the receipts. */
  status: Schema.optionalKey(RequestStatus)
}

/** The average time from arrival to end; null without requests of known latency. */
const Latency = Schema.NullOr(Schema.Finite)

/** The figures of all buckets together. */
const totals = Schema.Struct({
  /** Requests that have ended. */
  requests: Count,
  /** Requests that failed. */
  failed_requests: Count,
  /** The tokens of prompts, prompt cache reads and writes included. */
  prompt_tokens: Count,
  /** The tokens of outputs, reasoning included. */
  completion_tokens: Count,
  /** The charges minus later refunds. */
  cost_usd: Schema.Finite,
  latency_ms: Latency
})

/** One group, or all groups beyond the largest ones. */
export const UsageSeries = Schema.Struct({
  object: Schema.Literal("series"),
  /** The value of the dimension; null for requests without one, for the rest, and without `group_by`. */
  group: Schema.NullOr(Schema.String),
  /** Whether this is the rest: all groups without a series of their own. */
  is_rest: Schema.Boolean,
  totals,
  /** The figures of `totals` by bucket: each list has one entry per bucket. */
  values: Schema.Struct({
    /** Requests that have ended. */
    requests: Schema.Array(Count),
    /** Requests that failed. */
    failed_requests: Schema.Array(Count),
    /** The tokens of prompts. */
    prompt_tokens: Schema.Array(Count),
    /** The tokens of outputs. */
    completion_tokens: Schema.Array(Count),
    /** The charges minus later refunds. */
    cost_usd: Schema.Array(Schema.Finite),
    /** The average times from arrival to end. */
    latency_ms: Schema.Array(Latency)
  })
}).annotate({ identifier: "UsageSeries" })

/** The account's usage over time, up to the moment: the largest groups first, then the rest. Times are Unix seconds. */
export const UsageSeriesReport = Schema.Struct({
  object: Schema.Literal("usage_series"),
  /** The start of the range. */
  start_time: Schema.Int,
  /** The end of the range. */
  end_time: Schema.Int,
  /** The width of a bucket. */
  interval: Interval,
  /** The property that divides the usage into series; null without one. */
  group_by: Schema.NullOr(Dimension),
  /** The starts of the buckets, without gaps. */
  buckets: Schema.Array(Schema.Int),
  totals,
  /** The number of groups with usage in the range. */
  groups: Count,
  /** The series: the largest groups first, then the rest. */
  data: Schema.Array(UsageSeries)
}).annotate({ identifier: "UsageSeriesReport" })
export type UsageSeriesReport = typeof UsageSeriesReport.Type
