import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { InferenceAccess } from "../Access.ts"
import { Count, NonEmptyText, sized, textOf, Usd } from "../Bounds.ts"
import { ModelString } from "../Ids.ts"
import { operation } from "../Operation.ts"
import { BalanceWarning } from "../Routing.ts"
import { idempotency, paidErrors } from "./ChatGroup.ts"

/** The maximum number of inputs in one request, as at OpenAI. */
export const MAX_INPUTS = 2_048

const Tokens = Schema.Array(Count).check(Schema.isMinLength(1, { message: "must be a non-empty array of tokens" }))

/** An embeddings request. Unknown fields are rejected; a null counts as absent. */
export const EmbeddingsRequest = Schema.Struct({
  /** The id of an embedding model. */
  model: ModelString,
  /**
   * A text, up to 2,048 texts, the tokens of one text, or the tokens of up to 2,048 texts. Models that accept only texts reject tokens.
   */
  input: Schema.Union([
    NonEmptyText,
    Schema.Array(NonEmptyText).check(...sized(1, MAX_INPUTS, "items")),
    Tokens,
    Schema.Array(Tokens).check(...sized(1, MAX_INPUTS, "items"))
  ]),
  /** Default: the model's own number of dimensions. */
  dimensions: Schema.optionalKey(
    Schema.NullOr(Schema.Int.check(Schema.isGreaterThan(0, { message: "must be an integer above 0" })))
  ),
  /** Default: `float`. `base64` is the base64 of little-endian 32-bit floats. */
  encoding_format: Schema.optionalKey(Schema.NullOr(Schema.Literals(["float", "base64"]))),
  /** For models that embed queries and documents differently. No effect on others. */
  input_type: Schema.optionalKey(Schema.NullOr(Schema.Literals(["query", "document"]))),
  /**
   * Whether an input longer than the model's context window is cut, if the model supports that, and not rejected. Default: false.
   */
  truncation: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  /** An id of the end user, with which a provider can trace misuse. At most 256 characters. */
  user: Schema.optionalKey(Schema.NullOr(textOf(0, 256)))
}).annotate({ identifier: "EmbeddingsRequest" })
export type EmbeddingsRequest = typeof EmbeddingsRequest.Type

/** The vector of one input. */
export const Embedding = Schema.Struct({
  object: Schema.Literal("embedding"),
  /** The place of the input in the request. */
  index: Count,
  /** The vector: numbers, or a text for `base64`. */
  embedding: Schema.Union([Schema.Array(Schema.Finite), Schema.String])
}).annotate({ identifier: "Embedding" })

/** The vectors of all inputs, in order. */
export const EmbeddingsList = Schema.Struct({
  object: Schema.Literal("list"),
  /** The model that served. */
  model: ModelString,
  /** One vector per input. */
  data: Schema.Array(Embedding),
  /** Token counts. */
  usage: Schema.Struct({
    /** The tokens of all inputs. */
    prompt_tokens: Count,
    /** The same: embeddings have no output tokens. */
    total_tokens: Count
  }),
  /** The charge in USD, as on the receipt of `request_id`. */
  cost_usd: Usd,
  /** The id of the request. */
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
