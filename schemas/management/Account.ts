import { Schema } from "effect"
import { Usd } from "../Bounds.ts"
import { RequestId, ResourceId } from "../Ids.ts"
import { Limit } from "../Page.ts"

/** The account's money. */
export const BalanceReport = Schema.Struct({
  data: Schema.Struct({
    /** The balance. */
    balance_usd: Schema.Finite,
    /** The part of the balance that running requests hold. */
    held_usd: Usd,
    /** The part of the balance that running requests do not hold. */
    available_usd: Schema.Finite,
    currency: Schema.Literal("USD"),
    /** The part of the balance that is simulated money of a sandbox, which cannot pay a real provider. */
    simulated_usd: Schema.Finite,
    /** Whether the balance is below $5.00. */
    low_balance: Schema.Boolean,
    /** The credit that the account received when its owner's phone number was verified; 0 before. */
    starter_credit_usd: Usd
  })
}).annotate({ identifier: "BalanceReport" })
export type BalanceReport = typeof BalanceReport.Type

/** `txn_` and 16 hexadecimal characters, which do not sort by time. */
export const TransactionId = Schema.String.check(
  Schema.isPattern(/^txn_[0-9a-f]{16}$/, { message: "must be txn_ and 16 hexadecimal characters" })
).annotate({ identifier: "TransactionId" })

/** A movement of the account's money other than a charge. Charges have receipts: `GET /requests`. */
export const Transaction = Schema.Struct({
  id: TransactionId,
  object: Schema.Literal("transaction"),
  /**
   * `top_up`: the owner's payment. `starter_credit`: the gift for a verified phone number. `credit` and `adjustment`: the operator's
   * movements. `refund`: money that a request had charged.
   */
  type: Schema.Literals(["top_up", "starter_credit", "credit", "adjustment", "refund"]),
  /** Negative when money left the account. */
  amount_usd: Schema.Finite,
  /** `simulated`: simulated money of a sandbox. */
  paid_with: Schema.Literals(["real", "simulated"]),
  /** Unix seconds. */
  created_at: Schema.Int,
  /** The request of a `refund`; null for others. */
  request_id: Schema.NullOr(RequestId),
  /** The top-up of a `top_up`; null for others. */
  top_up_id: Schema.NullOr(ResourceId),
  /** The operator's reference of a `credit` or an `adjustment`. */
  reference: Schema.NullOr(Schema.String)
}).annotate({ identifier: "Transaction" })
export type Transaction = typeof Transaction.Type

/** One page of transactions, newest first. `next_cursor` is null on the last page. */
export const TransactionList = Schema.Struct({
  object: Schema.Literal("list"),
  /** The entries of the page. */
  data: Schema.Array(Transaction),
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: Schema.NullOr(TransactionId)
}).annotate({ identifier: "TransactionList" })

/** The page of a list of transactions. */
export const TransactionPage = {
  limit: Schema.optionalKey(Limit),
  /** The `next_cursor` of the previous page. */
  cursor: Schema.optionalKey(TransactionId)
}
