/** Converts the price list published as `@pydantic/genai-prices` to integer rates. */
import { calcPrice, type ModelInfo, type ModelPrice } from "@pydantic/genai-prices"
import { DAY_MS, dayOf } from "../domain/Day.ts"
import { type Pico, picoFromUsd, picoPerUnit } from "../domain/Money.ts"
import type { PriceTier, TokenPrice, TokenRates } from "../domain/Pricing.ts"

/** A published price at one moment. */
export interface PublishedPrice {
  readonly price: TokenPrice
  /** The longest context that this provider is known to serve, if the list says so. */
  readonly contextWindow: number | undefined
  /** The time until which the price is valid, in Unix milliseconds; infinite when no change is announced. */
  readonly until: number
}

type Rate = ModelPrice[string]

/**
 * Returns the price of a token-metered model at a provider of the list, at `now` in Unix milliseconds. Returns undefined when the
 * list has no prompt rate above zero, has no output rate (with `outputs`), or bills parts of the output that usage does not
 * distinguish. Without a rate for cache reads or writes, those tokens cost the prompt rate.
 */
export const publishedPrice = (
  provider: string,
  model: string,
  now: number,
  outputs: boolean
): PublishedPrice | undefined => {
  const found = calcPrice({}, model, { providerId: provider, timestamp: new Date(now) })
  if (found === null) return undefined
  const price = tokenPrice(found.model_price, outputs)
  if (price === undefined) return undefined
  return { price, contextWindow: found.model.context_window, until: validUntil(found.model.prices, now) }
}

/** Returns the name of a model in a provider's price list, by the list's own alias rules; undefined when it has none. */
export const listedName = (provider: string, model: string): string | undefined =>
  calcPrice({}, model, { providerId: provider })?.model.id

/**
 * Returns the list's price changes after `since` and up to `now`, in Unix milliseconds, with the new prices. Prices that vary by
 * hour of the day do not count as changes.
 */
export const publishedChanges = (
  provider: string,
  model: string,
  { now, since }: { readonly now: number; readonly since: number },
  outputs: boolean
): ReadonlyArray<{ readonly at: number; readonly price: TokenPrice }> => {
  const found = calcPrice({}, model, { providerId: provider, timestamp: new Date(now) })
  if (found === null || !Array.isArray(found.model.prices)) return []
  return found.model.prices.flatMap(({ constraint, prices }) => {
    if (constraint?.type !== "start_date") return []
    const at = startOf(constraint)
    const price = at > since && at <= now ? tokenPrice(prices, outputs) : undefined
    return price === undefined ? [] : [{ at, price }]
  })
}

const startOf = ({ start_date }: { readonly start_date: string }): number => Date.parse(`${start_date}T00:00:00Z`)

const tokenPrice = (published: ModelPrice, outputs: boolean): TokenPrice | undefined => {
  const { input_mtok: input, output_mtok: output } = published
  if (input === undefined || baseOf(input) <= 0 || (outputs && output === undefined)) return undefined
  if (Object.keys(published).some((key) => /^output_(reasoning|citation|text_)/.test(key))) return undefined
  const rates = {
    input,
    cached: published["cache_read_mtok"] ?? input,
    cacheWrite: published["cache_write_mtok"] ?? input,
    ...(published["cache_write_1h_mtok"] === undefined ? {} : { cacheWriteLong: published["cache_write_1h_mtok"] }),
    output: output ?? 0
  }
  const starts = new Set(Object.values(rates).flatMap(startsOf))
  starts.delete(0)
  const tier = (abovePromptTokens: number): PriceTier => ({
    abovePromptTokens,
    rates: ratesAbove(rates, abovePromptTokens)
  })
  return {
    unit: "token",
    tiers: [tier(0), ...[...starts].toSorted((a, b) => a - b).map(tier)],
    perRequest: picoFromUsd(baseOf(published["requests_kcount"] ?? 0) / 1_000)
  }
}

const baseOf = (rate: Exclude<Rate, undefined>): number => (typeof rate === "number" ? rate : rate.base)

const startsOf = (rate: Exclude<Rate, undefined>): ReadonlyArray<number> =>
  typeof rate === "number" ? [] : rate.tiers.map((tier) => tier.start)

/** Returns a rate for a prompt one token longer than `start`, because the list's tiers also begin above their start. */
const picoAbove = (rate: Exclude<Rate, undefined>, start: number): Pico => {
  if (typeof rate === "number") return picoPerUnit(rate)
  const reached = rate.tiers.filter((tier) => tier.start <= start).toSorted((a, b) => b.start - a.start)[0]
  return picoPerUnit(reached?.price ?? rate.base)
}

type PublishedRates = Record<Exclude<keyof TokenRates, "cacheWriteLong">, Exclude<Rate, undefined>> & {
  readonly cacheWriteLong?: Exclude<Rate, undefined>
}

const ratesAbove = (rates: PublishedRates, start: number): TokenRates => ({
  input: picoAbove(rates.input, start),
  cached: picoAbove(rates.cached, start),
  cacheWrite: picoAbove(rates.cacheWrite, start),
  ...(rates.cacheWriteLong === undefined ? {} : { cacheWriteLong: picoAbove(rates.cacheWriteLong, start) }),
  output: picoAbove(rates.output, start)
})

/** Returns the next moment at which a condition of the price begins or ends. */
const validUntil = (prices: ModelInfo["prices"], now: number): number => {
  if (!Array.isArray(prices)) return Number.POSITIVE_INFINITY
  const moments = prices.flatMap(({ constraint }) => {
    if (constraint === undefined) return []
    if (constraint.type === "start_date") return [startOf(constraint)]
    const days = [now - DAY_MS, now, now + DAY_MS].map(dayOf)
    return days.flatMap((day) => [
      Date.parse(`${day}T${constraint.start_time}`),
      Date.parse(`${day}T${constraint.end_time}`)
    ])
  })
  return Math.min(...moments.filter((moment) => moment > now))
}
