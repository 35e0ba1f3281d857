import { type Nano, nanoFromPico, type Pico } from "./Money.ts"
import { promptTokens, type TokenUsage, type UnitUsage, type CallUsage } from "./Usage.ts"

/** Rates of one price tier, in pico-USD per token. */
export interface TokenRates {
  readonly input: Pico
  readonly cached: Pico
  readonly cacheWrite: Pico
  /** Of what is kept for an hour; as `cacheWrite` where absent. */
  readonly cacheWriteLong?: Pico
  readonly output: Pico
}

/** The prompt tokens choose one tier for the whole request: the last one with a threshold that they exceed. */
export interface PriceTier {
  readonly abovePromptTokens: number
  readonly rates: TokenRates
}

/** What one token-metered call costs at one provider. Tiers ascend; the first begins at zero. */
export interface TokenPrice {
  readonly unit: "token"
  readonly tiers: readonly [PriceTier, ...ReadonlyArray<PriceTier>]
  /** Added once to every call, in pico-USD. */
  readonly perRequest: Pico
  /** A call at this price may keep its prompt for an hour, so that the most it can cost includes that. */
  readonly long?: true
}

/** What one unit of work costs: an image, a second of video, a search, a thousand characters … in pico-USD. */
export interface UnitPrice {
  readonly unit: UnitUsage["unit"]
  readonly perUnit: Pico
}

export type Price = TokenPrice | UnitPrice

/**
 * A price cut for a time: from `startsAt` until just before `endsAt`, in Unix milliseconds. The percentage is above 0, below
 * 100 and has at most two decimals.
 */
export interface Promotion {
  readonly label: string
  readonly discountPercent: number
  readonly startsAt: number
  readonly endsAt: number
}

/**
 * A price less so many percent. Each rate rounds up to the next pico-USD, so that rounding never cuts deeper than was promised
 * and no rate above zero becomes zero.
 */
export const discounted = (price: Price, discountPercent: number): Price =>
  scaled(price, 10_000n - BigInt(Math.round(discountPercent * 100)))

/** The bounds of a markup, in basis points: a price never becomes zero, and at most eleven times as high. */
export const MARKUP_BOUNDS = { minimum: -9_999, maximum: 100_000 } as const

const markups = new WeakMap<Price, Map<number, Price>>()

/**
 * A price with a markup in basis points (hundredths of a percent); below zero it lowers the price. Each rate rounds up to the next
 * pico-USD. Of the same price and markup it is always the same one.
 */
export const markedUp = <P extends Price>(price: P, basisPoints: number): P => {
  if (basisPoints === 0) return price
  let known = markups.get(price)
  if (known === undefined) markups.set(price, (known = new Map()))
  let made = known.get(basisPoints)
  if (made === undefined) known.set(basisPoints, (made = scaled(price, 10_000n + BigInt(basisPoints))))
  // A scaled price has the unit of its original.
  return made as P
}

/** A price times so many ten-thousandths. */
const scaled = (price: Price, tenThousandths: bigint): Price => {
  const cut = (pico: Pico): Pico => (pico * tenThousandths + 9_999n) / 10_000n
  if (price.unit !== "token") return { ...price, perUnit: cut(price.perUnit) }
  const tier = ({ abovePromptTokens, rates }: PriceTier): PriceTier => ({
    abovePromptTokens,
    rates: {
      input: cut(rates.input),
      cached: cut(rates.cached),
      cacheWrite: cut(rates.cacheWrite),
      ...(rates.cacheWriteLong === undefined ? {} : { cacheWriteLong: cut(rates.cacheWriteLong) }),
      output: cut(rates.output)
    }
  })
  const [first, ...others] = price.tiers
  return {
    unit: "token",
    tiers: [tier(first), ...others.map(tier)],
    perRequest: cut(price.perRequest),
    ...(price.long === true ? { long: true } : {})
  }
}

