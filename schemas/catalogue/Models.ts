import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Count, integer, sized, Usd } from "../Bounds.ts"
import { NotFoundError } from "../Errors.ts"
import { operation } from "../Operation.ts"

const ModelId = Schema.String.check(...sized(1, 160, "characters"))

/** What a model takes and makes; which operations it can be called by follows from it. */
export const Modality = Schema.Literals([
  "text",
  "image",
  "image_edit",
  "video",
  "audio",
  "embedding",
  "rerank",
  "search"
])

/** A price cut for a time, from `startsAt` until just before `endsAt`. A request keeps the price it was admitted at. */
export const Promotion = Schema.Struct({
  label: Schema.String,
  /** Above 0, below 100. Rates cut by it round up to the next 1e-12 USD. */
  discountPercent: Schema.Finite,
  /** ISO 8601. */
  startsAt: Schema.String,
  /** ISO 8601. */
  endsAt: Schema.String
}).annotate({ identifier: "Promotion" })

/**
 * What the model costs at its preferred provider that can be called now, in USD. A member is null where its unit does not
 * apply. Where long prompts cost more, the rates are those of the shortest.
 */
export const ModelPricing = Schema.Struct({
  /** What is counted. */
  unit: Schema.Literals(["token", "request", "image", "second", "character"]),
  /**
   * For comparison: a text request of 1,000 prompt and 500 output tokens, an embedding of 1,000 tokens, a rerank of 10,000
   * tokens, one image, 5 seconds of video, 1,000 characters of speech, one search.
   */
  typicalRequestUsd: Schema.NullOr(Usd),
  meteredPromptPerToken: Schema.NullOr(Usd),
  meteredCachedPromptPerToken: Schema.NullOr(Usd),
  meteredCacheWritePromptPerToken: Schema.NullOr(Usd),
  meteredCompletionPerToken: Schema.NullOr(Usd),
  /** Charged once for every request, whatever it uses. */
  perRequestUsd: Schema.NullOr(Usd),
  perUnitUsd: Schema.NullOr(Usd),
  /** `perUnitUsd` without the promotion; where tokens are counted, `meteredPromptPerToken` without, or null when there is none. */
  listPerUnitUsd: Schema.NullOr(Usd),
  /** What lowers all prices shown here at present. */
  promotion: Schema.NullOr(Promotion)
}).annotate({ identifier: "ModelPricing" })

/** How a provider served the model in the last 30 minutes, as all nodes saw it; null where nothing is known. */
export const ProviderPerformance = Schema.Struct({
  samples: Count,
  /** 0 to 1. */
  successRate: Schema.NullOr(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))),
  /** Of successful requests, as are all times. */
  p50Ms: Schema.NullOr(Usd),
  p95Ms: Schema.NullOr(Usd),
  /** From the request to the first content of a stream. */
  medianTtftMs: Schema.NullOr(Usd),
  /** Fewer than 20 samples: not to be relied on. */
  thin: Schema.Boolean
}).annotate({ identifier: "ProviderPerformance" })

/** One provider that offers the model, as this service knows it. */
export const ModelProvider = Schema.Struct({
  provider: Schema.String,
  providerDisplayName: Schema.String,
  upstreamModelId: Schema.String,
  /** `primary` is the first that can be called, and the one whose price is shown. Whom a request goes to first, its routing decides. */
  role: Schema.Literals(["primary", "fallback"]),
  available: Schema.Boolean,
  /** Capabilities of the model that this provider does not offer. */
  unsupportedCapabilities: Schema.Array(Schema.String),
  trainsOnData: Schema.Boolean,
  zeroRetentionAvailable: Schema.Boolean,
  contextWindow: Count,
  maxOutputTokens: Count,
  performance: ProviderPerformance
}).annotate({ identifier: "ModelProvider" })

/** Where the entry departs from what is published of the model. */
export const ModelOverlay = Schema.Struct({
  /** Whether the price was set here, because no list has it or the operator has another. */
  isOverlay: Schema.Boolean,
  /** `provider` for a model that is called, `router` for an id that chooses one. */
  dispatch: Schema.Literals(["provider", "router"]),
  /** What was set here. */
  overrideStatus: Schema.Literals(["none", "price", "status", "price_and_status"])
}).annotate({ identifier: "ModelOverlay" })

