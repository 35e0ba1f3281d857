import { Schema } from "effect"
import { ResourceId } from "../Ids.ts"
import { Limit } from "../Page.ts"

/** The amount to pay: $5.00 to $10,000.00, in whole cents. */
export const NewTopUp = Schema.Struct({
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
  status: Schema.Literals(["open", "paid", "expired", "failed"]),
  amount_usd: Schema.Finite,
  /** Null once the top-up has ended, and while the payment processor has not been reached. */
  checkout_url: Schema.NullOr(Schema.String),
  /** Unix seconds. */
  created_at: Schema.Int,
  paid_at: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "TopUp" })
export type TopUp = typeof TopUp.Type

/** One top-up. */
export const TopUpReport = Schema.Struct({ data: TopUp }).annotate({ identifier: "TopUpReport" })

/** One page of top-ups, newest first. `next_cursor` is null on the last page. */
export const TopUpList = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(TopUp),
  next_cursor: Schema.NullOr(ResourceId)
}).annotate({ identifier: "TopUpList" })

/** The page of a list: its cursor and its size. */
export const TopUpPage = {
  limit: Schema.optionalKey(Limit),
  /** The `next_cursor` of the previous page. */
  cursor: Schema.optionalKey(ResourceId)
}
