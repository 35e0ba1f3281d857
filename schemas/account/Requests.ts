import { Schema } from "effect"
import { between, Count, END_OF_TIME, integer, sized, Usd } from "../Bounds.ts"
import { ModelString, RequestId, ResourceId } from "../Ids.ts"
import { Limit } from "../Page.ts"
import { RoutingSummary } from "../Routing.ts"

const Ms = Schema.NullOr(Schema.Finite)

/** Tokens in disjoint buckets: no token is in two of the first three. */
export const ReceiptTokens = Schema.Struct({
  /** The tokens of the prompt outside the prompt cache. */
  input_tokens: Count,
  /** Tokens read from the prompt cache. */
  cached_tokens: Count,
  /** Tokens written to the prompt cache. */
  cache_creation_tokens: Count,
  /** The part of `cache_creation_tokens` that the provider keeps for an hour; absent where there is none. */
  cache_creation_1h_tokens: Schema.optionalKey(Count),
  /** The tokens of the output, reasoning included. */
  output_tokens: Count,
  /** The part of `output_tokens` that was reasoning. */
  reasoning_tokens: Count
}).annotate({ identifier: "ReceiptTokens" })

/** The unit of the number. */
const Unit = Schema.Literals(["request", "image", "second", "character"])

/** The usage of work that is not measured in tokens, such as spoken characters or searches. */
export const ReceiptUnits = Schema.Struct({
  /** The number of units. */
  units: Count,
  unit: Unit
}).annotate({ identifier: "ReceiptUnits" })

/** Tokens, or units of another kind, depending on the model's price. */
export const ReceiptUsage = Schema.Union([ReceiptTokens, ReceiptUnits]).annotate({ identifier: "ReceiptUsage" })

/** The promotion that lowered the rates. */
const promotion = Schema.optionalKey(
  Schema.Struct({
    /** The name of the promotion. */
    label: Schema.String,
    /** Above 0 and below 100. */
    discount_percent: Schema.Finite
  })
)

/** The name of the price plan that the account belonged to. */
const plan = Schema.optionalKey(Schema.String)

/** Rates in USD per token when the request was admitted. */
export const ReceiptTokenPrice = Schema.Struct({
  unit: Schema.Literal("token"),
  /** For tokens of the prompt outside the prompt cache. */
  input: Usd,
  /** For tokens read from the prompt cache. */
  cached_input: Usd,
  /** For tokens written to the prompt cache. */
  cache_write: Usd,
  /** The rate for `cache_creation_1h_tokens`; there only where the request asked for an hour and the price list has such a rate. */
  cache_write_1h: Schema.optionalKey(Usd),
  /** For tokens of the output. */
  output: Usd,
  /** USD per request, beside the tokens. */
  per_request: Usd,
  promotion,
  plan
}).annotate({ identifier: "ReceiptTokenPrice" })

