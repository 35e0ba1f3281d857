import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { InferenceAccess } from "../Access.ts"
import { Count, sized, textOf, Usd } from "../Bounds.ts"
import { ModelString } from "../Ids.ts"
import { operation } from "../Operation.ts"
import { BalanceWarning } from "../Routing.ts"
import { idempotency, paidErrors } from "./ChatGroup.ts"

/** The maximum number of inputs in one request, as at OpenAI. */
export const MAX_INPUTS = 2_048

const Text = Schema.String.check(Schema.isMinLength(1, { message: "must be a non-empty string" }))
const Tokens = Schema.Array(Count).check(Schema.isMinLength(1, { message: "must be a non-empty array of tokens" }))

/**
 * An embeddings request. Unknown fields are rejected; a null counts as absent. `input` is a text, up to 2,048 texts, the tokens of one
 * text, or the tokens of up to 2,048 texts. Models that accept only texts reject tokens. An input longer than the model's context
 * window is rejected, unless `truncation` is true and the model supports it. `input_type` is for models that embed queries and
 * documents differently, and has no effect on others.
 */
export const EmbeddingsRequest = Schema.Struct({
  model: ModelString,
  input: Schema.Union([
    Text,
    Schema.Array(Text).check(...sized(1, MAX_INPUTS, "items")),
    Tokens,
    Schema.Array(Tokens).check(...sized(1, MAX_INPUTS, "items"))
  ]),
  /** Default: the model's own number of dimensions. */
  dimensions: Schema.optionalKey(
    Schema.NullOr(Schema.Int.check(Schema.isGreaterThan(0, { message: "must be an integer above 0" })))
  ),
  /** Default: `float`. `base64` is the base64 of little-endian 32-bit floats. */
  encoding_format: Schema.optionalKey(Schema.NullOr(Schema.Literals(["float", "base64"]))),
  input_type: Schema.optionalKey(Schema.NullOr(Schema.Literals(["query", "document"]))),
  /** Default: false. */
  truncation: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  user: Schema.optionalKey(Schema.NullOr(textOf(0, 256)))
}).annotate({ identifier: "EmbeddingsRequest" })
export type EmbeddingsRequest = typeof EmbeddingsRequest.Type

/** The vector of the input with this index: numbers, or a string for base64. */
export const Embedding = Schema.Struct({
  object: Schema.Literal("embedding"),
  index: Count,
  embedding: Schema.Union([Schema.Array(Schema.Finite), Schema.String])
}).annotate({ identifier: "Embedding" })

/** The vectors of all inputs, in order. */
export const EmbeddingsList = Schema.Struct({
  object: Schema.Literal("list"),
  model: ModelString,
  data: Schema.Array(Embedding),
  usage: Schema.Struct({ prompt_tokens: Count, total_tokens: Count }),
  cost_usd: Usd,
  request_id: Schema.String,
  balance_warning: Schema.optionalKey(BalanceWarning)
}).annotate({ identifier: "EmbeddingsList" })
export type EmbeddingsList = typeof EmbeddingsList.Type

/** Texts as vectors. */
export class EmbeddingsGroup extends HttpApiGroup.make("embeddings")
  .add(
    HttpApiEndpoint.post("embeddings", "/embeddings", {
      headers: idempotency,
      payload: EmbeddingsRequest,
      success: EmbeddingsList,
      error: paidErrors
    }).annotateMerge(operation("embeddings", "Embed texts", { limit: "default", charge: "tokens" }))
  )
  .middleware(InferenceAccess) {}
