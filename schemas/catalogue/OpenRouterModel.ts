/** What OpenRouter's clients read of a model, beside the gateway's own members. */
import { Schema } from "effect"
import { Count } from "../Bounds.ts"

/** The kinds of input and output of a model, in OpenRouter's words. */
export const ModelArchitecture = Schema.Struct({
  input_modalities: Schema.Array(Schema.Literals(["text", "image", "file"])),
  output_modalities: Schema.Array(Schema.Literals(["text", "image", "video", "speech", "embeddings", "rerank"])),
  /** Both lists in one text, such as `text+image->text`. */
  modality: Schema.String,
  instruct_type: Schema.Null
}).annotate({ identifier: "ModelArchitecture" })

/** Prices in USD as decimal text, as OpenRouter gives them. */
export const textPrices = {
  /** Per token. `0` for models with another unit, `-1` for a model whose price is not known in advance. */
  prompt: Schema.String,
  /** Per token, as `prompt`. */
  completion: Schema.String,
  request: Schema.optionalKey(Schema.String),
  /** Per image that the model makes. */
  image_output: Schema.optionalKey(Schema.String),
  input_cache_read: Schema.optionalKey(Schema.String),
  input_cache_write: Schema.optionalKey(Schema.String)
}

/** The members of a model that OpenRouter's clients require. */
export const openRouterModel = {
  /** The same as `id`. */
  canonical_slug: Schema.String,
  /** The same as `contextWindow`. */
  context_length: Count,
  architecture: ModelArchitecture,
  /** The preferred provider. The gateway does not moderate, and does not know whether the provider does. */
  top_provider: Schema.Struct({
    context_length: Count,
    max_completion_tokens: Schema.NullOr(Count),
    is_moderated: Schema.Literal(false)
  }),
  /** The same as `supportedParameters`. */
  supported_parameters: Schema.Array(Schema.String),
  /** The path of this model. */
  links: Schema.Struct({ details: Schema.String }),
  per_request_limits: Schema.Null,
  default_parameters: Schema.Null,
  supported_voices: Schema.Null
}
