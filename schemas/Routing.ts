import { Schema } from "effect"
import { isStorable, sized, STORABLE } from "./Bounds.ts"
import { ModelString } from "./Ids.ts"

export const Strategy = Schema.Literals(["balanced", "cost", "latency", "quality"])
export const DataPolicy = Schema.Literals(["default", "no_training", "zero_retention"])

const ProviderName = Schema.String.check(...sized(1, 128, "characters"))

/** Up to 32 providers. */
export const ProviderNames = Schema.Array(ProviderName).check(Schema.isMaxLength(32, { message: "at most 32 items" }))

/** An upper limit in USD. */
export const PriceLimit = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0, { message: "a number of at least 0" }))

const Milliseconds = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3_600_000 }, { message: "1 to 3600000" }))

/** How the caller wants a request routed. Nothing but these fields is allowed. */
export const RoutingPolicy = Schema.Struct({
  strategy: Schema.optionalKey(Strategy),
  providers: Schema.optionalKey(
    Schema.Struct({
      /** Only these providers, in no order. */
      only: Schema.optionalKey(ProviderNames),
      /** These first, in this order. */
      order: Schema.optionalKey(ProviderNames),
      /** Never these. */
      ignore: Schema.optionalKey(ProviderNames)
    })
  ),
  /** Whether another provider or model may be tried when the first fails. True unless told. */
  allow_fallbacks: Schema.optionalKey(Schema.Boolean),
  /** Providers that do not meet it are left out, never silently used. */
  data_policy: Schema.optionalKey(DataPolicy),
  /** `auto`: prompt-cache breakpoints are set for the caller where a provider needs them. */
  caching: Schema.optionalKey(Schema.Literal("auto")),
  /** Leave out providers that do not take every parameter of the request. */
  require_parameters: Schema.optionalKey(Schema.Boolean),
  /** Upper limits in USD: per million prompt or completion tokens, per request, per image. */
  max_price: Schema.optionalKey(
    Schema.Struct({
      prompt: Schema.optionalKey(PriceLimit),
      completion: Schema.optionalKey(PriceLimit),
      request: Schema.optionalKey(PriceLimit),
      image: Schema.optionalKey(PriceLimit)
    })
  ),
  /** Clocks of one attempt in milliseconds; they can shorten the service's, not lengthen them. */
  timeouts: Schema.optionalKey(
    Schema.Struct({
      connect_ms: Schema.optionalKey(Milliseconds),
      first_token_ms: Schema.optionalKey(Milliseconds),
      total_ms: Schema.optionalKey(Milliseconds)
    })
  )
}).annotate({ identifier: "RoutingPolicy" })
export type RoutingPolicy = typeof RoutingPolicy.Type

/** The routing that a key or a project is kept with, for requests that do not say otherwise. */
export const KeptRoutingPolicy = RoutingPolicy.check(
  Schema.makeFilter<RoutingPolicy>(isStorable, { message: STORABLE })
).annotate({ identifier: "KeptRoutingPolicy" })

/** A model's id, or a pattern in which `*` stands for any characters; with or without its vendor before a slash. */
const ModelPattern = Schema.String.check(...sized(1, 160, "characters"))

const ModelPatterns = Schema.Array(ModelPattern).check(Schema.isMaxLength(1_024, { message: "at most 1024 items" }))

/** How `svc/auto` may choose. Nothing but these fields is allowed, and with any other model they have no effect. */
export const RouterOptions = Schema.Struct({
  /** Only these models, as ids or patterns such as `anthropic/*`. */
  allowed_models: Schema.optionalKey(ModelPatterns),
  /** Never these, even where they are allowed. */
  excluded_models: Schema.optionalKey(ModelPatterns),
  /** A fifth of the models that can serve the request, by price: `low` has the cheapest. Unless told, the lower three. */
  cost_tier: Schema.optionalKey(Schema.Literals(["low", "medium", "high", "xhigh", "max"])),
  /** Whether requests with the same `session_id` go to the model that was chosen for the first of them. */
  pin_model: Schema.optionalKey(Schema.Boolean)
}).annotate({ identifier: "RouterOptions" })
export type RouterOptions = typeof RouterOptions.Type

/** One call to one provider. */
export const ProviderAttempt = Schema.Struct({
  provider: Schema.String,
  outcome: Schema.Literals(["served", "failed_over", "failed"]),
  attempt_index: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
}).annotate({ identifier: "ProviderAttempt" })

/** How `svc/auto` chose. */
export const RouterDecisionSummary = Schema.Struct({
  id: Schema.Literal("svc/auto"),
  task: Schema.String,
  classified_by: Schema.Literals(["regex", "llm", "llm-cached"]),
  override: Schema.NullOr(Schema.Literals(["long_context", "multilingual"])),
  reasoning: Schema.String,
  candidates: Schema.Array(ModelString),
  considered: Schema.Array(Schema.Record(Schema.String, Schema.Unknown))
}).annotate({ identifier: "RouterDecisionSummary" })
export type RouterDecisionSummary = typeof RouterDecisionSummary.Type

/** How a request was routed. */
export const RoutingSummary = Schema.Struct({
  strategy: Strategy,
  requested_models: Schema.Array(ModelString),
  resolved_model: ModelString,
  provider: Schema.NullOr(Schema.String),
  provider_attempts: Schema.optionalKey(Schema.Array(ProviderAttempt)),
  fallbacks_allowed: Schema.Boolean,
  data_policy: DataPolicy,
  caching: Schema.optionalKey(Schema.Literal("auto")),
  source: Schema.optionalKey(Schema.Literals(["request", "project", "default"])),
  router: Schema.optionalKey(RouterDecisionSummary)
}).annotate({ identifier: "RoutingSummary" })
export type RoutingSummary = typeof RoutingSummary.Type

/** Said beside a generated answer while the balance is below $5.00. */
export const BalanceWarning = Schema.Struct({
  warning: Schema.Literal("low_balance"),
  threshold: Schema.String
}).annotate({ identifier: "BalanceWarning" })
