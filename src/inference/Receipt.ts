import type { RoutingSummary } from "../../schemas/Routing.ts"
import type { Reason } from "../domain/Failure.ts"
import type { Offer } from "../domain/Model.ts"
import type { FinishReason } from "../domain/Output.ts"
import type { Candidate } from "../domain/Plan.ts"
import type { Price, TokenPrice } from "../domain/Pricing.ts"
import type { UnitUsage, UsageBasis, Used } from "../domain/Usage.ts"

interface KeptOf {
  readonly model: string
  readonly provider: string
  /** What had lowered the rates. */
  readonly promotion?: { readonly label: string; readonly discountPercent: number }
}

/** A price per token as it is kept in a request row: rates in pico-USD as plain numbers, all of which are below 2^53. */
export interface KeptTokenPrice extends KeptOf {
  readonly perRequest: number
  /** Above how many prompt tokens; then input, cached, cache write, output. */
  readonly tiers: ReadonlyArray<readonly [number, number, number, number, number]>
}

/** The same of a price per unit. */
export interface KeptUnitPrice extends KeptOf {
  readonly unit: UnitUsage["unit"]
  readonly perUnit: number
}

export type KeptPrice = KeptTokenPrice | KeptUnitPrice

type KeptRates = Pick<KeptTokenPrice, "perRequest" | "tiers">

const kept = new WeakMap<TokenPrice, KeptRates>()

const keepPrice = (price: Price): KeptRates | Pick<KeptUnitPrice, "unit" | "perUnit"> => {
  if (price.unit !== "token") return { unit: price.unit, perUnit: Number(price.perUnit) }
  const known = kept.get(price)
  if (known !== undefined) return known
  const made = {
    perRequest: Number(price.perRequest),
    tiers: price.tiers.map(
      ({ abovePromptTokens, rates }) =>
        [
          abovePromptTokens,
          Number(rates.input),
          Number(rates.cached),
          Number(rates.cacheWrite),
          Number(rates.output)
        ] as const
    )
  }
  kept.set(price, made)
  return made
}

/** Milliseconds as a receipt keeps them, to the microsecond: what a clock says beyond that means nothing, and is as long again. */
export const spanMs = (ms: number): number => Math.round(ms * 1_000) / 1_000

/** The facts of a request known when it is admitted: a later change of the catalogue does not reach it. */
export interface Opened {
  readonly streamed: boolean
  /** The slug of the preset that took part. */
  readonly preset?: string | undefined
  readonly queueMs: number
  readonly traceId: string | null
  /** That of the candidate to be tried first; rows of earlier versions have those of all. */
  readonly prices: ReadonlyArray<KeptPrice>
}

const promotionOf = ({ promotion }: Offer): Pick<KeptPrice, "promotion"> => {
  if (promotion === undefined) return {}
  const { discountPercent, label } = promotion.now
  return { promotion: { label, discountPercent } }
}

/** The price of a candidate as it is when it is planned. */
export const priceOf = ({ model, offer, price }: Candidate<Price>): KeptPrice => ({
  model: model.id,
  provider: offer.provider,
  ...keepPrice(price),
  ...promotionOf(offer)
})

type Amounts<R> = { readonly [K in keyof R]-?: R[K] extends bigint ? K : never }[keyof R]

/** The reasons with amounts in them, and which these are. */
const amounts: {
  readonly [R in Reason as Amounts<R> extends never ? never : R["_tag"]]: ReadonlyArray<Amounts<R>>
} = {
  InsufficientCredits: ["needed", "available", "posted"],
  NoModelInBudget: ["least"]
}

/** A reason as it is kept in a request row: amounts as text, since JSON has no bigint. */
export interface KeptReason {
  readonly _tag: Reason["_tag"]
}

const withAmounts = (reason: KeptReason, as: (amount: never) => unknown): KeptReason => {
  const names = (amounts as Readonly<Record<string, ReadonlyArray<string>>>)[reason._tag]
  if (names === undefined) return reason
  const members = reason as unknown as Readonly<Record<string, never>>
  return { ...reason, ...Object.fromEntries(names.map((name) => [name, as(members[name]!)])) }
}

export const keepReason = (reason: Reason): KeptReason => withAmounts(reason, String)

/** The reason again. */
export const restoreReason = (kept: KeptReason): Reason => withAmounts(kept, BigInt) as Reason

/** The facts of a request known when it is closed. */
export interface ClosedFacts {
  readonly usage: Used
  readonly basis: UsageBasis
  readonly routing: RoutingSummary
  /** The price of the candidate that served, where another one was to be tried first. */
  readonly price?: KeptPrice
  readonly finishReason: FinishReason | null
  readonly error: KeptReason | null
  readonly holdMs: number
  readonly firstTokenMs: number | null
  readonly totalMs: number
  /** Of `totalMs`, what no provider took. */
  readonly overheadMs: number
  /** When the provider was done, in Unix milliseconds: from then to the close is the time of the settle. */
  readonly endedAtMs: number
}
