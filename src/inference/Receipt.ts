import type { RoutingSummary } from "../../schemas/Routing.ts"
import type { Reason } from "../domain/Failure.ts"
import type { FinishReason } from "../domain/Output.ts"
import type { Attempt, Candidate } from "../domain/Plan.ts"
import type { PriceRule } from "../domain/PriceTerms.ts"
import type { Price, TokenPrice } from "../domain/Pricing.ts"
import { noTokens, type TokenUsage, type UnitUsage, type UsageBasis, type CallUsage } from "../domain/Usage.ts"

/**
 * The facts of a request that its row has in columns of their own. The JSON of its facts omits these, and omits usual values. Every
 * byte is written to the table and to the write-ahead log, at the hold and again at the close, which is a good part of a request's
 * database cost.
 */
export interface RowFacts {
  readonly model: string
  readonly resolved_model: string | null
  readonly provider: string | null
}

interface Origin {
  /** The promotion that lowered the rates. */
  readonly promotion?: { readonly label: string; readonly discountPercent: number }
  /** How the account's price came about. Absent: it is the catalogue's. */
  readonly rule?: PriceRule
}

/** A price per token as stored in a request row. Rates are in pico-USD as plain numbers, all of which are below 2^53. */
interface StoredTokenRates extends Origin {
  /** Absent: none. */
  readonly perRequest?: number
  /**
   * The tier's minimum of prompt tokens, then the rates for input, cached, cache write and output. The last is the rate for a cache
   * write that lasts an hour, where the request may ask for one and it has a price of its own.
   */
  readonly tiers: ReadonlyArray<readonly [number, number, number, number, number, number?]>
}

/** The stored rates of a price per unit. */
interface StoredUnitRates extends Origin {
  readonly unit: UnitUsage["unit"]
  readonly perUnit: number
}

export type StoredRates = StoredTokenRates | StoredUnitRates

/** The rates of one model at one provider. */
export type StoredPrice = StoredRates & { readonly model: string; readonly provider: string }

const storedRates = new WeakMap<TokenPrice, StoredTokenRates>()

const keepRates = (price: Price): StoredRates => {
  if (price.unit !== "token") return { unit: price.unit, perUnit: Number(price.perUnit) }
  const known = storedRates.get(price)
  if (known !== undefined) return known
  const made = {
    ...(price.perRequest === 0n ? {} : { perRequest: Number(price.perRequest) }),
    tiers: price.tiers.map(({ abovePromptTokens, rates }): StoredTokenRates["tiers"][number] => {
      const { cached, cacheWrite, cacheWriteLong, input, output } = rates
      const usual = [abovePromptTokens, Number(input), Number(cached), Number(cacheWrite), Number(output)] as const
      return price.long === true && cacheWriteLong !== undefined ? [...usual, Number(cacheWriteLong)] : usual
    })
  }
  storedRates.set(price, made)
  return made
}

/** Rounds milliseconds for a receipt to microseconds. Further digits of a clock mean nothing and double the length. */
export const spanMs = (ms: number): number => Math.round(ms * 1_000) / 1_000

/**
 * The times of the attempts for a receipt, in milliseconds from the arrival of the request: the start and the duration of the first,
 * of the second, and so on. The attempt that served ends with its answer; null while that is running.
 */
export const attemptMsOf = (
  attempts: ReadonlyArray<Pick<Attempt, "startedAt" | "endedAt">>,
  arrivedAt: number,
  answeredAt?: number
): ReadonlyArray<number | null> | undefined =>
  attempts.length === 0
    ? undefined
    : attempts.flatMap(({ endedAt = answeredAt, startedAt }) => [
        spanMs(Math.max(0, startedAt - arrivedAt)),
        endedAt === undefined ? null : spanMs(Math.max(0, endedAt - startedAt))
      ])

/** What an attempt that served no answer costs the operator, as stored in a request row. A trigger reads it by these names. */
export interface StoredAttemptCost {
  readonly index: number
  readonly provider: string
  readonly model: string
  /** In nano-USD. */
  readonly nano: number
  /** The provider reported no usage. */
  readonly estimated?: true
}

/** The attempts that cost the operator something beside the one that served; undefined when there is none, which is usual. */
export const attemptCostsOf = (attempts: ReadonlyArray<Attempt>): ReadonlyArray<StoredAttemptCost> | undefined => {
  if (attempts.every(({ cost }) => cost === undefined)) return undefined
  return attempts.flatMap(({ cost, index, model, provider }) =>
    cost === undefined
      ? []
      : [{ index, provider, model, nano: cost.nano, ...(cost.basis === "estimated" ? { estimated: true } : {}) }]
  )
}

