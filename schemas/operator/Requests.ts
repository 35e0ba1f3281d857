import { Schema } from "effect"
import { sized, storable, textOf, Usd } from "../Bounds.ts"
import { RequestReceipt, RequestStatus } from "../account/Requests.ts"
import { RequestId, ResourceId } from "../Ids.ts"
import { Limit } from "../Page.ts"

/** An attempt that served no answer although its provider had begun to work. */
export const OperatorAttemptCost = Schema.Struct({
  /** As in `routing.provider_attempts`. */
  attempt_index: Schema.Int,
  /** The id of the provider. */
  provider: Schema.String,
  /** The id of the model. */
  model: Schema.String,
  /** The provider's charge to the operator. */
  cost_usd: Usd,
  /** `estimated`: the provider reported no usage, and the gateway counted what it sent and what had arrived. */
  basis: Schema.Literals(["reported", "estimated"])
}).annotate({ identifier: "OperatorAttemptCost" })

/** The properties of a request that only operators see. */
const beside = {
  account_id: ResourceId,
  /** The provider's charge to the operator; null when the provider did not report it and no price list states it. */
  provider_cost_usd: Schema.NullOr(Usd),
  /** The cost of attempts that served no answer, all together. The account never pays for them. */
  attempt_cost_usd: Usd,
  /** These attempts, in the order of `routing.provider_attempts`. */
  attempt_costs: Schema.Array(OperatorAttemptCost),
  /** How the price came about; null for the catalogue's price. */
  price_rule: Schema.NullOr(
    Schema.Struct({
      /** The account's own markup, its plan's markup, or a fixed price of its plan. */
      by: Schema.Literals(["account", "plan", "plan_price"]),
      /** The name of the account's plan. */
      plan: Schema.optionalKey(Schema.String),
      /** In basis points. */
      markup: Schema.optionalKey(Schema.Int)
    })
  )
}

/** A receipt with the provider's cost. */
export const OperatorReceipt = Schema.Struct({ ...RequestReceipt.fields, ...beside }).annotate({
  identifier: "OperatorReceipt"
})

/** One page of an account's receipts, newest first, as `RequestList` describes it. */
export const OperatorReceiptList = Schema.Struct({
  object: Schema.Literal("list"),
  /** The entries of the page. */
  data: Schema.Array(OperatorReceipt),
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: Schema.NullOr(RequestId),
  /** When the oldest request that this page searched arrived, in Unix seconds; null when the page searched all of them. */
  searched_to: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "OperatorReceiptList" })

/** A receipt of any account with the address of its owner. */
export const OperatorAnyReceipt = Schema.Struct({
  ...RequestReceipt.fields,
  ...beside,
  /** The address of the account's owner. */
  email: Schema.String
}).annotate({ identifier: "OperatorAnyReceipt" })

/** One page of the receipts of all accounts, newest first. A page examines at most 10,000 requests, so it may be short or empty. */
export const OperatorAnyReceiptList = Schema.Struct({
  object: Schema.Literal("list"),
  /** The entries of the page. */
  data: Schema.Array(OperatorAnyReceipt),
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: Schema.NullOr(RequestId),
  /** When the oldest request that this page examined arrived, in Unix seconds; null when it examined all of them. */
  searched_to: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "OperatorAnyReceiptList" })

const Name = Schema.String.check(...sized(1, 200, "characters"), storable)

/** The filters combine: a request must match all of them. */
export const OperatorRequestQuery = {
  limit: Schema.optionalKey(Limit),
  /** The `next_cursor` of the previous page. */
  cursor: Schema.optionalKey(RequestId),
  status: Schema.optionalKey(RequestStatus),
  /** The model that was requested, or that served. */
  model: Schema.optionalKey(Name),
  /** The provider that served. */
  provider: Schema.optionalKey(Name),
  /** The `operation` of the receipts, such as `chat.completions`. */
  operation: Schema.optionalKey(Name)
}

/** A movement of money for a request. */
export const OperatorMovement = Schema.Struct({
  /** Unix seconds. */
  at: Schema.Int,
  /** The kind of movement in the ledger. */
  kind: Schema.String,
  /** Above zero when money came to the account. */
  amount_usd: Schema.Finite,
  /** The operator's reference; null without one. */
  reference: Schema.NullOr(Schema.String)
}).annotate({ identifier: "OperatorMovement" })

/** A receipt with the provider's cost and every movement of money. */
export const OperatorReceiptResult = Schema.Struct({
  data: Schema.Struct({
    ...RequestReceipt.fields,
    ...beside,
    /** The address of the account's owner. */
    email: Schema.String,
    /** The movements, in order. */
    transfers: Schema.Array(OperatorMovement)
  })
}).annotate({ identifier: "OperatorReceiptResult" })

/** A refund of a request. */
export const OperatorRefundRequest = Schema.Struct({
  /** In USD, with at most nine decimals. Default: everything that is left of the cost. */
  amount_usd: Schema.optionalKey(
    Schema.Finite.check(
      Schema.makeFilter((usd) => (usd >= 1e-9 && usd <= 1_000_000 ? true : "must be from 0.000000001 to 1,000,000 USD"))
    )
  ),
  /** The reason, for the audit log. */
  reason: textOf(1, 500).check(storable)
}).annotate({ identifier: "OperatorRefundRequest" })

/** The result of a refund. */
export const OperatorRefund = Schema.Struct({
  data: Schema.Struct({
    object: Schema.Literal("refund"),
    request_id: RequestId,
    account_id: ResourceId,
    /** The refund. */
    amount_usd: Usd,
    /** All refunds of the request together. */
    refunded_usd: Usd,
    /** The cost of the request after all its refunds. */
    cost_usd: Usd,
    /** The account's balance. */
    balance_usd: Schema.Finite,
    /** The `Idempotency-Key`. The ledger keeps it, so that a repeat never refunds twice, however late. */
    reference: Schema.String,
    /** Whether an earlier request with this key had given this back, and nothing moved now. */
    repeated: Schema.Boolean
  })
}).annotate({ identifier: "OperatorRefund" })
export type OperatorRefund = typeof OperatorRefund.Type
