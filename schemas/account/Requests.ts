import { Schema } from "effect"
import { between, Count, END_OF_TIME, integer, sized, Usd } from "../Bounds.ts"
import { ModelString, RequestId, ResourceId } from "../Ids.ts"
import { Limit } from "../Page.ts"
import { RoutingSummary } from "../Routing.ts"

const Ms = Schema.NullOr(Schema.Finite)

/** Tokens in disjoint buckets: no token is in two of the first three. `reasoning_tokens` is a part of `output_tokens`. */
export const ReceiptTokens = Schema.Struct({
  input_tokens: Count,
  cached_tokens: Count,
  cache_creation_tokens: Count,
  /** The part of `cache_creation_tokens` that the provider keeps for an hour; absent where there is none. */
  cache_creation_1h_tokens: Schema.optionalKey(Count),
  output_tokens: Count,
  reasoning_tokens: Count
}).annotate({ identifier: "ReceiptTokens" })

const Unit = Schema.Literals(["request", "image", "second", "character"])

/** The usage of work that is not measured in tokens, such as spoken characters or searches. */
export const ReceiptUnits = Schema.Struct({ units: Count, unit: Unit }).annotate({ identifier: "ReceiptUnits" })

/** Tokens, or units of another kind, depending on the model's price. */
export const ReceiptUsage = Schema.Union([ReceiptTokens, ReceiptUnits]).annotate({ identifier: "ReceiptUsage" })

/** The promotion that lowered the rates. */
const promotion = Schema.optionalKey(Schema.Struct({ label: Schema.String, discount_percent: Schema.Finite }))

/** The name of the price plan that the account belonged to. */
const plan = Schema.optionalKey(Schema.String)

/** Rates in USD per token when the request was admitted. */
export const ReceiptTokenPrice = Schema.Struct({
  unit: Schema.Literal("token"),
  input: Usd,
  cached_input: Usd,
  cache_write: Usd,
  /** The rate for `cache_creation_1h_tokens`; there only where the request asked for an hour and the price list has such a rate. */
  cache_write_1h: Schema.optionalKey(Usd),
  output: Usd,
  per_request: Usd,
  promotion,
  plan
}).annotate({ identifier: "ReceiptTokenPrice" })

/** The price in USD per unit when the request was admitted. */
export const ReceiptUnitPrice = Schema.Struct({
  unit: Unit,
  per_unit: Usd,
  promotion,
  plan
}).annotate({ identifier: "ReceiptUnitPrice" })

/** Rates per token, or the price of one unit of another kind. */
export const ReceiptPrice = Schema.Union([ReceiptTokenPrice, ReceiptUnitPrice]).annotate({ identifier: "ReceiptPrice" })

/** When one attempt ran, in milliseconds. */
export const AttemptTiming = Schema.Struct({
  /** The `attempt_index` of `routing.provider_attempts`. */
  attempt_index: Count,
  /** From the arrival of the request to the start of the attempt. */
  start_ms: Schema.Finite,
  /** To its failure, or to the end of its answer. Null for the attempt that was serving when the gateway lost the request. */
  duration_ms: Ms
}).annotate({ identifier: "AttemptTiming" })

export const RequestStatus = Schema.Literals(["open", "succeeded", "failed", "cancelled"])

/**
 * The receipt of one paid request. `cost_usd` is the final charge: settled minus refunded. `absorbed_usd` is what the provider charged
 * beyond the hold, which the house bears. Work charged up front is settled at once, and its receipt stays open until the work has
 * ended; undelivered parts are refunded then.
 */
export const RequestReceipt = Schema.Struct({
  id: RequestId,
  object: Schema.Literal("request"),
  /** Unix seconds. */
  created_at: Schema.Int,
  operation: Schema.String,
  status: RequestStatus,
  model: Schema.String,
  resolved_model: Schema.NullOr(ModelString),
  provider: Schema.NullOr(Schema.String),
  preset: Schema.optionalKey(Schema.String),
  streamed: Schema.Boolean,
  usage: Schema.NullOr(ReceiptUsage),
  usage_basis: Schema.Literals(["reported", "counted", "none"]),
  cost_usd: Usd,
  held_usd: Usd,
  settled_usd: Usd,
  absorbed_usd: Usd,
  refunded_usd: Usd,
  /** `simulated`: the sandbox's simulated money pays for the request, which never goes to a real provider. */
  paid_with: Schema.Literals(["real", "simulated"]),
  price: Schema.NullOr(ReceiptPrice),
  routing: Schema.NullOr(RoutingSummary),
  timings: Schema.Struct({
    queue_ms: Ms,
    hold_ms: Ms,
    first_token_ms: Ms,
    total_ms: Ms,
    settle_ms: Ms,
    overhead_ms: Ms,
    /** Empty while the request is open, when no provider was called, and on receipts of before attempts were timed. */
    attempts: Schema.Array(AttemptTiming)
  }),
  finish_reason: Schema.NullOr(Schema.String),
  error: Schema.NullOr(Schema.Struct({ code: Schema.String, message: Schema.String })),
  idempotency_key: Schema.NullOr(Schema.String),
  /** Only where the id asked for is that of a replay: the request that the replay repeated, whose receipt this is. */
  replayed_from: Schema.optionalKey(RequestId),
  cached: Schema.Boolean,
  key_id: Schema.String,
  project_id: Schema.NullOr(Schema.String),
  trace_id: Schema.NullOr(Schema.String)
}).annotate({ identifier: "RequestReceipt" })
export type RequestReceipt = typeof RequestReceipt.Type

/**
 * One page of receipts, newest first. `next_cursor` is null on the last page. With a filter, a page searches a limited number of
 * requests: it may contain fewer receipts than `limit`, or none, and still have a `next_cursor`.
 */
export const RequestList = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(RequestReceipt),
  next_cursor: Schema.NullOr(RequestId),
  /** When the oldest request that this page searched arrived, in Unix seconds; null when the page searched all of them. */
  searched_to: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "RequestList" })

/** The filters combine: a receipt must match all of them. */
export const RequestListQuery = {
  limit: Schema.optionalKey(Limit),
  /** The `next_cursor` of the previous page. */
  cursor: Schema.optionalKey(RequestId),
  /** The model that was requested, or that served. */
  model: Schema.optionalKey(ModelString),
  status: Schema.optionalKey(RequestStatus),
  key_id: Schema.optionalKey(ResourceId),
  project_id: Schema.optionalKey(ResourceId),
  /** The provider that served. */
  provider: Schema.optionalKey(Schema.String.check(...sized(1, 64, "characters"))),
  /** The `operation` of the receipts, such as `chat.completions`. */
  operation: Schema.optionalKey(Schema.String.check(...sized(1, 64, "characters"))),
  /** Bounds of `cost_usd`; both are included. */
  min_cost_usd: Schema.optionalKey(between(0, 1_000_000)),
  max_cost_usd: Schema.optionalKey(between(0, 1_000_000)),
  /** Bounds of `timings.total_ms`; both are included. Receipts without it match neither. */
  min_latency_ms: Schema.optionalKey(integer(0, 86_400_000)),
  max_latency_ms: Schema.optionalKey(integer(0, 86_400_000)),
  /** The earliest arrival, in Unix seconds. */
  start_time: Schema.optionalKey(integer(0, END_OF_TIME)),
  /** The end of the arrivals, which it excludes, in Unix seconds. */
  end_time: Schema.optionalKey(integer(0, END_OF_TIME))
}
