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
  period: Schema.optionalKey(Period),
  start_time: Schema.optionalKey(integer(0, END_OF_TIME)),
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
  provider: Schema.optionalKey(Name),
  key_id: Schema.optionalKey(ResourceId),
  project_id: Schema.optionalKey(ResourceId),
  operation: Schema.optionalKey(Name),
  status: Schema.optionalKey(RequestStatus)
}

const Latency = Schema.NullOr(Schema.Finite)

/** Sums over a series. `latency_ms` is the average time from arrival to end; null without requests of known latency. */
const totals = Schema.Struct({
  requests: Count,
  failed_requests: Count,
  prompt_tokens: Count,
  completion_tokens: Count,
  cost_usd: Schema.Finite,
  latency_ms: Latency
})

/** One group, or all groups beyond the largest ones. Each list of `values` has one entry per bucket. */
export const UsageSeries = Schema.Struct({
  object: Schema.Literal("series"),
  /** The value of the dimension; null for requests without one, for the rest, and without `group_by`. */
  group: Schema.NullOr(Schema.String),
  /** Whether this is the rest: all groups without a series of their own. */
  is_rest: Schema.Boolean,
  totals,
  values: Schema.Struct({
    requests: Schema.Array(Count),
    failed_requests: Schema.Array(Count),
    prompt_tokens: Schema.Array(Count),
    completion_tokens: Schema.Array(Count),
    cost_usd: Schema.Array(Schema.Finite),
    latency_ms: Schema.Array(Latency)
  })
}).annotate({ identifier: "UsageSeries" })

/** The account's usage over time, up to the moment: the largest groups first, then the rest. Times are Unix seconds. */
export const UsageSeriesReport = Schema.Struct({
  object: Schema.Literal("usage_series"),
  start_time: Schema.Int,
  end_time: Schema.Int,
  interval: Interval,
  group_by: Schema.NullOr(Dimension),
  /** The starts of the buckets, without gaps. */
  buckets: Schema.Array(Schema.Int),
  totals,
  /** The number of groups with usage in the range. */
  groups: Count,
  data: Schema.Array(UsageSeries)
}).annotate({ identifier: "UsageSeriesReport" })
export type UsageSeriesReport = typeof UsageSeriesReport.Type
