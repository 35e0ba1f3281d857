import type { RoutingSummary } from "../../schemas/Routing.ts"
import type { Reason } from "../domain/Failure.ts"
import type { FinishReason } from "../domain/Output.ts"
import type { Candidate } from "../domain/Plan.ts"
import type { Price, TokenPrice } from "../domain/Pricing.ts"
import { noTokens, type TokenUsage, type UnitUsage, type UsageBasis, type Used } from "../domain/Usage.ts"

/**
 * What a request's row has in columns of its own. Its facts are kept without what these say already, or what mostly is so: every
 * byte of them is written to the table and to its log, when the request is held for and again when it is closed, which is a good
 * part of what it costs the database.
 */
export interface Beside {
  readonly model: string
  readonly resolved_model: string | null
  readonly provider: string | null
}

interface Lowered {
  /** What had lowered the rates. */
  readonly promotion?: { readonly label: string; readonly discountPercent: number }
}

/** A price per token as it is kept in a request row: rates in pico-USD as plain numbers, all of which are below 2^53. */
interface KeptTokenRates extends Lowered {
  /** None where absent. */
  readonly perRequest?: number
  /** Above how many prompt tokens; then input, cached, cache write, output. */
  readonly tiers: ReadonlyArray<readonly [number, number, number, number, number]>
}

/** The same of a price per unit. */
interface KeptUnitRates extends Lowered {
  readonly unit: UnitUsage["unit"]
  readonly perUnit: number
}

export type KeptRates = KeptTokenRates | KeptUnitRates

/** The rates of one model at one provider. */
export type KeptPrice = KeptRates & { readonly model: string; readonly provider: string }

const kept = new WeakMap<TokenPrice, KeptTokenRates>()

