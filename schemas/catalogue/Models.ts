import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Count, integer, sized, Usd } from "../Bounds.ts"
import { NotFoundError } from "../Errors.ts"
import { operation } from "../Operation.ts"
import { openRouterModel, textPrices } from "./OpenRouterModel.ts"

const ModelId = Schema.String.check(...sized(1, 160, "characters"))

/** The kind of input and output of a model, which determines its operations. */
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

/** A temporary price cut, from `startsAt` until just before `endsAt`. A request keeps the price at which it was admitted. */
export const Promotion = Schema.Struct({
  /** The name of the promotion. */
  label: Schema.String,
  /** Above 0 and below 100. Discounted rates are rounded up to a multiple of 1e-12 USD. */
  discountPercent: Schema.Finite,
  /** ISO 8601. */
  startsAt: Schema.String,
  /** ISO 8601. */
  endsAt: Schema.String
}).annotate({ identifier: "Promotion" })

/**
 * The model's price at its preferred available provider, in USD. A member is null when its unit does not apply. If long prompts cost
 * more, these are the rates of the shortest.
 */
export const ModelPricing = Schema.Struct({
  /** The unit of the price. */
  unit: Schema.Literals(["token", "request", "image", "second", "character"]),
  /**
   * For comparison: the cost of a text request with 1,000 prompt and 500 output tokens, an embedding of 1,000 tokens, a rerank of
   * 10,000 tokens, one image, 5 seconds of video, 1,000 characters of speech, or one search.
   */
  typicalRequestUsd: Schema.NullOr(Usd),
  /** For a token of the prompt outside the prompt cache. */
  meteredPromptPerToken: Schema.NullOr(Usd),
  /** For a token read from the prompt cache. */
  meteredCachedPromptPerToken: Schema.NullOr(Usd),
  /** For a token written to the prompt cache. */
  meteredCacheWritePromptPerToken: Schema.NullOr(Usd),
  /** For a token of the output. */
  meteredCompletionPerToken: Schema.NullOr(Usd),
  /** Charged once per request, whatever it uses. */
  perRequestUsd: Schema.NullOr(Usd),
  /** For an image, a second, a character or a request. */
  perUnitUsd: Schema.NullOr(Usd),
  /** `perUnitUsd` without the promotion; for token prices, `meteredPromptPerToken` without it. Null when there is no promotion. */
  listPerUnitUsd: Schema.NullOr(Usd),
  /** The promotion that lowers all prices shown here. */
  promotion: Schema.NullOr(Promotion),
  ...textPrices
}).annotate({ identifier: "ModelPricing" })

/** A provider's performance for the model in the last 30 minutes, across all nodes. Unknown values are null. */
export const ProviderPerformance = Schema.Struct({
  /** The number of requests. */
  samples: Count,
  /** The share of successful requests, 0 to 1. */
  successRate: Schema.NullOr(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))),
  /** The median time to the end of the answer, of successful requests as all times. */
  p50Ms: Schema.NullOr(Usd),
  /** The time within which 95% of them ended. */
  p95Ms: Schema.NullOr(Usd),
  /** The median time to the first content of a stream. */
  medianTtftMs: Schema.NullOr(Usd),
  /** True for fewer than 20 samples, which are not reliable. */
  thin: Schema.Boolean
}).annotate({ identifier: "ProviderPerformance" })

/** A provider that offers the model. */
export const ModelProvider = Schema.Struct({
  /** The id of the provider. */
  provider: Schema.String,
  /** Its name for people. */
  providerDisplayName: Schema.String,
  /** The id of the model there. */
  upstreamModelId: Schema.String,
  /** `primary`: the first available provider; its price is shown. The routing of a request decides which provider it uses first. */
  role: Schema.Literals(["primary", "fallback"]),
  /** Whether the gateway can call it. */
  available: Schema.Boolean,
  /** Capabilities of the model that this provider does not support. */
  unsupportedCapabilities: Schema.Array(Schema.String),
  /** Whether the provider may train on prompts and answers. */
  trainsOnData: Schema.Boolean,
  /** Whether the provider keeps no prompts and answers. */
  zeroRetentionAvailable: Schema.Boolean,
  /** In tokens; 0 for models that do not count tokens. */
  contextWindow: Count,
  /** The maximum number of output tokens there; 0 for models that do not count tokens. */
  maxOutputTokens: Count,
  performance: ProviderPerformance
}).annotate({ identifier: "ModelProvider" })

/** How the entry differs from the published data of the model. */
export const ModelOverlay = Schema.Struct({
  /** Whether the price was set by this service, because no price list has it or the operator changed it. */
  isOverlay: Schema.Boolean,
  /** `provider` for a model that is called, `router` for an id that chooses a model. */
  dispatch: Schema.Literals(["provider", "router"]),
  /** Which of price and status this service sets itself. */
  overrideStatus: Schema.Literals(["none", "price", "status", "price_and_status"])
}).annotate({ identifier: "ModelOverlay" })

/** A change of a model. */
export const ModelEvent = Schema.Struct({
  /** `released`, `price_changed`, `promotion_started`, `promotion_ended`, a status, or a word that the operator chose. */
  event: Schema.String,
  /** `YYYY-MM-DD`, in UTC. */
  date: Schema.String,
  /** Present when it happened at one provider only. */
  provider: Schema.optionalKey(Schema.String),
  /** A sentence about the change. */
  detail: Schema.optionalKey(Schema.String),
  /** For token prices, as in `pricing`: the price from then on, without promotions. */
  meteredPromptPerToken: Schema.optionalKey(Usd),
  /** The same for a token of the output. */
  meteredCompletionPerToken: Schema.optionalKey(Usd),
  /** For any other price. */
  perUnitUsd: Schema.optionalKey(Usd)
}).annotate({ identifier: "ModelEvent" })

