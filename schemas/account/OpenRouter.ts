import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { InferenceAccess } from "../Access.ts"
import { Count, sized, Usd } from "../Bounds.ts"
import { NotFoundError } from "../Errors.ts"
import { RequestId } from "../Ids.ts"
import { operation } from "../Operation.ts"

/**
 * The account's credits as OpenRouter's clients read them: `total_credits` minus `total_usage` is the balance. A charge made up front
 * counts as usage once its work has ended.
 */
export const CreditsReport = Schema.Struct({
  data: Schema.Struct({
    /** All money that the account has received, in USD. */
    total_credits: Schema.Finite,
    /** All charges of the account minus refunds, in USD. */
    total_usage: Usd
  })
}).annotate({ identifier: "CreditsReport" })
export type CreditsReport = typeof CreditsReport.Type

/** The request of a receipt. */
export const GenerationQuery = {
  /** The id of a chat completion, a message, a response or a request. Each of them ends with the same 26 characters. */
  id: Schema.String.check(...sized(1, 64, "characters"))
}

/** An attempt at a provider. */
export const GenerationAttempt = Schema.Struct({
  /** The id of the provider. */
  provider_name: Schema.String,
  /** 200 for the attempt that served; null for others. */
  status: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "GenerationAttempt" })

/** Always null. OpenRouter's clients require the member. */
const none = Schema.Null
/** The provider's count; null for work that is not priced by tokens. */
const tokens = Schema.NullOr(Count)

/** A receipt in OpenRouter's form. `GET /requests/{request_id}` has every fact of it. */
export const Generation = Schema.Struct({
  data: Schema.Struct({
    /** The id in the query. */
    id: Schema.String,
    request_id: RequestId,
    /** ISO 8601. */
    created_at: Schema.String,
    /** The model that served, or the requested model if none did. */
    model: Schema.String,
    /** The provider that served; null when none did. */
    provider_name: Schema.NullOr(Schema.String),
    /** The attempts, in order; null without any. */
    provider_responses: Schema.NullOr(Schema.Array(GenerationAttempt)),
    /** The kind of work in OpenRouter's words; null for work that OpenRouter does not have. */
    api_type: Schema.NullOr(Schema.Literals(["completions", "embeddings", "rerank", "video", "tts", "image"])),
    /** Whether the answer was a stream. */
    streamed: Schema.Boolean,
    /** Whether the client ended the request. */
    cancelled: Schema.Boolean,
    /** Why the answer ended; null without an answer. */
    finish_reason: Schema.NullOr(Schema.String),
    /** The same as `finish_reason`. */
    native_finish_reason: Schema.NullOr(Schema.String),
    tokens_prompt: tokens,
    tokens_completion: tokens,
    native_tokens_prompt: tokens,
    native_tokens_completion: tokens,
    native_tokens_cached: tokens,
    native_tokens_reasoning: tokens,
    native_tokens_completion_images: none,
    /** The charge minus refunds, in USD. */
    total_cost: Usd,
    /** The same as `total_cost`. */
    usage: Usd,
    /** Milliseconds until the first content of a stream, or until the whole answer. */
    latency: Schema.NullOr(Schema.Finite),
    /** Milliseconds from the request to the end of its answer. */
    generation_time: Schema.NullOr(Schema.Finite),
    /** `svc/auto` for a request whose model the automatic router chose. */
    router: Schema.NullOr(Schema.String),
    /** The slug of the preset. */
    preset_id: Schema.NullOr(Schema.String),
    is_byok: Schema.Literal(false),
    data_region: Schema.Literal("global"),
    /** Always empty. */
    origin: Schema.String,
    cache_discount: none,
    upstream_inference_cost: none,
    upstream_id: none,
    app_id: none,
    external_user: none,
    http_referer: none,
    user_agent: none,
    moderation_latency: none,
    num_fetches: none,
    num_input_audio_prompt: none,
    num_media_completion: none,
    num_media_prompt: none,
    num_search_results: none,
    service_tier: none,
    web_search_engine: none,
    workspace_id: none
  })
}).annotate({ identifier: "Generation" })
export type Generation = typeof Generation.Type

/** What OpenRouter's clients read about an account. */
export class OpenRouterGroup extends HttpApiGroup.make("openrouter")
  .add(
    HttpApiEndpoint.get("getCredits", "/credits", { success: CreditsReport }).annotateMerge(
      operation("credits", "The account's credits, as OpenRouter gives them", { limit: "default", charge: "free" })
    ),
    HttpApiEndpoint.get("getGeneration", "/generation", {
      query: GenerationQuery,
      success: Generation,
      error: NotFoundError
    }).annotateMerge(
      operation("generation", "Retrieve a receipt, as OpenRouter gives it", { limit: "default", charge: "free" })
    )
  )
  .middleware(InferenceAccess) {}
