import type { Candidate, RoutingPolicy } from "../domain/Plan.ts"

/** What is known of a provider's recent serving of a model; figures from too few samples are not ranked on. */
export interface Figures {
  readonly thin: boolean
  readonly successRate: number | null
  readonly p50Ms: number | null
  readonly medianTtftMs: number | null
}

/** A provider that fails more often than this is tried after the others. */
const LOWEST_SUCCESS_RATE = 0.8

const dearness = ({ price }: Candidate): number => {
  const { input, output } = price.tiers[0].rates
  // A typical exchange has three prompt tokens for one of output.
  return Number(3n * input + output)
}

/** Smaller is better; undefined ranks last and keeps the catalogue's order. */
const slowness = (figures: Figures): number => {
  if (figures.thin) return Number.POSITIVE_INFINITY
  return figures.medianTtftMs ?? figures.p50Ms ?? Number.POSITIVE_INFINITY
}

const failing = (figures: Figures): boolean =>
  !figures.thin && figures.successRate !== null && figures.successRate < LOWEST_SUCCESS_RATE

/**
 * Orders one model's candidates. `cost`: cheapest first. `latency`: quickest first, by measured time to first token. `quality`:
 * the catalogue's order, the model's own vendor first. `balanced`: the catalogue's order, providers that fail a lot last. Names in
 * `providers.order` go before all. The sort is stable, so ties keep the catalogue's order.
 */
export const arrange = (
  candidates: ReadonlyArray<Candidate>,
  policy: RoutingPolicy,
  figuresOf: (candidate: Candidate) => Figures
): ReadonlyArray<Candidate> => {
  if (candidates.length < 2) return candidates
  const rankOf = (candidate: Candidate): number => {
    switch (policy.strategy) {
      case "cost":
        return dearness(candidate)
      case "latency":
        return slowness(figuresOf(candidate))
      case "balanced":
        return failing(figuresOf(candidate)) ? 1 : 0
      case "quality":
        return 0
    }
  }
  const wishOf = (candidate: Candidate): number => {
    const wish = policy.order.indexOf(candidate.offer.provider)
    return wish === -1 ? policy.order.length : wish
  }
  return candidates
    .map((candidate, index) => ({ candidate, index, wish: wishOf(candidate), rank: rankOf(candidate) }))
    .toSorted((a, b) => a.wish - b.wish || compare(a.rank, b.rank) || a.index - b.index)
    .map(({ candidate }) => candidate)
}

/** Two infinities are equal; their difference is not a number. */
const compare = (a: number, b: number): number => (a === b ? 0 : a - b)
