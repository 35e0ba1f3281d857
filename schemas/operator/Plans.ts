import { Schema } from "effect"
import { between, integer, sized, storable, textOf, Usd } from "../Bounds.ts"
import { ResourceId } from "../Ids.ts"

/** USD per million tokens. A rate of up to six decimals is exact. */
const Rate = between(0, 1_000_000)

const Model = Schema.String.check(...sized(1, 200, "characters"), storable)

/** A fixed price of a model that is priced per token. A cached or cache-write rate that is absent is the input rate. */
export const PlanTokenPrice = Schema.Struct({
  /** The id of the model. */
  model: Model,
  input_usd_per_million: Rate,
  output_usd_per_million: Rate,
  cached_input_usd_per_million: Schema.optionalKey(Rate),
  cache_write_usd_per_million: Schema.optionalKey(Rate),
  /** USD per request, beside the tokens. Default: 0. */
  per_request_usd: Schema.optionalKey(between(0, 1_000))
}).annotate({ identifier: "PlanTokenPrice" })

/** A fixed price of a model that is priced per image, second, character or request. */
export const PlanUnitPrice = Schema.Struct({
  /** The id of the model. */
  model: Model,
  /** USD per unit. */
  per_unit_usd: between(0, 100_000)
}).annotate({ identifier: "PlanUnitPrice" })

/** A fixed price of one model. */
export const PlanPrice = Schema.Union([PlanTokenPrice, PlanUnitPrice]).annotate({ identifier: "PlanPrice" })
export type PlanPrice = typeof PlanPrice.Type

/** The limits of each account of a plan. Null leaves the usual limit. */
export const PlanLimits = Schema.Struct({
  /** Chat requests a minute per key. The other rate limits change in proportion. An account's own factor wins. */
  requests_per_minute: Schema.optionalKey(Schema.NullOr(integer(1, 1_000_000))),
  /** Unfinished videos. */
  running_videos: Schema.optionalKey(Schema.NullOr(integer(1, 10_000))),
  /** Unfinished batches of files. */
  running_batches: Schema.optionalKey(Schema.NullOr(integer(1, 10_000))),
  /** The most that an account spends in a UTC day, over all its keys. */
  daily_spend_usd: Schema.optionalKey(Schema.NullOr(between(0, 1_000_000_000)))
}).annotate({ identifier: "PlanLimits" })
export type PlanLimits = typeof PlanLimits.Type

const Prices = Schema.Array(PlanPrice).check(...sized(0, 500, "items"))
const Name = textOf(1, 100).check(storable)
const Markup = integer(-9_999, 100_000)

/** A new price plan. */
export const PlanCreate = Schema.Struct({
  /** Unique without regard to case. */
  name: Name,
  /** In hundredths of a percent of the catalogue's prices. Default: 0. */
  markup_basis_points: Schema.optionalKey(Markup),
  /** Fixed prices, at most one per model. They win over every markup. */
  prices: Schema.optionalKey(Prices),
  limits: Schema.optionalKey(PlanLimits)
}).annotate({ identifier: "PlanCreate" })

/** A change of a plan. Absent fields stay as they are. */
export const PlanChange = Schema.Struct({
  /** Unique without regard to case. */
  name: Schema.optionalKey(Name),
  /** In hundredths of a percent of the catalogue's prices. */
  markup_basis_points: Schema.optionalKey(Markup),
  /** Fixed prices, at most one per model. They replace the whole list. */
  prices: Schema.optionalKey(Prices),
  /** Absent limits stay as they are. */
  limits: Schema.optionalKey(PlanLimits)
}).annotate({ identifier: "PlanChange" })

/** A price plan. */
export const Plan = Schema.Struct({
  id: ResourceId,
  object: Schema.Literal("plan"),
  /** The name of the plan. */
  name: Schema.String,
  /** In hundredths of a percent of the catalogue's prices. */
  markup_basis_points: Schema.Int,
  /** Fixed prices. They win over every markup. */
  prices: Schema.Array(PlanPrice),
  /** The limits of each account of the plan. Null leaves the usual limit. */
  limits: Schema.Struct({
    /** Chat requests a minute per key. */
    requests_per_minute: Schema.NullOr(Schema.Int),
    /** Unfinished videos. */
    running_videos: Schema.NullOr(Schema.Int),
    /** Unfinished batches of files. */
    running_batches: Schema.NullOr(Schema.Int),
    /** The most that an account spends in a UTC day, over all its keys. */
    daily_spend_usd: Schema.NullOr(Usd)
  }),
  /** The number of accounts that belong to it. */
  accounts: Schema.Int,
  /** Unix seconds. */
  created_at: Schema.Int
}).annotate({ identifier: "Plan" })
export type Plan = typeof Plan.Type

/** A plan. */
export const PlanResult = Schema.Struct({ data: Plan }).annotate({ identifier: "PlanResult" })

/** All plans, by name. */
export const PlanList = Schema.Struct({
  object: Schema.Literal("list"),
  /** The plans. */
  data: Schema.Array(Plan)
}).annotate({ identifier: "PlanList" })

/** The result of removing a plan. */
export const PlanRemoved = Schema.Struct({
  data: Schema.Struct({ id: ResourceId, object: Schema.Literal("plan"), deleted: Schema.Literal(true) })
}).annotate({ identifier: "PlanRemoved" })

/** The plan of an account; null ends its plan. */
export const AccountPlan = Schema.Struct({ plan_id: Schema.NullOr(ResourceId) }).annotate({ identifier: "AccountPlan" })

/** The plan of an account after a change. */
export const AccountPlanResult = Schema.Struct({
  data: Schema.Struct({ id: ResourceId, object: Schema.Literal("account"), plan_id: Schema.NullOr(ResourceId) })
}).annotate({ identifier: "AccountPlanResult" })
