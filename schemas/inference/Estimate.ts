import { Schema } from "effect"
import { Count, integer, sized, Usd } from "../Bounds.ts"
import { ModelString } from "../Ids.ts"
import { ChatCompletionRequest } from "./ChatCompletions.ts"

const { messages, ...members } = ChatCompletionRequest.fields

/**
 * A cost estimate request: a chat request, in which a text or a number of tokens may replace the messages. Unlike a chat request, it
 * rejects unknown fields.
 */
export const EstimateRequest = Schema.Struct({
  ...members,
  messages: Schema.optionalKey(messages),
  input: Schema.optionalKey(Schema.String),
  prompt: Schema.optionalKey(Schema.String),
  /** The hold covers a quarter more, as it does for a text of about this size. */
  input_tokens: Schema.optionalKey(Count)
}).annotate({ identifier: "EstimateRequest" })
export type EstimateRequest = typeof EstimateRequest.Type

const Text = Schema.String.check(Schema.isMinLength(1, { message: "must be a non-empty string" }))

/**
 * A cost estimate request for work other than chat. It contains the fields that determine the price: for embeddings the texts or the
 * number of their tokens; for reranking `documents` and the query as `input` or `prompt`, or the number of tokens; for speech the text
 * or its `characters`; for images `n`; for videos `duration`; for searches nothing. Other fields are rejected, except the text of the
 * request.
 */
export const WorkEstimateRequest = Schema.Struct({
  model: ModelString,
  input: Schema.optionalKey(Schema.Union([Text, Schema.Array(Text).check(...sized(1, 2_048, "items"))])),
  prompt: Schema.optionalKey(Text),
  /** The hold covers a quarter more, as it does for a text of about this size. */
  input_tokens: Schema.optionalKey(Count),
  documents: Schema.optionalKey(Schema.Array(Text).check(...sized(1, 1_000, "items"))),
  characters: Schema.optionalKey(integer(1, 4_096)),
  /** Default: 1. */
  n: Schema.optionalKey(integer(1, 10)),
  duration: Schema.optionalKey(integer(4, 15))
}).annotate({ identifier: "WorkEstimateRequest" })
export type WorkEstimateRequest = typeof WorkEstimateRequest.Type

/** The estimate for one model at one provider. */
export const EstimateLine = Schema.Struct({
  model: ModelString,
  provider: Schema.String,
  input_tokens: Count,
  cached_tokens: Count,
  max_output_tokens: Count,
  price_per_input_token: Usd,
  price_per_output_token: Usd,
  estimated_cost_usd: Usd,
  max_cost_usd: Usd
}).annotate({ identifier: "EstimateLine" })

/** The estimate for one model at one provider with a price per unit. */
export const UnitEstimateLine = Schema.Struct({
  model: ModelString,
  provider: Schema.String,
  units: Count,
  price_per_unit: Usd,
  estimated_cost_usd: Usd,
  max_cost_usd: Usd
}).annotate({ identifier: "UnitEstimateLine" })

/**
 * A cost estimate. `hold_usd` must be available for the request to be admitted; the same function computes the hold itself.
 * `max_cost_usd` is the maximum cost. The two are equal when `max_tokens` is given, and for all work other than chat. `affordable`
 * tells whether the balance and the budgets of key and project have room for the hold.
 */
export const CostEstimate = Schema.Struct({
  object: Schema.Literal("cost_estimate"),
  model: ModelString,
  resolved_models: Schema.Array(ModelString),
  estimated_cost_usd: Usd,
  hold_usd: Usd,
  max_cost_usd: Usd,
  /** The unit of the price. */
  unit: Schema.Literals(["token", "request", "image", "second", "character"]),
  breakdown: Schema.Array(Schema.Union([EstimateLine, UnitEstimateLine])),
  balance_usd: Schema.Finite,
  affordable: Schema.Boolean
}).annotate({ identifier: "CostEstimate" })
export type CostEstimate = typeof CostEstimate.Type
