import { Schema } from "effect"
import { between, Usd } from "../Bounds.ts"

/** A bound on what a provider may cost in a UTC day, and what the current day has cost. `all` stands for all providers together. */
export const ProviderSpend = Schema.Struct({
  object: Schema.Literal("provider_spend"),
  /** The id of the provider, or `all`. */
  provider: Schema.String,
  /** The bound in USD per UTC day. */
  limit_usd: Usd,
  /** Cost of ended requests. */
  settled_usd: Usd,
  /** The most that running requests may cost. */
  reserved_usd: Usd
}).annotate({ identifier: "ProviderSpend" })

/** All bounds, by provider. Figures are at most a few seconds old. */
export const ProviderSpendList = Schema.Struct({
  object: Schema.Literal("list"),
  /** The entries. */
  data: Schema.Array(ProviderSpend),
  /** The ids of the providers that the gateway can send requests to, with a bound or without one. */
  providers: Schema.Array(Schema.String)
}).annotate({ identifier: "ProviderSpendList" })

/** A new bound on what a provider may cost. */
export const ProviderSpendLimit = Schema.Struct({
  /** In USD per UTC day, at most 1,000,000,000; null removes the bound. */
  limit_usd: Schema.NullOr(between(0, 1_000_000_000))
}).annotate({ identifier: "ProviderSpendLimit" })

/** The bound of a provider after a change. */
export const ProviderSpendLimitResult = Schema.Struct({
  data: Schema.Struct({
    object: Schema.Literal("provider_spend"),
    /** The id of the provider, or `all`. */
    provider: Schema.String,
    /** The bound in USD per UTC day; null without one. */
    limit_usd: Schema.NullOr(Usd)
  })
}).annotate({ identifier: "ProviderSpendLimitResult" })