/** The facts of a request that are known when it is admitted. A later change of the catalogue does not affect it. */
export interface OpenFacts {
  readonly streamed: boolean
  /** The slug of the preset that was used. */
  readonly preset?: string | undefined
  readonly queueMs: number
  readonly traceId: string | null
  /**
   * For an up-front charge, the price of the first candidate, because another process may conclude it. For a hold, the price is stored
   * with the facts of its close. Rows of earlier versions contain the first candidate's price or all candidates' prices.
   */
  readonly prices: ReadonlyArray<StoredPrice>
}

/** Lists every fact by name, so that none is forgotten. Undefined values are not written. */
type StoredFacts<Facts> = { readonly [Name in keyof Facts]-?: unknown }

/** Serializes the facts for a row. Absent values are the usual ones. */
export const keepOpened = ({ preset, prices, queueMs, streamed, traceId }: OpenFacts): StoredFacts<OpenFacts> => ({
  streamed: streamed || undefined,
  preset,
  queueMs,
  traceId: traceId ?? undefined,
  prices: prices.length === 0 ? undefined : prices
})

/** Restores the facts from that column. Throws when no version of this service can have written the value. */
export const restoreOpened = (column: unknown): OpenFacts => {
  const kept = column as Pick<OpenFacts, "queueMs"> & Partial<OpenFacts>
  if (typeof kept.queueMs !== "number") throw new Error("a request's row is without the facts of its opening")
  return { streamed: false, traceId: null, prices: [], ...kept }
}

/** The rates of a candidate when it is planned. */
export const ratesOf = ({ offer: { promotion }, price, rule }: Candidate<Price>): StoredRates => {
  const rates = rule === undefined ? keepRates(price) : { ...keepRates(price), rule }
  // A plan's fixed price is the same during a promotion.
  if (promotion === undefined || rule?.by === "plan_price") return rates
  const { discountPercent, label } = promotion.now
  return { ...rates, promotion: { label, discountPercent } }
}

/** The rates of a candidate when it is planned, with its model and provider. */
export const priceOf = (candidate: Candidate<Price>): StoredPrice => ({
  model: candidate.model.id,
  provider: candidate.offer.provider,
  ...ratesOf(candidate)
})

type Amounts<R> = { readonly [K in keyof R]-?: Exclude<R[K], undefined> extends bigint ? K : never }[keyof R]

/** The reasons that contain amounts, and the names of these. */
const amounts: {
  readonly [R in Reason as Amounts<R> extends never ? never : R["_tag"]]: ReadonlyArray<Amounts<R>>
} = {
  InsufficientCredits: ["needed", "available", "posted", "play"],
  NoModelInBudget: ["least"]
}

/** A reason as stored in a request row. Amounts are text, because JSON has no bigint. */
export interface StoredReason {
  readonly _tag: Reason["_tag"]
}

const withAmounts = (reason: StoredReason, as: (amount: never) => unknown): StoredReason => {
  const names = (amounts as Readonly<Record<string, ReadonlyArray<string>>>)[reason._tag]
  if (names === undefined) return reason
  const members = reason as unknown as Readonly<Record<string, never>>
  const present = names.filter((name) => members[name] !== undefined)
  return { ...reason, ...Object.fromEntries(present.map((name) => [name, as(members[name]!)])) }
}

export const keepReason = (reason: Reason): StoredReason => withAmounts(reason, String)

/** Restores a stored reason. */
export const restoreReason = (kept: StoredReason): Reason => withAmounts(kept, BigInt) as Reason

/** The facts of a request that are known when it is closed. */
export interface ClosedFacts {
  readonly usage: CallUsage
  readonly basis: UsageBasis
  readonly routing: RoutingSummary
  /** Start and duration of each attempt in turn. Rows of earlier versions have none. */
  readonly attemptMs?: ReadonlyArray<number | null> | undefined
  /** The rates of the candidate that served, unless the opening facts contain its price. */
  readonly rates?: StoredRates | undefined
  /** What the request costs the operator, in nano-USD, as far as known. The owner's receipt never shows it. */
  readonly providerCost?: number | undefined
  /** The attempts that served no answer and cost the operator something. The owner's receipt never shows them. */
  readonly attemptCosts?: ReadonlyArray<StoredAttemptCost> | undefined
  /** A double of the sandbox served it. The ledger's verification reads this field by name. */
  readonly simulated?: true | undefined
  readonly finishReason: FinishReason | null
  readonly error: StoredReason | null
  readonly holdMs: number
  readonly firstTokenMs: number | null
  readonly totalMs: number
  /** The part of `totalMs` that no provider took. */
  readonly overheadMs: number
  /** When the provider finished, in Unix milliseconds. From then to the close is the duration of the settle. */
  readonly endedAtMs: number
}

