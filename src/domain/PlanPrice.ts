/** The fixed prices of price plans. */
import type { PlanPrice } from "../../schemas/operator/Plans.ts"
import { type Pico, picoFromUsd, picoPerUnit } from "./Money.ts"
import type { Price, TokenPrice } from "./Pricing.ts"

const tokenPrices = new WeakMap<PlanPrice, TokenPrice>()

const tokenPriceOf = (fixed: Extract<PlanPrice, { readonly input_usd_per_million: number }>): TokenPrice => {
  const known = tokenPrices.get(fixed)
  if (known !== undefined) return known
  const rate = (usd: number | undefined): Pico => picoPerUnit(usd ?? fixed.input_usd_per_million)
  const price: TokenPrice = {
    unit: "token",
    tiers: [
      {
        abovePromptTokens: 0,
        rates: {
          input: rate(fixed.input_usd_per_million),
          cached: rate(fixed.cached_input_usd_per_million),
          cacheWrite: rate(fixed.cache_write_usd_per_million),
          output: picoPerUnit(fixed.output_usd_per_million)
        }
      }
    ],
    perRequest: picoFromUsd(fixed.per_request_usd ?? 0)
  }
  tokenPrices.set(fixed, price)
  return price
}

/**
 * Returns a plan's fixed price in the unit of the catalogue's price. Undefined when one is per token and the other is not. Of the same
 * fixed price per token it is always the same one.
 */
export const fixedPriceOf = (fixed: PlanPrice, listed: Price): Price | undefined => {
  if ("per_unit_usd" in fixed) {
    return listed.unit === "token" ? undefined : { unit: listed.unit, perUnit: picoFromUsd(fixed.per_unit_usd) }
  }
  return listed.unit === "token" ? tokenPriceOf(fixed) : undefined
}
