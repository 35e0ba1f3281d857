import { Schema } from "effect"
import { sized, storable, Usd } from "../Bounds.ts"
import { ResourceId } from "../Ids.ts"
import { Limit } from "../Page.ts"

/** The properties that a report can be grouped by. */
export const ReportGroup = Schema.Literals(["day", "account", "model", "provider"]).annotate({
  identifier: "ReportGroup"
})

const Day = Schema.String.check(
  Schema.makeFilter((text) => {
    const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
    return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text) ? true : "must be a day such as 2026-01-31"
  })
)

/** The range of a report, in UTC days, and its groups. */
export const ReportQuery = {
  /** May be given several times. Default: `day`. */
  "by[]": Schema.optionalKey(Schema.Array(ReportGroup).check(...sized(1, 4, "items"))),
  /** The first day. Default: 29 days before the last. */
  from: Schema.optionalKey(Day),
  /** The last day. Default: today. */
  to: Schema.optionalKey(Day),
  account_id: Schema.optionalKey(ResourceId),
  /** `simulated` reports requests that the sandbox's simulated money paid for. Default: `real`. */
  paid_with: Schema.optionalKey(Schema.Literals(["real", "simulated"])),
  limit: Schema.optionalKey(Limit),
  /** The `next_cursor` of the previous page. */
  cursor: Schema.optionalKey(Schema.String.check(...sized(1, 2_000, "characters"), storable))
}

const figures = {
  requests: Schema.Int,
  /** Charges less refunds. */
  revenue_usd: Schema.Finite,
  /** The sum of the known provider charges. */
  provider_cost_usd: Usd,
  /** Revenue less the providers' cost. */
  margin_usd: Schema.Finite,
  /** The margin in hundredths of a percent of the revenue; null without revenue. */
  margin_basis_points: Schema.NullOr(Schema.Int),
  /** Charged requests of which the provider's cost is unknown. */
  uncosted_requests: Schema.Int,
  /** The price of usage beyond holds, which the operator bears. */
  absorbed_usd: Usd
}

/** The revenue and the cost of a group of requests. A property is null unless the report is grouped by it. */
export const ReportRow = Schema.Struct({
  day: Schema.NullOr(Schema.String),
  account_id: Schema.NullOr(Schema.String),
  /** The address of the account's owner. */
  email: Schema.NullOr(Schema.String),
  model: Schema.NullOr(Schema.String),
  /** Also null for requests that no provider served. */
  provider: Schema.NullOr(Schema.String),
  ...figures
}).annotate({ identifier: "ReportRow" })
export type ReportRow = typeof ReportRow.Type

/** One page of a report, in order of day, account, model and provider. `next_cursor` is null on the last page. */
export const OperatorReport = Schema.Struct({
  object: Schema.Literal("list"),
  from: Schema.String,
  to: Schema.String,
  data: Schema.Array(ReportRow),
  /** All groups together, across all pages. */
  totals: Schema.Struct(figures),
  next_cursor: Schema.NullOr(Schema.String)
}).annotate({ identifier: "OperatorReport" })

/** A top-up that needs an operator. Times are Unix seconds. */
export const OperatorTopUp = Schema.Struct({
  id: ResourceId,
  object: Schema.Literal("top_up"),
  account_id: ResourceId,
  email: Schema.String,
  amount_usd: Usd,
  refunded_usd: Usd,
  processor: Schema.Literals(["stripe", "simulated"]),
  status: Schema.Literals(["open", "paid", "expired", "failed"]),
  /** Why it needs an operator. */
  attention: Schema.String,
  created_at: Schema.Int,
  paid_at: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "OperatorTopUp" })

/** One page of top-ups that need an operator, newest first. `next_cursor` is null on the last page. */
export const OperatorTopUpList = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(OperatorTopUp),
  next_cursor: Schema.NullOr(ResourceId)
}).annotate({ identifier: "OperatorTopUpList" })

/** The page of a list of top-ups. */
export const OperatorTopUpPage = {
  limit: Schema.optionalKey(Limit),
  /** The `next_cursor` of the previous page. */
  cursor: Schema.optionalKey(ResourceId)
}