const keepRates = (price: Price): KeptRates => {
  if (price.unit !== "token") return { unit: price.unit, perUnit: Number(price.perUnit) }
  const known = kept.get(price)
  if (known !== undefined) return known
  const made = {
    ...(price.perRequest === 0n ? {} : { perRequest: Number(price.perRequest) }),
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
  /**
   * That of the candidate to be tried first, of what is charged up front: another process may conclude it. What is held for has its
   * price with the facts of its close. Rows of earlier versions have that of the first candidate, or those of all.
   */
  readonly prices: ReadonlyArray<KeptPrice>
}

/** Every fact by its name, so that none is forgotten; one that is undefined is not written. */
type Kept<Facts> = { readonly [Name in keyof Facts]-?: unknown }

/** As they stand in a row; what is absent is as it mostly is. */
export const keepOpened = ({ preset, prices, queueMs, streamed, traceId }: Opened): Kept<Opened> => ({
  streamed: streamed || undefined,
  preset,
  queueMs,
  traceId: traceId ?? undefined,
  prices: prices.length === 0 ? undefined : prices
})

/** The facts again, by that column of the request's row. Throws where nobody of ours can have written it. */
export const restoreOpened = (column: unknown): Opened => {
  const kept = column as Pick<Opened, "queueMs"> & Partial<Opened>
  if (typeof kept.queueMs !== "number") throw new Error("a request's row is without the facts of its opening")
  return { streamed: false, traceId: null, prices: [], ...kept }
}

/** The rates of a candidate as they are when it is planned. */
export const ratesOf = ({ offer: { promotion }, price }: Candidate<Price>): KeptRates => {
  const rates = keepRates(price)
  if (promotion === undefined) return rates
  const { discountPercent, label } = promotion.now
  return { ...rates, promotion: { label, discountPercent } }
}

/** The same as a price, of whom it is. */
export const priceOf = (candidate: Candidate<Price>): KeptPrice => ({
  model: candidate.model.id,
  provider: candidate.offer.provider,
  ...ratesOf(candidate)
})

type Amounts<R> = { readonly [K in keyof R]-?: Exclude<R[K], undefined> extends bigint ? K : never }[keyof R]

/** The reasons with amounts in them, and which these are. */
const amounts: {
  readonly [R in Reason as Amounts<R> extends never ? never : R["_tag"]]: ReadonlyArray<Amounts<R>>
} = {
  InsufficientCredits: ["needed", "available", "posted", "play"],
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
  const told = names.filter((name) => members[name] !== undefined)
  return { ...reason, ...Object.fromEntries(told.map((name) => [name, as(members[name]!)])) }
}

export const keepReason = (reason: Reason): KeptReason => withAmounts(reason, String)

/** The reason again. */
export const restoreReason = (kept: KeptReason): Reason => withAmounts(kept, BigInt) as Reason

/** The facts of a request known when it is closed. */
export interface ClosedFacts {
  readonly usage: Used
  readonly basis: UsageBasis
  readonly routing: RoutingSummary
  /** Those of the candidate that served, where its price is not among those of the request's opening. */
  readonly rates?: KeptRates | undefined
  /** A double of the sandbox served it. The proof of the books reads this by its name. */
  readonly simulated?: true | undefined
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

type Times = "holdMs" | "firstTokenMs" | "overheadMs"

/** The same of a job, which nobody waited for. */
export type JobFacts = Omit<ClosedFacts, Times>

/** As they stand in a row that has more than an error. `price` is that of an earlier version, with the names of whom it is. */
interface KeptClosed extends Partial<Omit<ClosedFacts, "usage" | "basis">> {
  readonly basis: UsageBasis
  readonly usage: Partial<TokenUsage> | UnitUsage
  readonly price?: KeptPrice
}

/** How a request is mostly routed: as nobody asked, and served by the first who was asked. */
const usualRouting = ({ model, provider, resolved_model }: Beside): RoutingSummary => ({
  strategy: "balanced",
  requested_models: [model],
  resolved_model: resolved_model ?? model,
  provider,
  provider_attempts: [{ provider: provider ?? "", outcome: "served", attempt_index: 0 }],
  fallbacks_allowed: true,
  data_policy: "default",
  source: "default"
})

const isUsual = (routing: RoutingSummary, { model, provider, resolved_model }: Beside): boolean => {
  const { provider_attempts: attempts = [], requested_models: requested } = routing
  const [attempt] = attempts
  const usual: { readonly [Name in keyof RoutingSummary]-?: boolean } = {
    strategy: routing.strategy === "balanced",
    requested_models: requested.length === 1 && requested[0] === model,
    resolved_model: routing.resolved_model === resolved_model,
    provider: routing.provider === provider,
    provider_attempts:
      attempts.length === 1 &&
      attempt?.outcome === "served" &&
      attempt.attempt_index === 0 &&
      attempt.provider === provider,
    fallbacks_allowed: routing.fallbacks_allowed,
    data_policy: routing.data_policy === "default",
    caching: routing.caching === undefined,
    source: routing.source === "default",
    router: routing.router === undefined
  }
  return Object.values(usual).every(Boolean)
}

const orAbsent = (tokens: number): number | undefined => (tokens === 0 ? undefined : tokens)

const keepUsage = (usage: Used): object =>
  "units" in usage
    ? usage
    : {
        input: usage.input,
        cached: orAbsent(usage.cached),
        cacheWrite: orAbsent(usage.cacheWrite),
        output: usage.output,
        reasoning: orAbsent(usage.reasoning)
      }

/** The facts of a request whose provider has begun to answer. */
export type SoFarFacts = Pick<
  ClosedFacts,
  "usage" | "basis" | "routing" | "rates" | "simulated" | "holdMs" | "firstTokenMs"
>

/** As they stand in a row; what is absent is as it mostly is. Without `row`, which then is not known, the routing is kept whole. */
export const keepSoFar = (
  facts: Omit<SoFarFacts, Times> & Partial<Pick<ClosedFacts, Times>>,
  row: Beside | undefined
): Kept<SoFarFacts> => ({
  basis: facts.basis,
  usage: keepUsage(facts.usage),
  routing: row !== undefined && isUsual(facts.routing, row) ? undefined : facts.routing,
  rates: facts.rates,
  simulated: facts.simulated,
  holdMs: facts.holdMs,
  firstTokenMs: facts.firstTokenMs ?? undefined
})

/** The same of all facts. */
export const keepClosed = (
  facts: JobFacts & Partial<Pick<ClosedFacts, Times>>,
  row: Beside | undefined
): Kept<ClosedFacts> => ({
  ...keepSoFar(facts, row),
  finishReason: facts.finishReason ?? undefined,
  error: facts.error ?? undefined,
  totalMs: facts.totalMs,
  overheadMs: facts.overheadMs,
  endedAtMs: facts.endedAtMs
})

/**
 * The facts again, or what there is of them: of a batch itself, and of what ended by its expiry with nothing recorded, by a fault of
 * ours or before it began, there is only why it failed.
 */
export const restoreClosed = (column: unknown, row: Beside): Partial<ClosedFacts> | null => {
  const kept = column as KeptClosed | Pick<ClosedFacts, "error"> | null
  if (kept === null || !("basis" in kept)) return kept
  const { price, routing = usualRouting(row), usage, ...facts } = kept
  return {
    finishReason: null,
    error: null,
    rates: price,
    ...facts,
    usage: "unit" in usage ? usage : { ...noTokens, ...usage },
    routing
  }
}