/** The price in USD per unit when the request was admitted. */
export const ReceiptUnitPrice = Schema.Struct({
  unit: Unit,
  /** USD for one unit. */
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

/** How the request ended. `open`: the work has not ended. */
export const RequestStatus = Schema.Literals(["open", "succeeded", "failed", "cancelled"])

/**
 * The receipt of one paid request. Work charged up front is settled at once, and its receipt stays open until the work has ended;
 * undelivered parts are refunded then.
 */
export const RequestReceipt = Schema.Struct({
  id: RequestId,
  object: Schema.Literal("request"),
  /** Unix seconds. */
  created_at: Schema.Int,
  /** The name of the operation in the contract, such as `chat.completions`. */
  operation: Schema.String,
  status: RequestStatus,
  /** The model as the request named it. */
  model: Schema.String,
  /** The model that served; null when none did. */
  resolved_model: Schema.NullOr(ModelString),
  /** The provider that served; null when none did. */
  provider: Schema.NullOr(Schema.String),
  /** The slug of the preset; absent without one. */
  preset: Schema.optionalKey(Schema.String),
  /** Whether the answer was a stream. */
  streamed: Schema.Boolean,
  usage: Schema.NullOr(ReceiptUsage),
  /** Whether the provider reported the usage, or the gateway counted it in what was delivered. */
  usage_basis: Schema.Literals(["reported", "counted", "none"]),
  /** The final charge: `settled_usd` minus `refunded_usd`. */
  cost_usd: Usd,
  /** The hold: the most that the request could cost. */
  held_usd: Usd,
  /** The charge before refunds. */
  settled_usd: Usd,
  /** The price of usage beyond the hold, which the operator bears. */
  absorbed_usd: Usd,
  /** The money that was given back. */
  refunded_usd: Usd,
  /** `simulated`: the sandbox's simulated money pays for the request, which never goes to a real provider. */
  paid_with: Schema.Literals(["real", "simulated"]),
  price: Schema.NullOr(ReceiptPrice),
  routing: Schema.NullOr(RoutingSummary),
  /** How long the request took, in milliseconds; null for what is not known. */
  timings: Schema.Struct({
    /** From the arrival to the hold. */
    queue_ms: Ms,
    /** The time that the hold took. */
    hold_ms: Ms,
    /** From the arrival to the first content of a stream. */
    first_token_ms: Ms,
    /** From the arrival to the end. */
    total_ms: Ms,
    /** The time that the settlement took. */
    settle_ms: Ms,
    /** The part of `total_ms` that no provider took. */
    overhead_ms: Ms,
    /** Empty while the request is open, when no provider was called, and on receipts of before attempts were timed. */
    attempts: Schema.Array(AttemptTiming)
  }),
  /** Why the answer ended, in the words of chat completions; null without an answer. */
  finish_reason: Schema.NullOr(Schema.String),
  /** Why the request failed; null when it did not. */
  error: Schema.NullOr(
    Schema.Struct({
      /** The code of the error response. */
      code: Schema.String,
      /** Its message. */
      message: Schema.String
    })
  ),
  /** The request's `Idempotency-Key`; null without one. */
  idempotency_key: Schema.NullOr(Schema.String),
  /** Only where the id asked for is that of a replay: the request that the replay repeated, whose receipt this is. */
  replayed_from: Schema.optionalKey(RequestId),
  /** Whether the answer came from the cache of the legacy chat. */
  cached: Schema.Boolean,
  /** The key that made the request. */
  key_id: Schema.String,
  /** The project of that key; null without one. */
  project_id: Schema.NullOr(Schema.String),
  /** The id of the request's trace, if the operator collects traces. */
  trace_id: Schema.NullOr(Schema.String)
}).annotate({ identifier: "RequestReceipt" })
export type RequestReceipt = typeof RequestReceipt.Type

/**
 * One page of receipts, newest first. `next_cursor` is null on the last page. With a filter, a page searches a limited number of
 * requests: it may contain fewer receipts than `limit`, or none, and still have a `next_cursor`.
 */
export const RequestList = Schema.Struct({
  object: Schema.Literal("list"),
  /** The entries of the page. */
  data: Schema.Array(RequestReceipt),
  /** The `cursor` of the next page; null on the last page. */
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
  /** The key that made the request. */
  key_id: Schema.optionalKey(ResourceId),
  /** The project of that key. */
  project_id: Schema.optionalKey(ResourceId),
  /** The provider that served. */
  provider: Schema.optionalKey(Schema.String.check(...sized(1, 64, "characters"))),
  /** The `operation` of the receipts, such as `chat.completions`. */
  operation: Schema.optionalKey(Schema.String.check(...sized(1, 64, "characters"))),
  /** The least `cost_usd`. */
  min_cost_usd: Schema.optionalKey(between(0, 1_000_000)),
  /** The most `cost_usd`. */
  max_cost_usd: Schema.optionalKey(between(0, 1_000_000)),
  /** The least `timings.total_ms`. Receipts without it do not match. */
  min_latency_ms: Schema.optionalKey(integer(0, 86_400_000)),
  /** The most `timings.total_ms`. Receipts without it do not match. */
  max_latency_ms: Schema.optionalKey(integer(0, 86_400_000)),
  /** The earliest arrival, in Unix seconds. */
  start_time: Schema.optionalKey(integer(0, END_OF_TIME)),
  /** The end of the arrivals, which it excludes, in Unix seconds. */
  end_time: Schema.optionalKey(integer(0, END_OF_TIME))
}