/** A model of the catalogue, with its prices and its providers. */
export const ModelDetail = Schema.Struct({
  object: Schema.Literal("model"),
  /** The id that requests name. */
  id: ModelId,
  /** The name for people. */
  name: Schema.String,
  /** The release date, in Unix seconds. */
  created: Schema.Int,
  /** The vendor of the model. */
  owned_by: Schema.String,
  modality: Modality,
  /** `deprecated` models still serve, `retired` ones do not. */
  status: Schema.Literals(["preview", "ga", "deprecated", "retired"]),
  /** Whether a request for it can be served now. */
  servable: Schema.Boolean,
  /** The abilities of the model, such as `tools` and `vision`. */
  capabilities: Schema.Array(Schema.String),
  pricing: ModelPricing,
  /** In order of preference. */
  providers: Schema.Array(ModelProvider),
  /** Optional request parameters that change the answer. */
  supportedParameters: Schema.Array(Schema.String),
  /** The family of models. */
  brand: Schema.String,
  /** The model in a sentence. */
  description: Schema.String,
  /** In tokens; 0 for models that do not count tokens. */
  contextWindow: Count,
  /** The maximum number of output tokens; 0 for models that do not count tokens. */
  maxOutputTokens: Count,
  /** Whether the id stands for a choice among other models. */
  virtual: Schema.Boolean,
  /** Facts about the charge that the prices do not show; empty when there are none. */
  pricingNote: Schema.String,
  overlay: ModelOverlay,
  /** The model's changes, oldest first. Prices that vary by the hour of the day are not recorded. */
  history: Schema.Array(ModelEvent),
  ...openRouterModel
}).annotate({ identifier: "ModelDetail" })
export type ModelDetail = typeof ModelDetail.Type

/** All models that pass the filters, on one page unless `limit` is smaller. */
export const ModelList = Schema.Struct({
  object: Schema.Literal("list"),
  /** The models. */
  data: Schema.Array(ModelDetail),
  /** Whether more models follow; with `before_id`, whether more come before. */
  has_more: Schema.Boolean,
  /** The id of the first model on the page; null when it is empty. */
  first_id: Schema.NullOr(ModelId),
  /** The id of the last model on the page; null when it is empty. */
  last_id: Schema.NullOr(ModelId),
  /** The number of models that pass the filters, on all pages. */
  total_count: Count,
  /** Other pages. */
  links: Schema.Struct({
    /** The path and query of the next page; null on the last. */
    next: Schema.NullOr(Schema.String)
  })
}).annotate({ identifier: "ModelList" })
export type ModelList = typeof ModelList.Type

/** Filters. A model must pass all of them. */
export const modelQuery = {
  modality: Schema.optional(Modality),
  /** A provider id: only models that this provider serves here. */
  provider: Schema.optional(Schema.String.check(...sized(1, 128, "characters"))),
  /** Only models with an available provider that retains no data. With `provider`, it must be that provider. */
  zdr: Schema.optional(Schema.Boolean),
  /** A comma-separated list: only models that support all of these parameters. */
  supported_parameters: Schema.optional(Schema.String.check(...sized(0, 1_000, "characters"))),
  /** The maximum price of a prompt token, in USD per million. Models with another unit are left out. */
  max_price: Schema.optional(Usd),
  /** Words to find in the id, name, brand or description. */
  q: Schema.optional(Schema.String.check(...sized(0, 256, "characters"))),
  /**
   * `price` and `-price` sort by the typical request, with unpriced models last; `created` by age, oldest first; `context` by context
   * window, largest first. Default: the catalogue's order.
   */
  sort: Schema.optional(Schema.Literals(["price", "-price", "created", "-created", "name", "context"])),
  /** The maximum number of models on a page, as Anthropic's clients send it. Default: all. */
  limit: Schema.optional(integer(1, 1_000)),
  /** Models after this one: the `last_id` of the previous page. */
  after_id: Schema.optional(ModelId),
  /** Models right before this one: the `first_id` of the next page. Overrides `after_id`. */
  before_id: Schema.optional(ModelId),
  /** The number of models to skip, as OpenRouter's clients page. Has no effect beside `after_id` and `before_id`. */
  offset: Schema.optional(integer(0, 1_000_000))
}
/** The decoded filters of a model list. */
export const ModelQuery = Schema.Struct(modelQuery)
export type ModelQuery = typeof ModelQuery.Type

/** The catalogue. It is free and needs no key. */
export class ModelsGroup extends HttpApiGroup.make("models").add(
  HttpApiEndpoint.get("list", "/models", { query: modelQuery, success: ModelList }).annotateMerge(
    operation("models.list", "List models", { limit: "default", charge: "free" })
  ),
  HttpApiEndpoint.get("get", "/models/:id", {
    params: {
      /** The id of a model. */
      id: ModelId
    },
    success: ModelDetail,
    error: NotFoundError
  }).annotateMerge(operation("models.get", "Retrieve a model", { limit: "default", charge: "free" })),
  // An id may contain an unescaped slash.
  HttpApiEndpoint.get("getNamespaced", "/models/:namespace/:name", {
    params: { namespace: ModelId, name: ModelId },
    success: ModelDetail,
    error: NotFoundError
  }).annotate(OpenApi.Exclude, true)
) {}
