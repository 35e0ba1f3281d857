import { Schema } from "effect"
import { Count, integer, NonEmptyText, sized, Usd } from "../Bounds.ts"
import { ModelString } from "../Ids.ts"
import { ChatCompletionRequest } from "./ChatCompletions.ts"

const { messages, ...members } = ChatCompletionRequest.fields

/**
 * A cost estimate request: a chat request, in which a text or a number of tokens may replace the messages. Unlike a chat request, it
 * rejects unknown fields.
 */
export const EstimateRequest = Schema.Struct({
  ...members,
  /** The messages of the chat. */
  messages: Schema.optionalKey(messages),
  /** A text in the place of the messages. */
  input: Schema.optionalKey(Schema.String),
  /** The same as `input`. */
  prompt: Schema.optionalKey(Schema.String),
  /** A number of tokens in the place of the messages. The hold covers a quarter more, as it does for a text of about this size. */
  input_tokens: Schema.optionalKey(Count)
}).annotate({ identifier: "EstimateRequest" })
export type EstimateRequest = typeof EstimateRequest.Type

/**
 * A cost estimate request for work other than chat. It contains the fields that determine the price: for embeddings the texts or the
 * number of their tokens; for reranking `documents` and the query as `input` or `prompt`, or the number of tokens; for speech the text
 * or its `characters`; for images `n`; for videos `duration`; for searches nothing. Other fields are rejected, except the text of the
 * request.
 */
export const WorkEstimateRequest = Schema.Struct({
  /** The id of the model. */
  model: ModelString,
  /** The text to embed or to speak, up to 2,048 texts to embed, or the query of a reranking or a search. */
  input: Schema.optionalKey(
    Schema.Union([NonEmptyText, Schema.Array(NonEmptyText).check(...sized(1, 2_048, "items"))])
  ),
  /** The prompt of an image or a video, or the query of a reranking. */
  prompt: Schema.optionalKey(NonEmptyText),
  /** The number of tokens, in the place of texts. The hold covers a quarter more, as it does for a text of about this size. */
  input_tokens: Schema.optionalKey(Count),
  /** The documents to rerank, 1 to 1,000. */
  documents: Schema.optionalKey(Schema.Array(NonEmptyText).check(...sized(1, 1_000, "items"))),
  /** The number of characters to speak, 1 to 4,096, in the place of the text. */
  characters: Schema.optionalKey(integer(1, 4_096)),
  /** The number of images, 1 to 10. Default: 1. */
  n: Schema.optionalKey(integer(1, 10)),
  /** The length of the video in whole seconds, 4 to 15. */
  duration: Schema.optionalKey(integer(4, 15))
}).annotate({ identifier: "WorkEstimateRequest" })
export type WorkEstimateRequest = typeof WorkEstimateRequest.Type

const costs = {
  /** The expected cost. */
  estimated_cost_usd: Usd,
  /** The maximum cost. */
  max_cost_usd: Usd
}

/** The estimate for one model at one provider. */
export const EstimateLine = Schema.Struct({
  /** The id of the model. */
  model: ModelString,
  /** The id of the provider. */
  provider: Schema.String,
  /** The tokens of the prompt. */
  input_tokens: Count,
  /** The part of them that is expected in the prompt cache. */
  cached_tokens: Count,
  /** The maximum number of output tokens. */
  max_output_tokens: Count,
  /** In USD. */
  price_per_input_token: Usd,
  /** In USD. */
  price_per_output_token: Usd,
  ...costs
}).annotate({ identifier: "EstimateLine" })

/** The estimate for one model at one provider with a price per unit. */
export const UnitEstimateLine = Schema.Struct({
  /** The id of the model. */
  model: ModelString,
  /** The id of the provider. */
  provider: Schema.String,
  /** The number of units. */
  units: Count,
  /** In USD. */
  price_per_unit: Usd,
  ...costs
}).annotate({ identifier: "UnitEstimateLine" })

/**
 * A cost estimate. The gateway computes the hold of a request with the same function. `hold_usd` and `max_cost_usd` are equal when
 * `max_tokens` is given, and for all work other than chat.
 */
export const CostEstimate = Schema.Struct({
  object: Schema.Literal("cost_estimate"),
  /** The model as the request names it. */
  model: ModelString,
  /** The models that could serve, in order. */
  resolved_models: Schema.Array(ModelString),
  /** The expected cost. */
  estimated_cost_usd: Usd,
  /** The money that must be available for the request to be admitted. */
  hold_usd: Usd,
  /** The maximum cost. */
  max_cost_usd: Usd,
  /** The unit of the price. */
  unit: Schema.Literals(["token", "request", "image", "second", "character"]),
  /** The estimate for each model at each provider. */
  breakdown: Schema.Array(Schema.Union([EstimateLine, UnitEstimateLine])),
  /** The account's balance. */
  balance_usd: Schema.Finite,
  /** Whether the balance and the budgets of key and project have room for the hold. */
  affordable: Schema.Boolean
}).annotate({ identifier: "CostEstimate" })
export type CostEstimate = typeof CostEstimate.Type
