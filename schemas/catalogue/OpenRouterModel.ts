/** What OpenRouter's clients read of a model, beside the gateway's own members. */
import { Schema } from "effect"
import { Count } from "../Bounds.ts"

/** The kinds of input and output of a model, in OpenRouter's words. */
export const ModelArchitecture = Schema.Struct({
  /** What a prompt may contain. */
  input_modalities: Schema.Array(Schema.Literals(["text", "image", "file"])),
  /** What the model makes. */
  output_modalities: Schema.Array(Schema.Literals(["text", "image", "video", "speech", "embeddings", "rerank"])),
  /** Both lists in one text, such as `text+image->text`. */
  modality: Schema.String,
  /** Always null. OpenRouter's clients require the member. */
  instruct_type: Schema.Null
}).annotate({ identifier: "ModelArchitecture" })

/** Prices in USD as decimal text, as OpenRouter gives them. */
export const textPrices = {
  /** Per token. `0` for models with another unit, `-1` for a model whose price is not known in advance. */
  prompt: Schema.String,
  /** Per token, as `prompt`. */
  completion: Schema.String,
  /** Per request. */
  request: Schema.optionalKey(Schema.String),
  /** Per image that the model makes. */
  image_output: Schema.optionalKey(Schema.String),
  /** Per token read from the prompt cache. */
  input_cache_read: Schema.optionalKey(Schema.String),
  /** Per token written to the prompt cache. */
  input_cache_write: Schema.optionalKey(Schema.String)
}

/** Always null. OpenRouter's clients require the member. */
const AlwaysNull = Schema.Null

/** The members of a model that OpenRouter's clients require. */
export const openRouterModel = {
  /** The same as `id`. */
  canonical_slug: Schema.String,
  /** The same as `contextWindow`. */
  context_length: Count,
  architecture: ModelArchitecture,
  /** The preferred provider. The gateway does not moderate, and does not know whether the provider does. */
  top_provider: Schema.Struct({
    /** The same as its `contextWindow`. */
    context_length: Count,
    /** The same as its `maxOutputTokens`; null when there is no limit. */
    max_completion_tokens: Schema.NullOr(Count),
    is_moderated: Schema.Literal(false)
  }),
  /** The same as `supportedParameters`. */
  supported_parameters: Schema.Array(Schema.String),
  /** Where the model is. */
  links: Schema.Struct({
    /** The path. */
    details: Schema.String
  }),
  per_request_limits: AlwaysNull,
  default_parameters: AlwaysNull,
  supported_voices: AlwaysNull
}