type Times = "holdMs" | "firstTokenMs" | "overheadMs"

/** The facts of a closed job. They have no times that a client waits for. */
export type JobFacts = Omit<ClosedFacts, Times>

/** The stored facts when there is more than an error. `price` comes from an earlier version and includes the model and the provider. */
interface StoredCloseFacts extends Partial<Omit<ClosedFacts, "usage" | "basis">> {
  readonly basis: UsageBasis
  readonly usage: Partial<TokenUsage> | UnitUsage
  readonly price?: StoredPrice
}

/** The usual routing: without special options, and served by the first candidate. */
const usualRouting = ({ model, provider, resolved_model }: RowFacts): RoutingSummary => ({
  strategy: "balanced",
  requested_models: [model],
  resolved_model: resolved_model ?? model,
  provider,
  provider_attempts: [{ provider: provider ?? "", outcome: "served", attempt_index: 0 }],
  fallbacks_allowed: true,
  data_policy: "default",
  source: "default"
})

const isUsual = (routing: RoutingSummary, { model, provider, resolved_model }: RowFacts): boolean => {
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

const keepUsage = (usage: CallUsage): object =>
  "units" in usage
    ? usage
    : {
        input: usage.input,
        cached: orAbsent(usage.cached),
        cacheWrite: orAbsent(usage.cacheWrite),
        cacheWriteLong: orAbsent(usage.cacheWriteLong ?? 0),
        output: usage.output,
        reasoning: orAbsent(usage.reasoning)
      }

/** The facts of a request after its provider has begun to answer. */
export type SoFarFacts = Pick<
  ClosedFacts,
  | "usage"
  | "basis"
  | "routing"
  | "attemptMs"
  | "rates"
  | "providerCost"
  | "attemptCosts"
  | "simulated"
  | "holdMs"
  | "firstTokenMs"
>

/**
 * Serializes these facts for a row. Absent values are the usual ones. Without `row`, which is then unknown, the whole routing is
 * stored.
 */
export const keepSoFar = (
  facts: Omit<SoFarFacts, Times> & Partial<Pick<ClosedFacts, Times>>,
  row: RowFacts | undefined
): StoredFacts<SoFarFacts> => ({
  basis: facts.basis,
  usage: keepUsage(facts.usage),
  routing: row !== undefined && isUsual(facts.routing, row) ? undefined : facts.routing,
  attemptMs: facts.attemptMs,
  rates: facts.rates,
  providerCost: facts.providerCost,
  attemptCosts: facts.attemptCosts,
  simulated: facts.simulated,
  holdMs: facts.holdMs,
  firstTokenMs: facts.firstTokenMs ?? undefined
})

/** Encodes all facts of a closed request for its row. */
export const keepClosed = (
  facts: JobFacts & Partial<Pick<ClosedFacts, Times>>,
  row: RowFacts | undefined
): StoredFacts<ClosedFacts> => ({
  ...keepSoFar(facts, row),
  finishReason: facts.finishReason ?? undefined,
  error: facts.error ?? undefined,
  totalMs: facts.totalMs,
  overheadMs: facts.overheadMs,
  endedAtMs: facts.endedAtMs
})

/** Returns what a request cost the operator, in nano-USD, from its column; null when that is unknown. */
export const providerCostIn = (column: unknown): bigint | null => {
  const cost = (column as Partial<ClosedFacts> | null)?.providerCost
  return cost === undefined ? null : BigInt(cost)
}

/** Returns the attempts of a request that cost the operator something beside the one that served, from its column. */
export const attemptCostsIn = (column: unknown): ReadonlyArray<StoredAttemptCost> =>
  (column as Partial<ClosedFacts> | null)?.attemptCosts ?? []

/** Returns what these attempts cost together, in nano-USD. */
export const attemptsCostIn = (column: unknown): bigint =>
  attemptCostsIn(column).reduce((sum, { nano }) => sum + BigInt(nano), 0n)

/**
 * Restores the facts, or those that exist. Only the reason of the failure exists for a batch itself, for an expired request without
 * progress, after a fault of the gateway, and for a request that failed before it began.
 */
export const restoreClosed = (column: unknown, row: RowFacts): Partial<ClosedFacts> | null => {
  const kept = column as StoredCloseFacts | Pick<ClosedFacts, "error"> | null
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
