import { Schema } from "effect"
import { Count, integer, sized, Usd } from "../Bounds.ts"
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
  /** The hold is for a quarter more, as it is for a text that has about so many. */
  input_tokens: Schema.optionalKey(Count)
}).annotate({ identifier: "EstimateRequest" })
export type EstimateRequest = typeof EstimateRequest.Type

const Text = Schema.String.check(Schema.isMinLength(1, { message: "a non-empty string" }))

/**
 * What work other than chat would cost. A model takes what its price goes by: an embedding model the texts to embed or the number of
 * their tokens; a rerank model `documents` with the query as `input` or `prompt`, or the number of tokens; a speech model the text or
 * its `characters`; an image model `n`; a video model `duration`; a search engine nothing. It may hold nothing else, but for the
 * text that is asked with.
 */
export const WorkEstimateRequest = Schema.Struct({
  model: ModelString,
  input: Schema.optionalKey(Schema.Union([Text, Schema.Array(Text).check(...sized(1, 2_048, "items"))])),
  prompt: Schema.optionalKey(Text),
  /** The hold is for a quarter more, as it is for a text that has about so many. */
  input_tokens: Schema.optionalKey(Count),
  documents: Schema.optionalKey(Schema.Array(Text).check(...sized(1, 1_000, "items"))),
  characters: Schema.optionalKey(integer(1, 4_096)),
  /** 1 unless told. */
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

/** The same of a price per unit. */
export const UnitEstimateLine = Schema.Struct({
  model: ModelString,
  provider: Schema.String,
  units: Count,
  price_per_unit: Usd,
  estimated_cost_usd: Usd,
  max_cost_usd: Usd
}).annotate({ identifier: "UnitEstimateLine" })

/**
 * `hold_usd` is what must be available for the call to be admitted: it comes from the same function as the hold itself.
 * `max_cost_usd` is the most the call can cost; the two are equal when `max_tokens` is given, and for all work other than chat.
 * `affordable` says whether the balance and the budgets of key and project have room for the hold.
 */
export const CostEstimate = Schema.Struct({
  object: Schema.Literal("cost_estimate"),
  model: ModelString,
  resolved_models: Schema.Array(ModelString),
  estimated_cost_usd: Usd,
  hold_usd: Usd,
  max_cost_usd: Usd,
  /** What is counted. */
  unit: Schema.Literals(["token", "request", "image", "second", "character"]),
  breakdown: Schema.Array(Schema.Union([EstimateLine, UnitEstimateLine])),
  balance_usd: Schema.Finite,
  affordable: Schema.Boolean
}).annotate({ identifier: "CostEstimate" })
export type CostEstimate = typeof CostEstimate.Type
