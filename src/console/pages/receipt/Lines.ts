/** The cost lines of a receipt: its price snapshot times its usage. */
import type { ReceiptPrice, ReceiptUsage } from "../../../client/Contract.ts"
import { money } from "../../format/Money.ts"

const MILLION = 1e6

/** A quantity at a price, and its cost. */
export interface CostLine {
  readonly what: string
  readonly many: number
  /** The price as text. */
  readonly price: string
  readonly cost: number
}

const line = (what: string, tokens: number, price: number): CostLine => ({
  what,
  many: tokens,
  price: `${money(price * MILLION)} per million`,
  cost: tokens * price
})

/** The cost lines of a usage, without empty ones. */
export const costLines = (usage: ReceiptUsage, price: ReceiptPrice): ReadonlyArray<CostLine> => {
  if (price.unit !== "token") {
    const units = "unit" in usage ? usage.units : 0
    const plural = `${price.unit}${units === 1 ? "" : "s"}`
    return [
      { what: plural, many: units, price: `${money(price.per_unit)} per ${price.unit}`, cost: units * price.per_unit }
    ]
  }
  if ("unit" in usage) return []
  const long = usage.cache_creation_1h_tokens ?? 0
  const request = {
    what: "request",
    many: 1,
    price: `${money(price.per_request)} per request`,
    cost: price.per_request
  }
  return [
    line("input tokens", usage.input_tokens, price.input),
    line("cached input tokens", usage.cached_tokens, price.cached_input),
    line("tokens written to the cache", usage.cache_creation_tokens - long, price.cache_write),
    line("tokens written to the cache for an hour", long, price.cache_write_1h ?? price.cache_write),
    line("output tokens", usage.output_tokens, price.output),
    ...(price.per_request > 0 ? [request] : [])
  ].filter(({ many }) => many > 0)
}
