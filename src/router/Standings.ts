/** What is ready of every model before a request comes, so that a plan looks it up instead of working it out. */
import { type Performance, THIN_BELOW_SAMPLES } from "../catalogue/LiveFigures.ts"
import type { CatalogueProvider, Snapshot } from "../catalogue/Snapshot.ts"
import type { Capability, Model, Offer } from "../domain/Model.ts"
import { usdFromPico } from "../domain/Money.ts"
import type { Candidate } from "../domain/Plan.ts"
import type { TokenPrice } from "../domain/Pricing.ts"
import { type Expected, expectedOf } from "./Strategy.ts"

/** The rates of a price in USD per token, as numbers: good enough to compare, not to charge. */
interface Rates {
  readonly abovePromptTokens: number
  readonly input: number
  readonly output: number
}

/** A candidate that can be called, with what never changes within a snapshot. */
export interface Offered {
  readonly candidate: Candidate
  readonly provider: CatalogueProvider
  readonly preferred: boolean
  readonly rates: readonly [Rates, ...ReadonlyArray<Rates>]
  readonly perRequestUsd: number
  /** Names of the optional parameters that it takes. */
  readonly parameters: ReadonlySet<string>
}

/** The same, with what was lately seen of it. */
export interface Contender extends Offered {
  readonly expected: Expected
  readonly thin: boolean
  /** 95th percentiles of the time to the whole answer and, of enough streams, to the first token; null where nothing is known. */
  readonly slow: { readonly wholeMs: number | null; readonly firstTokenMs: number | null }
}

/** Parameters that a provider takes only with the capability behind them. */
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

/** Token rates as numbers. */
export const ratesOf = ({ tiers }: TokenPrice): Offered["rates"] => {
  const [first, ...others] = tiers.map(({ abovePromptTokens, rates }): Rates => ({
    abovePromptTokens,
    input: usdFromPico(rates.input),
    output: usdFromPico(rates.output)
  }))
  return [first!, ...others]
}

/** The offers of a model that can be called at a price per token, in the catalogue's order. */
const offeredOf = (catalogue: Snapshot, model: Model): ReadonlyArray<Offered> => {
  const found: Array<Offered> = []
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

/** What a request of this size is likely to cost. */
export const likelyPriceUsd = (
  { perRequestUsd, rates }: Offered,
  size: { readonly promptTokens: number; readonly outputTokens: number }
): number => {
  let reached = rates[0]
  for (const tier of rates) if (size.promptTokens > tier.abovePromptTokens) reached = tier
  return perRequestUsd + reached.input * size.promptTokens + reached.output * size.outputTokens
}

/** How long figures are used before they are read again; reading them costs more than a plan. */
export const FIGURES_LIFE_MS = 1_000

interface Entry {
  readonly offered: ReadonlyArray<Offered>
  contenders: ReadonlyArray<Contender>
  readAtMs: number
}

type PerformanceOf = (model: string, provider: string) => Performance

/** Keeps what the models of the latest snapshot come to, one entry for each that was asked for. */
export class Standings {
  readonly #performance: PerformanceOf
  #snapshot: Snapshot | undefined
  #entries = new Map<string, Entry>()

  constructor(performance: PerformanceOf) {
    this.#performance = performance
  }

  /** A model's candidates that can be called, in the catalogue's order. Their figures are at most `FIGURES_LIFE_MS` old. */
  of(catalogue: Snapshot, model: Model, nowMs: number): ReadonlyArray<Contender> {
    if (this.#snapshot !== catalogue) {
      this.#snapshot = catalogue
      this.#entries = new Map()
    }
    let entry = this.#entries.get(model.id)
    if (entry === undefined) {
      const offered = offeredOf(catalogue, model)
      entry = { offered, contenders: this.#read(model, offered), readAtMs: nowMs }
      this.#entries.set(model.id, entry)
    }
    // A clock that was set back must not keep figures for good.
    if (Math.abs(nowMs - entry.readAtMs) >= FIGURES_LIFE_MS) {
      entry.contenders = this.#read(model, entry.offered)
      entry.readAtMs = nowMs
    }
    return entry.contenders
  }

  #read(model: Model, offered: ReadonlyArray<Offered>): ReadonlyArray<Contender> {
    const seen = offered.map(({ provider }) => this.#performance(model.id, provider.id))
    const expected = expectedOf(seen)
    return offered.map((one, index) => {
      const { p95Ms, p95TtftMs, streamed, thin } = seen[index]!
      const slow = { wholeMs: p95Ms, firstTokenMs: streamed < THIN_BELOW_SAMPLES ? null : p95TtftMs }
      return { ...one, expected: expected[index]!, thin, slow }
    })
  }
}
