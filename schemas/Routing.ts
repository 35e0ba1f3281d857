import { Schema } from "effect"
import { atMost, integer, isStorable, sized, STORABLE } from "./Bounds.ts"
import { ModelString } from "./Ids.ts"

export const Strategy = Schema.Literals(["balanced", "cost", "latency", "quality"])
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
  /** Leave out providers that do not support every parameter of the request. */
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
  /** Time limits of one attempt in milliseconds. They can shorten the service's limits, not extend them. */
  timeouts: Schema.optionalKey(
    Schema.Struct({
      connect_ms: Schema.optionalKey(Milliseconds),
      first_token_ms: Schema.optionalKey(Milliseconds),
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
  provider: Schema.String,
  outcome: Schema.Literals(["served", "failed_over", "failed"]),
  attempt_index: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
}).annotate({ identifier: "ProviderAttempt" })

/** How `svc/auto` chose the model. */
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

/** The threshold, present beside a generated answer while the balance is below $5.00. */
export const BalanceWarning = Schema.Struct({
  warning: Schema.Literal("low_balance"),
  threshold: Schema.String
}).annotate({ identifier: "BalanceWarning" })