/** Something that happened to a model. */
export const ModelEvent = Schema.Struct({
  /** `released`, `price_changed`, `promotion_started`, `promotion_ended`, a status, or another word of the operator's. */
  event: Schema.String,
  /** `YYYY-MM-DD`, in UTC. */
  date: Schema.String,
  /** Where it was at one provider alone. */
  provider: Schema.optionalKey(Schema.String),
  detail: Schema.optionalKey(Schema.String),
  /** Of a price per token, as in `pricing`: what it was from then on, without promotions. */
  meteredPromptPerToken: Schema.optionalKey(Usd),
  meteredCompletionPerToken: Schema.optionalKey(Usd),
  /** Of any other price. */
  perUnitUsd: Schema.optionalKey(Usd)
}).annotate({ identifier: "ModelEvent" })

/** A model of the catalogue, with its prices and its providers. */
export const ModelDetail = Schema.Struct({
  object: Schema.Literal("model"),
  id: ModelId,
  name: Schema.String,
  /** Release, in Unix seconds. */
  created: Schema.Int,
  owned_by: Schema.String,
  modality: Modality,
  status: Schema.Literals(["preview", "ga", "deprecated", "retired"]),
  /** Whether a request for it can be served now. */
  servable: Schema.Boolean,
  capabilities: Schema.Array(Schema.String),
  pricing: ModelPricing,
  /** In order of preference. */
  providers: Schema.Array(ModelProvider),
  /** Optional request parameters that change the answer. */
  supportedParameters: Schema.Array(Schema.String),
  brand: Schema.String,
  description: Schema.String,
  /** Tokens; 0 for models that count none. */
  contextWindow: Count,
  maxOutputTokens: Count,
  /** True for an id that stands for a choice among others. */
  virtual: Schema.Boolean,
  pricingNote: Schema.String,
  overlay: ModelOverlay,
  /** What has happened to the model, oldest first. Prices that differ by the hour of the day are no events. */
  history: Schema.Array(ModelEvent)
}).annotate({ identifier: "ModelDetail" })
export type ModelDetail = typeof ModelDetail.Type

/** Every model that passes the filters, on one page unless `limit` says less. */
export const ModelList = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(ModelDetail),
  /** Whether more of the list follow, with `before_id` whether more stand before. */
  has_more: Schema.Boolean,
  /** The ids of the first and the last model of the page; null where there is none. */
  first_id: Schema.NullOr(ModelId),
  last_id: Schema.NullOr(ModelId)
}).annotate({ identifier: "ModelList" })
export type ModelList = typeof ModelList.Type

/** Filters; a model must pass all that are given. */
export const modelQuery = {
  modality: Schema.optional(Modality),
  /** A provider's id; models that it can be asked for here. */
  provider: Schema.optional(Schema.String.check(...sized(1, 128, "characters"))),
  /** Only models with a provider that keeps nothing and can be asked for them here: the same one that `provider` names. */
  zdr: Schema.optional(Schema.Boolean),
  /** A comma-separated list; models that take them all. */
  supported_parameters: Schema.optional(Schema.String.check(...sized(0, 1_000, "characters"))),
  /** The most a prompt token may cost, in USD per million; leaves out models that charge by another unit. */
  max_price: Schema.optional(Usd),
  /** Words to find in id, name, brand or description. */
  q: Schema.optional(Schema.String.check(...sized(0, 256, "characters"))),
  /**
   * `price` and `-price` by the typical request, unpriced models last; `created` oldest first; `context` largest window first;
   * else the catalogue's own order.
   */
  sort: Schema.optional(Schema.Literals(["price", "-price", "created", "-created", "name", "context"])),
  /** So many models on a page, as Anthropic's clients ask for them; all unless told. */
  limit: Schema.optional(integer(1, 1_000)),
  /** Those behind this model of the list: the `last_id` of the page before. */
  after_id: Schema.optional(ModelId),
  /** Those right before this model of the list: the `first_id` of the page behind. Goes before `after_id`. */
  before_id: Schema.optional(ModelId)
}
/** The filters of a list of models, decoded. */
export const ModelQuery = Schema.Struct(modelQuery)
export type ModelQuery = typeof ModelQuery.Type

/** The catalogue. Free, and open to everyone. */
export class ModelsGroup extends HttpApiGroup.make("models").add(
  HttpApiEndpoint.get("list", "/models", { query: modelQuery, success: ModelList }).annotateMerge(
    operation("models.list", "List models", { limit: "default", charge: "free" })
  ),
  HttpApiEndpoint.get("get", "/models/:id", {
    params: { id: ModelId },
    success: ModelDetail,
    error: NotFoundError
  }).annotateMerge(operation("models.get", "Retrieve a model", { limit: "default", charge: "free" })),
  /** The same for an id with a slash that the caller did not escape. */
  HttpApiEndpoint.get("getNamespaced", "/models/:namespace/:name", {
    params: { namespace: ModelId, name: ModelId },
    success: ModelDetail,
    error: NotFoundError
  }).annotate(OpenApi.Exclude, true)
) {}
