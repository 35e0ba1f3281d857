import { Schema } from "effect"
import { Count, Usd } from "../Bounds.ts"
import { ModelString } from "../Ids.ts"
import { ChatCompletionRequest } from "./ChatCompletions.ts"

const { messages, ...members } = ChatCompletionRequest.fields

/**
 * What a call would cost: a chat request as it would be sent, of which a text or a number of tokens may stand in place of the
 * messages. Unlike a chat request it may hold nothing that is not known.
 */
export const EstimateRequest = Schema.Struct({
  ...members,
  messages: Schema.optionalKey(messages),
  input: Schema.optionalKey(Schema.String),
  prompt: Schema.optionalKey(Schema.String),
  /** Each stands for four bytes of text, since a hold goes by the bytes of a prompt. */
  input_tokens: Schema.optionalKey(Count)
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
