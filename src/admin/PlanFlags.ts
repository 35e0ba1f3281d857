/** The flags and arguments of the commands of price plans. */
import { Argument, Flag } from "effect/cli"
import type { PlanPrice } from "../../schemas/operator/Plans.ts"
import { NANO_PER_USD, type Nano, nanoFromUsd } from "../domain/Money.ts"
import { MARKUP_BOUNDS } from "../domain/Pricing.ts"
import { argument, line, parsed } from "./Flags.ts"

const MAX_NAME = 100
const MAX_DAILY = 1_000_000_000n * NANO_PER_USD

const nameOf = (text: string): string | undefined => (text.length >= 1 && text.length <= MAX_NAME ? text : undefined)

export const planArgument = argument("plan", "a plan's id or name", nameOf).pipe(
  Argument.withDescription("The plan's id or name")
)

export const planFlag = parsed("plan", "a plan's id or name, or none", nameOf).pipe(
  Flag.withMetavar("plan"),
  Flag.withDescription("The plan's id or name; `none` ends the account's plan")
)

export const planName = line("name", MAX_NAME).pipe(
  Flag.withDescription("The plan's name, unique without regard to case")
)

/** In basis points. */
export const planMarkup = parsed("markup-percent", "a percentage from -99.99 to 1000, at most two decimals", (text) => {
  const points = /^-?\d+(\.\d{1,2})?$/.test(text) ? Math.round(Number(text) * 100) : Number.NaN
  return points >= MARKUP_BOUNDS.minimum && points <= MARKUP_BOUNDS.maximum ? points : undefined
}).pipe(
  Flag.withMetavar("percent"),
  Flag.withDescription("What accounts pay beyond the catalogue's prices, in percent; below zero they pay less"),
  Flag.optional
)

const rateOf = (text: string): number | undefined => (/^\d+(\.\d{1,12})?$/.test(text) ? Number(text) : undefined)

const priceOf = (text: string): PlanPrice | undefined => {
  const at = text.lastIndexOf("=")
  const model = text.slice(0, Math.max(0, at)).trim()
  const rates = text
    .slice(at + 1)
    .split("/")
    .map((rate) => rateOf(rate.trim()))
  if (model === "" || rates.some((rate) => rate === undefined)) return undefined
  const [first = 0, output, cached, cacheWrite, ...more] = rates
  if (more.length > 0) return undefined
  if (output === undefined) return { model, per_unit_usd: first }
  return {
    model,
    input_usd_per_million: first,
    output_usd_per_million: output,
    ...(cached === undefined ? {} : { cached_input_usd_per_million: cached }),
    ...(cacheWrite === undefined ? {} : { cache_write_usd_per_million: cacheWrite })
  }
}

const pricesOf = (text: string): ReadonlyArray<PlanPrice> | undefined => {
  if (text === "none") return []
  const prices = text.split(",").map((one) => priceOf(one))
  const known = prices.filter((price) => price !== undefined)
  return known.length === prices.length ? known : undefined
}

const PRICES = "prices such as gpt-4o-mini=0.2/0.8,flux-dev=0.03, or none"

export const planPrices = parsed("prices", PRICES, pricesOf).pipe(
  Flag.withMetavar("prices"),
  Flag.withDescription(
    "Fixed prices, comma-separated: MODEL=INPUT/OUTPUT[/CACHED[/CACHE_WRITE]] in USD per million tokens, or MODEL=USD per unit. `none` empties the list"
  ),
  Flag.optional
)

const limit = (name: string, most: number, what: string) =>
  parsed(name, `a whole number from 1 to ${most}, or none`, (text): { readonly value: number | null } | undefined => {
    if (text === "none") return { value: null }
    const count = /^\d{1,7}$/.test(text) ? Number(text) : 0
    return count >= 1 && count <= most ? { value: count } : undefined
  }).pipe(Flag.withMetavar("count"), Flag.withDescription(`${what}; \`none\` for the usual limit`), Flag.optional)

export const planRequests = limit(
  "requests-per-minute",
  1_000_000,
  "Chat requests a minute per key; other rate limits change in proportion"
)
export const planVideos = limit("running-videos", 10_000, "Unfinished videos of an account")
export const planBatches = limit("running-batches", 10_000, "Unfinished batches of an account")

const daily = (name: string) =>
  parsed(name, "an amount of USD such as 25 or 0.5, or none", (text): { readonly value: Nano | null } | undefined => {
    if (text === "none") return { value: null }
    const nano = /^\d+(\.\d{1,9})?$/.test(text) ? nanoFromUsd(text) : undefined
    return nano !== undefined && nano <= MAX_DAILY ? { value: nano } : undefined
  }).pipe(Flag.withMetavar("usd"))

export const providerArgument = argument("provider", "a provider's id, or all", nameOf).pipe(
  Argument.withDescription("The provider's id; `all` for all together")
)

/** In nano-USD. */
export const dailyLimit = daily("usd").pipe(
  Flag.withDescription("The most that it may cost in a UTC day, in USD; `none` for any amount")
)

/** In nano-USD. */
export const planDailySpend = daily("daily-spend-usd").pipe(
  Flag.withDescription("The most that an account spends in a UTC day, over all its keys; `none` for no limit"),
  Flag.optional
)

/** The flags that change a plan, as an operator types them. */
export const planFlagNames = [
  "--markup-percent",
  "--prices",
  "--requests-per-minute",
  "--running-videos",
  "--running-batches",
  "--daily-spend-usd"
] as const