/** The rates a request with so many prompt tokens is charged at. */
const ratesFor = (price: TokenPrice, prompt: number): TokenRates => {
  let found = price.tiers[0]
  for (const tier of price.tiers) if (prompt > tier.abovePromptTokens) found = tier
  return found.rates
}

const picoOf = (price: TokenPrice, usage: TokenUsage): bigint => {
  const rates = ratesFor(price, promptTokens(usage))
  const long = price.long === true ? BigInt(usage.cacheWriteLong ?? 0) : 0n
  return (
    price.perRequest +
    ((rates.cacheWriteLong ?? rates.cacheWrite) - rates.cacheWrite) * long +
    rates.input * BigInt(usage.input) +
    rates.cached * BigInt(usage.cached) +
    rates.cacheWrite * BigInt(usage.cacheWrite) +
    rates.output * BigInt(usage.output)
  )
}

/** The cost of what was used, rounded up once to the next nano-USD. */
export const tokenCost = (price: TokenPrice, usage: TokenUsage): Nano => nanoFromPico(picoOf(price, usage))

/** The cost of a number of units, rounded up once to the next nano-USD. */
export const unitCost = (price: UnitPrice, units: number): Nano => nanoFromPico(price.perUnit * BigInt(units))

/**
 * What a call costs the operator: what its provider reported, or else its usage at the provider's price. Undefined when neither is
 * known.
 */
export const providerCost = (cost: Price | undefined, usage: CallUsage): Nano | undefined => {
  if ("units" in usage) return cost?.unit === usage.unit ? unitCost(cost, usage.units) : undefined
  if (usage.billedNano !== undefined) return BigInt(usage.billedNano)
  return cost?.unit === "token" ? tokenCost(longCachePrice(cost), usage) : undefined
}

const larger = (a: Pico, b: Pico): Pico => (a > b ? a : b)

const dearestPrompt = (rates: TokenRates, { long }: TokenPrice): Pico => {
  const dearest = larger(larger(rates.input, rates.cacheWrite), rates.cached)
  return long === true ? larger(dearest, rates.cacheWriteLong ?? 0n) : dearest
}

const longPrices = new WeakMap<TokenPrice, TokenPrice>()

/** The price of calls that may keep their prompt for an hour; of the same price always the same one. */
export const longCachePrice = (price: TokenPrice): TokenPrice => {
  if (price.tiers.every(({ rates }) => rates.cacheWriteLong === undefined)) return price
  const known = longPrices.get(price)
  if (known !== undefined) return known
  const made: TokenPrice = { ...price, long: true }
  longPrices.set(price, made)
  return made
}

/** The tiers a prompt of at most `promptBound` tokens can reach. */
export const reachable = (price: TokenPrice, promptBound: number) =>
  price.tiers.filter((tier, index) => index === 0 || promptBound > tier.abovePromptTokens)

/**
 * The most a call can cost when its prompt has at most `promptBound` tokens and its output at most `outputBound`: every
 * prompt token in its dearest bucket, over every tier it can reach. `tokenCost` of any usage within the bounds is never more.
 */
export const maximumCost = (price: TokenPrice, promptBound: number, outputBound: number): Nano => {
  let most = 0n
  for (const { rates } of reachable(price, promptBound)) {
    const pico = dearestPrompt(rates, price) * BigInt(promptBound) + rates.output * BigInt(outputBound)
    if (pico > most) most = pico
  }
  return nanoFromPico(price.perRequest + most)
}

/** The most output tokens for which `maximumCost` stays within `granted`; 0 when not even the prompt fits. */
export const outputWithin = (price: TokenPrice, promptBound: number, granted: Nano): number => {
  let least: bigint | undefined
  for (const { rates } of reachable(price, promptBound)) {
    const left = granted * 1_000n - price.perRequest - dearestPrompt(rates, price) * BigInt(promptBound)
    if (left < 0n) return 0
    if (rates.output === 0n) continue
    const tokens = left / rates.output
    if (least === undefined || tokens < least) least = tokens
  }
  return least === undefined || least > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(least)
}
