/** Prepares the candidates of every model, with their figures, before requests arrive, so that planning looks them up. */
import { type Performance, THIN_BELOW_SAMPLES } from "../catalogue/LiveFigures.ts"
import type { CatalogueProvider, Snapshot } from "../catalogue/Snapshot.ts"
import type { Capability, Model, Offer } from "../domain/Model.ts"
import { usdFromPico } from "../domain/Money.ts"
import type { Candidate, RoutingPolicy } from "../domain/Plan.ts"
import { priceFor, ruleFor } from "../domain/PriceTerms.ts"
import type { TokenPrice } from "../domain/Pricing.ts"
import { type ExpectedFigures, expectedOf } from "./Strategy.ts"

/** The rates of a price in USD per token, as floating-point numbers. They serve comparisons, never charges. */
interface Rates {
  readonly abovePromptTokens: number
  readonly input: number
  readonly output: number
}

/** A callable candidate with its properties that never change within a snapshot. */
export interface PreparedCandidate {
  readonly candidate: Candidate
  readonly provider: CatalogueProvider
  readonly preferred: boolean
  readonly rates: readonly [Rates, ...ReadonlyArray<Rates>]
  readonly perRequestUsd: number
  /** Names of the optional parameters that it accepts. */
  readonly parameters: ReadonlySet<string>
}

/** A callable candidate with its recent figures. */
export interface MeasuredCandidate extends PreparedCandidate {
  readonly expected: ExpectedFigures
  readonly thin: boolean
  /** 95th percentiles of the time to the whole response and, given enough streams, to the first token; null without data. */
  readonly slow: { readonly wholeMs: number | null; readonly firstTokenMs: number | null }
}

/** Parameters that a provider accepts only with the capability behind them. */
const capabilityOf: Readonly<Record<string, Capability>> = {
  tools: "tools",
  tool_choice: "tools",
  parallel_tool_calls: "tools",
  response_format: "json_mode",
  structured_outputs: "structured_outputs",
  reasoning: "reasoning",
  logprobs: "logprobs",
  top_logprobs: "logprobs"
}

const takes = (offer: Offer, parameter: string): boolean => {
  const capability = capabilityOf[parameter]
  return capability === undefined || !offer.unsupported.includes(capability)
}

/** Returns the token rates of a price as floating-point numbers. */
export const ratesOf = ({ tiers }: TokenPrice): PreparedCandidate["rates"] => {
  const [first, ...others] = tiers.map(({ abovePromptTokens, rates }): Rates => ({
    abovePromptTokens,
    input: usdFromPico(rates.input),
    output: usdFromPico(rates.output)
  }))
  return [first!, ...others]
}

/** Returns the offers of a model that are callable and priced per token, in the catalogue's order. */
const preparedOf = (catalogue: Snapshot, model: Model): ReadonlyArray<PreparedCandidate> => {
  const found: Array<PreparedCandidate> = []
  for (const offer of model.offers) {
    const provider = catalogue.provider(offer.provider)
    if (offer.price?.unit !== "token" || provider === undefined || provider.serving === "none") continue
    found.push({
      candidate: { model, offer, price: offer.price },
      provider,
      preferred: found.length === 0,
      rates: ratesOf(offer.price),
      perRequestUsd: usdFromPico(offer.price.perRequest),
      parameters: new Set(model.supportedParameters.filter((parameter) => takes(offer, parameter)))
    })
  }
  return found
}

/** Returns the candidates at the prices of the account that asks, by which they are compared, limited and charged. */
export const atAccountPrices = (
  candidates: ReadonlyArray<MeasuredCandidate>,
  { terms }: Pick<RoutingPolicy, "terms">
): ReadonlyArray<MeasuredCandidate> =>
  terms === undefined
    ? candidates
    : candidates.map((measured) => {
        const { model, price: listed } = measured.candidate
        const price = priceFor(terms, model.id, listed)
        const rule = ruleFor(terms, model.id, listed)
        const perRequestUsd = usdFromPico(price.perRequest)
        const candidate = { ...measured.candidate, price, ...(rule === undefined ? {} : { rule }) }
        return { ...measured, candidate, rates: ratesOf(price), perRequestUsd }
      })

/** Returns the estimated price of a request of this size. */
export const likelyPriceUsd = (
  { perRequestUsd, rates }: PreparedCandidate,
  size: { readonly promptTokens: number; readonly outputTokens: number }
): number => {
  let reached = rates[0]
  for (const tier of rates) if (size.promptTokens > tier.abovePromptTokens) reached = tier
  return perRequestUsd + reached.input * size.promptTokens + reached.output * size.outputTokens
}

/** How long figures are reused before they are read again, because reading them costs more than a plan. */
export const FIGURES_LIFE_MS = 1_000

interface Entry {
  readonly prepared: ReadonlyArray<PreparedCandidate>
  candidates: ReadonlyArray<MeasuredCandidate>
  readAtMs: number
}

type PerformanceOf = (model: string, provider: string) => Performance

/** Caches the candidates of each requested model, with their figures, for the latest snapshot. */
export class MeasuredCandidates {
  readonly #performance: PerformanceOf
  #snapshot: Snapshot | undefined
  #entries = new Map<string, Entry>()

  constructor(performance: PerformanceOf) {
    this.#performance = performance
  }

  /** Returns a model's callable candidates in the catalogue's order. Their figures are at most `FIGURES_LIFE_MS` old. */
  of(catalogue: Snapshot, model: Model, nowMs: number): ReadonlyArray<MeasuredCandidate> {
    if (this.#snapshot !== catalogue) {
      this.#snapshot = catalogue
      this.#entries = new Map()
    }
    let entry = this.#entries.get(model.id)
    if (entry === undefined) {
      const prepared = preparedOf(catalogue, model)
      entry = { prepared, candidates: this.#read(model, prepared), readAtMs: nowMs }
      this.#entries.set(model.id, entry)
    }
    // The absolute difference, because a clock that was set back must not keep figures forever.
    if (Math.abs(nowMs - entry.readAtMs) >= FIGURES_LIFE_MS) {
      entry.candidates = this.#read(model, entry.prepared)
      entry.readAtMs = nowMs
    }
    return entry.candidates
  }

  #read(model: Model, prepared: ReadonlyArray<PreparedCandidate>): ReadonlyArray<MeasuredCandidate> {
    const seen = prepared.map(({ provider }) => this.#performance(model.id, provider.id))
    const expected = expectedOf(seen)
    return prepared.map((one, index) => {
      const { p95Ms, p95TtftMs, streamed, thin } = seen[index]!
      const slow = { wholeMs: p95Ms, firstTokenMs: streamed < THIN_BELOW_SAMPLES ? null : p95TtftMs }
      return { ...one, expected: expected[index]!, thin, slow }
    })
  }
}
