import { Schema } from "effect"
import { atMost, integer, isStorable, sized, STORABLE } from "./Bounds.ts"
import { ModelString } from "./Ids.ts"

/**
 * The order among the providers and models that can serve a request: by `cost`, `latency` or `quality`, or `balanced` between them, which
 * is the default.
 */
export const Strategy = Schema.Literals(["balanced", "cost", "latency", "quality"])
/**
 * `no_training`: no provider that trains on data. `zero_retention`: no provider that keeps data, and no
 * content in the gateway's own storage.
 */
export const DataPolicy = Schema.Literals(["default", "no_training", "zero_retention"])

const ProviderName = Schema.String.check(...sized(1, 128, "characters"))

/** Up to 32 providers. */
export const ProviderNames = Schema.Array(ProviderName).check(atMost(32))

/** An upper limit in USD. */
export const PriceLimit = Schema.Finite.check(
  Schema.isGreaterThanOrEqualTo(0, { message: "must be a number of at least 0" })
)

const Milliseconds = integer(1, 3_600_000)

/** Routing options of a request. Unknown fields are rejected. */
export const RoutingPolicy = Schema.Struct({
  strategy: Schema.optionalKey(Strategy),
  /** The providers that may serve the request, each list with at most 32. */
  providers: Schema.optionalKey(
    Schema.Struct({
      /** Use only these providers, in any order. */
      only: Schema.optionalKey(ProviderNames),
      /** Prefer these providers, in this order. */
      order: Schema.optionalKey(ProviderNames),
      /** Never use these providers. */
      ignore: Schema.optionalKey(ProviderNames)
    })
  ),
  /** Whether another provider or model may be tried when the first fails. Default: true. */
  allow_fallbacks: Schema.optionalKey(Schema.Boolean),
  /** Providers that do not meet the policy are left out, never silently used. */
  data_policy: Schema.optionalKey(DataPolicy),
  /** `auto`: the gateway sets prompt cache breakpoints for providers that need them. */
  caching: Schema.optionalKey(Schema.Literal("auto")),
  /** Whether providers are left out that do not support every parameter of the request. Default: false. */
  require_parameters: Schema.optionalKey(Schema.Boolean),
  /** Upper limits of the price in USD. */
  max_price: Schema.optionalKey(
    Schema.Struct({
      /** Per million prompt tokens. */
      prompt: Schema.optionalKey(PriceLimit),
      /** Per million output tokens. */
      completion: Schema.optionalKey(PriceLimit),
      /** Per request. */
      request: Schema.optionalKey(PriceLimit),
      /** Per image. No effect on chat. */
      image: Schema.optionalKey(PriceLimit)
    })
  ),
  /** Time limits of one attempt in milliseconds. They can shorten the service's limits, not extend them. */
  timeouts: Schema.optionalKey(
    Schema.Struct({
      /** Until the provider accepts the connection. */
      connect_ms: Schema.optionalKey(Milliseconds),
      /** Until the first content arrives. */
      first_token_ms: Schema.optionalKey(Milliseconds),
      /** Until the answer is complete. */
      total_ms: Schema.optionalKey(Milliseconds)
    })
  )
}).annotate({ identifier: "RoutingPolicy" })
export type RoutingPolicy = typeof RoutingPolicy.Type

/** The routing options stored with a key or a project, for requests that set none. */
export const KeptRoutingPolicy = RoutingPolicy.check(
  Schema.makeFilter<RoutingPolicy>(isStorable, { message: STORABLE })
).annotate({ identifier: "KeptRoutingPolicy" })

/** A model id, or a pattern in which `*` stands for any characters, with or without the vendor before a slash. */
const ModelPattern = Schema.String.check(...sized(1, 160, "characters"))

const ModelPatterns = Schema.Array(ModelPattern).check(atMost(1_024))

/** Options for `svc/auto`. Unknown fields are rejected. For other models the options have no effect. */
export const RouterOptions = Schema.Struct({
  /** Use only these models, given as ids or patterns such as `anthropic/*`. */
  allowed_models: Schema.optionalKey(ModelPatterns),
  /** Never use these models, even if they are allowed. */
  excluded_models: Schema.optionalKey(ModelPatterns),
  /** A fifth of the suitable models by price; `low` contains the cheapest. Default: the three lowest fifths. */
  cost_tier: Schema.optionalKey(Schema.Literals(["low", "medium", "high", "xhigh", "max"])),
  /** Whether requests with the same `session_id` use the model that was chosen for the first of them. */
  pin_model: Schema.optionalKey(Schema.Boolean)
}).annotate({ identifier: "RouterOptions" })
export type RouterOptions = typeof RouterOptions.Type

/** One call to one provider. */
export const ProviderAttempt = Schema.Struct({
  /** The id of the provider. */
  provider: Schema.String,
  /** `failed_over`: it failed, and the next attempt followed. `failed`: it failed, and the request with it. */
  outcome: Schema.Literals(["served", "failed_over", "failed"]),
  /** The place of the attempt, from 0. */
  attempt_index: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
}).annotate({ identifier: "ProviderAttempt" })

/** How `svc/auto` chose the model. */
export const RouterDecisionSummary = Schema.Struct({
  id: Schema.Literal("svc/auto"),
  /** The task that the gateway found in the request, such as `code`. */
  task: Schema.String,
  /** Whether rules or a model found the task. `llm-cached`: a model did for the same text before. */
  classified_by: Schema.Literals(["regex", "llm", "llm-cached"]),
  /** The property of the prompt that counted more than its task: its length, or a language other than English; null without one. */
  override: Schema.NullOr(Schema.Literals(["long_context", "multilingual"])),
  /** The decision in a sentence. */
  reasoning: Schema.String,
  /** The chosen model and its fallbacks, in order. */
  candidates: Schema.Array(ModelString),
  /** Models that were chosen or passed over, each with the reason. */
  considered: Schema.Array(Schema.Record(Schema.String, Schema.Unknown))
}).annotate({ identifier: "RouterDecisionSummary" })
export type RouterDecisionSummary = typeof RouterDecisionSummary.Type

/** How a request was routed. */
export const RoutingSummary = Schema.Struct({
  strategy: Strategy,
  /** The requested model or chain. */
  requested_models: Schema.Array(ModelString),
  /** The model that served. */
  resolved_model: ModelString,
  /** The provider that served; null when none did. */
  provider: Schema.NullOr(Schema.String),
  /** The calls to providers, in order. */
  provider_attempts: Schema.optionalKey(Schema.Array(ProviderAttempt)),
  /** Whether another provider or model could be tried when the first failed. */
  fallbacks_allowed: Schema.Boolean,
  data_policy: DataPolicy,
  caching: Schema.optionalKey(Schema.Literal("auto")),
  /** Where the routing came from: the request or its preset, the key or its project, or the defaults. */
  source: Schema.optionalKey(Schema.Literals(["request", "project", "default"])),
  router: Schema.optionalKey(RouterDecisionSummary)
}).annotate({ identifier: "RoutingSummary" })
export type RoutingSummary = typeof RoutingSummary.Type

/** A warning beside an answer while the balance is below $5.00. */
export const BalanceWarning = Schema.Struct({
  warning: Schema.Literal("low_balance"),
  /** The threshold in USD. */
  threshold: Schema.String
}).annotate({ identifier: "BalanceWarning" })
