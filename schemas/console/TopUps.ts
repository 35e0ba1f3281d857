import { Schema } from "effect"
import { ResourceId } from "../Ids.ts"
import { Limit } from "../Page.ts"

/** A top-up to create. */
export const NewTopUp = Schema.Struct({
  /** The amount to pay: 5 to 10,000 USD in whole cents. */
  amount_usd: Schema.Finite.check(
    Schema.isBetween({ minimum: 5, maximum: 10_000 }, { message: "must be a number from 5 to 10,000" }),
    Schema.makeFilter<number>((usd) => Number(usd.toFixed(2)) === usd, { message: "must be a number of whole cents" })
  )
}).annotate({ identifier: "NewTopUp" })

/**
 * A payment into the account. It is `open` until it is paid at `checkout_url`, which is possible for a day, and while the money is on
 * its way. A `paid` top-up has been credited.
 */
export const TopUp = Schema.Struct({
  id: ResourceId,
  object: Schema.Literal("top_up"),
  /** `paid`, `expired` and `failed` are final. */
  status: Schema.Literals(["open", "paid", "expired", "failed"]),
  /** The amount. */
  amount_usd: Schema.Finite,
  /** Where the owner pays. Null once the top-up has ended, and while the payment processor has not been reached. */
  checkout_url: Schema.NullOr(Schema.String),
  /** Unix seconds. */
  created_at: Schema.Int,
  /** When the money was credited, in Unix seconds; null before. */
  paid_at: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "TopUp" })
export type TopUp = typeof TopUp.Type

/** One top-up. */
export const TopUpReport = Schema.Struct({ data: TopUp }).annotate({ identifier: "TopUpReport" })

/** One page of top-ups, newest first. `next_cursor` is null on the last page. */
export const TopUpList = Schema.Struct({
  object: Schema.Literal("list"),
  /** The entries of the page. */
  data: Schema.Array(TopUp),
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: Schema.NullOr(ResourceId)
}).annotate({ identifier: "TopUpList" })

/** The page of a list of top-ups. */
export const TopUpPage = {
  limit: Schema.optionalKey(Limit),
  /** The `next_cursor` of the previous page. */
  cursor: Schema.optionalKey(ResourceId)
}
