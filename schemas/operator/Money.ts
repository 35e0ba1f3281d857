import { Schema } from "effect"
import { between, sized, storable, textOf, Usd } from "../Bounds.ts"
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
  /** Only requests of this account. */
  account_id: Schema.optionalKey(ResourceId),
  /** `simulated` reports requests that the sandbox's simulated money paid for. Default: `real`. */
  paid_with: Schema.optionalKey(Schema.Literals(["real", "simulated"])),
  limit: Schema.optionalKey(Limit),
  /** The `next_cursor` of the previous page. */
  cursor: Schema.optionalKey(Schema.String.check(...sized(1, 2_000, "characters"), storable))
}

const figures = {
  /** Requests that have ended. */
  requests: Schema.Int,
  /** Charges less refunds. */
  revenue_usd: Schema.Finite,
  /** The sum of the known provider charges. */
  provider_cost_usd: Usd,
  /**
   * The cost of attempts that served no answer: those that failed after their provider had begun to work, and the slower ones of hedged
   * requests. They count for their own provider and model. Part of it is an estimate.
   */
  attempt_cost_usd: Usd,
  /** Revenue less the providers' cost and the cost of such attempts. */
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
  /** The UTC day, such as `2026-01-31`. */
  day: Schema.NullOr(Schema.String),
  /** The id of the account. */
  account_id: Schema.NullOr(Schema.String),
  /** The address of the account's owner. */
  email: Schema.NullOr(Schema.String),
  /** The model that served, or the requested model if none did. */
  model: Schema.NullOr(Schema.String),
  /** Also null for requests that no provider served. */
  provider: Schema.NullOr(Schema.String),
  ...figures
}).annotate({ identifier: "ReportRow" })
export type ReportRow = typeof ReportRow.Type

/** One page of a report, in order of day, account, model and provider. `next_cursor` is null on the last page. */
export const OperatorReport = Schema.Struct({
  object: Schema.Literal("list"),
  /** The first day. */
  from: Schema.String,
  /** The last day. */
  to: Schema.String,
  /** The groups of the page. */
  data: Schema.Array(ReportRow),
  /** All groups together, across all pages. */
  totals: Schema.Struct(figures),
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: Schema.NullOr(Schema.String)
}).annotate({ identifier: "OperatorReport" })

/** `paid`, `expired` and `failed` are final. */
const TopUpStatus = Schema.Literals(["open", "paid", "expired", "failed"])

/** A top-up. Times are Unix seconds. */
export const OperatorTopUp = Schema.Struct({
  id: ResourceId,
  object: Schema.Literal("top_up"),
  account_id: ResourceId,
  /** The address of the account's owner. */
  email: Schema.String,
  /** The amount to pay. */
  amount_usd: Usd,
  /** The amount credited to the account; null before that. */
  credited_usd: Schema.NullOr(Usd),
  /** The amount that the processor gave back to the payer, as it reports. */
  refunded_usd: Usd,
  /** The amount that operators have taken back from the account since it was credited. */
  taken_back_usd: Usd,
  /** The payment processor. */
  processor: Schema.Literals(["stripe", "simulated"]),
  status: TopUpStatus,
  /** Why it needs an operator; null when it does not. */
  attention: Schema.NullOr(Schema.String),
  /** When the top-up was created. */
  created_at: Schema.Int,
  /** When the money was credited; null before. */
  paid_at: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "OperatorTopUp" })

/** One page of top-ups, newest first. `next_cursor` is null on the last page. */
export const OperatorTopUpList = Schema.Struct({
  object: Schema.Literal("list"),
  /** The entries of the page. */
  data: Schema.Array(OperatorTopUp),
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: Schema.NullOr(ResourceId)
}).annotate({ identifier: "OperatorTopUpList" })

const Reason = textOf(1, 500).check(storable)

/**
 * Settles a top-up that needs an operator. One that is not paid is credited and becomes `paid`; one that was paid twice is credited
 * again. Any other that is paid is taken back from the account's balance, because the processor gave the money back or it is disputed.
 */
export const TopUpSettlement = Schema.Struct({
  /**
   * In USD and whole cents. Default: the amount of the top-up when it is credited; what the processor reports to have given back, less
   * what was taken back before, when it is taken back.
   */
  amount_usd: Schema.optionalKey(
    between(0.01, 10_000).check(
      Schema.makeFilter<number>((usd) => Number(usd.toFixed(2)) === usd, { message: "must be a number of whole cents" })
    )
  ),
  /** The reason, for the audit log. */
  reason: Reason
}).annotate({ identifier: "TopUpSettlement" })

/** Dismisses a top-up that needs an operator: no money moves. One that waited for an operator to be paid becomes `expired`. */
export const TopUpDismissal = Schema.Struct({
  /** The reason, for the audit log. */
  reason: Reason
}).annotate({ identifier: "TopUpDismissal" })

/** An operator's decision about a top-up. */
export const TopUpDecision = Schema.Struct({
  data: Schema.Struct({
    object: Schema.Literal("top_up_decision"),
    top_up_id: ResourceId,
    account_id: ResourceId,
    /** What the operator decided. */
    action: Schema.Literals(["settled", "dismissed"]),
    /** The amount that the decision moved to the account: below zero when it took money back, zero for a dismissal. */
    amount_usd: Schema.Finite,
    /** The status of the top-up after it. */
    status: TopUpStatus,
    /** The account's balance. */
    balance_usd: Schema.Finite,
    /** The reason of the decision. */
    reason: Schema.String,
    /** The `Idempotency-Key`. The gateway keeps it, so that a repeat never moves money twice, however late. */
    reference: Schema.String,
    /** Whether an earlier request with this key had decided this, and nothing happened now. */
    repeated: Schema.Boolean
  })
}).annotate({ identifier: "TopUpDecision" })
export type TopUpDecision = typeof TopUpDecision.Type
