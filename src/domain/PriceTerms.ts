/** The one rule that turns the catalogue's price into the price that an account pays. */
import type { PriceTerms } from "../../schemas/Access.ts"
import { fixedPriceOf } from "./PlanPrice.ts"
import { markedUp, type Price } from "./Pricing.ts"

/** How an account's price came about, for receipts. */
export interface PriceRule {
  /** The markup of the account, the markup of its plan, or a fixed price of its plan. */
  readonly by: "account" | "plan" | "plan_price"
  /** The name of the plan. */
  readonly plan?: string
  /** In basis points. */
  readonly markup?: number
}

const fixedFor = (terms: PriceTerms, model: string, price: Price): Price | undefined => {
  const { fixed } = terms
  const found = fixed !== undefined && Object.hasOwn(fixed, model) ? fixed[model] : undefined
  return found === undefined ? undefined : fixedPriceOf(found, price)
}

/**
 * Returns the price of a model for an account with these terms, given the catalogue's price. A fixed price of its plan wins. Without
 * one, the catalogue's price is marked up: by the account's own markup if it has one, or else by its plan's.
 */
export const priceFor = <P extends Price>(terms: PriceTerms | undefined, model: string, price: P): P => {
  if (terms === undefined) return price
  // A fixed price has the unit of the catalogue's.
  return (fixedFor(terms, model, price) as P | undefined) ?? markedUp(price, terms.markupBasisPoints)
}

/** Reports whether the account pays a fixed price for the model, which no promotion lowers. */
export const isFixed = (terms: PriceTerms | undefined, model: string, price: Price): boolean =>
  terms !== undefined && fixedFor(terms, model, price) !== undefined

/** Returns how `priceFor` comes to its price; undefined for the catalogue's. */
export const ruleFor = (terms: PriceTerms | undefined, model: string, price: Price): PriceRule | undefined => {
  if (terms === undefined) return undefined
  const plan = terms.plan === undefined ? {} : { plan: terms.plan }
  if (isFixed(terms, model, price)) return { by: "plan_price", ...plan }
  if (terms.markupBasisPoints === 0) return terms.plan === undefined ? undefined : { by: "plan", ...plan, markup: 0 }
  return { by: terms.markupOf, ...plan, markup: terms.markupBasisPoints }
}
