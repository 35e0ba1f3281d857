import { Schema } from "effect"
import { integer, sized, Count, Usd } from "../Bounds.ts"
import { ModelString } from "../Ids.ts"
import { RoutingPolicy } from "../Routing.ts"
import { ChatMessage, ChatTool } from "./ChatCompletions.ts"

/** What a call would cost. Of the prompt give either the messages, or a text, or a number of tokens. */
export const EstimateRequest = Schema.Struct({
  model: Schema.optionalKey(ModelString),
  models: Schema.optionalKey(Schema.Array(ModelString).check(...sized(1, 15, "items"))),
  routing: Schema.optionalKey(RoutingPolicy),
  messages: Schema.optionalKey(Schema.Array(ChatMessage).check(...sized(1, 100, "items"))),
  tools: Schema.optionalKey(Schema.Array(ChatTool)),
  input: Schema.optionalKey(Schema.String),
  prompt: Schema.optionalKey(Schema.String),
  input_tokens: Schema.optionalKey(Count),
  max_tokens: Schema.optionalKey(integer(1, Number.MAX_SAFE_INTEGER)),
  stream: Schema.optionalKey(Schema.Boolean)
}).annotate({ identifier: "EstimateRequest" })
export type EstimateRequest = typeof EstimateRequest.Type

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

/**
 * `hold_usd` is what must be available for the call to be admitted: it comes from the same function as the hold itself.
 * `max_cost_usd` is the most the call can cost; the two are equal when `max_tokens` is given.
 */
export const CostEstimate = Schema.Struct({
  object: Schema.Literal("cost_estimate"),
  model: ModelString,
  resolved_models: Schema.Array(ModelString),
  estimated_cost_usd: Usd,
  hold_usd: Usd,
  max_cost_usd: Usd,
  unit: Schema.Literal("token"),
  breakdown: Schema.Array(EstimateLine),
  balance_usd: Schema.Finite,
  affordable: Schema.Boolean
}).annotate({ identifier: "CostEstimate" })
export type CostEstimate = typeof CostEstimate.Type
