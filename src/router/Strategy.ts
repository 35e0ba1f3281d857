/** Orders the providers of one model. Pure functions of prices, live figures and a random number drawn by the caller. */
import type { RoutingPolicy, Strategy } from "../domain/Plan.ts"

/** The figures measured for one provider of a model; null where there is no data. */
export interface Figures {
  readonly samples: number
  readonly successRate: number | null
  readonly medianTtftMs: number | null
  readonly p50Ms: number | null
  readonly p95Ms: number | null
}

/** The expected figures of a provider's next request: its measured figures, shrunk toward a prior. */
export interface ExpectedFigures {
  /** Above 0, at most 1. */
  readonly successRate: number
  readonly medianTtftMs: number
  readonly p50Ms: number
  readonly p95Ms: number
}

/** The properties of one provider of a model that the strategies weigh. */
export interface WeighedProvider {
  readonly provider: string
  /** The estimated price of the request at this provider. */
  readonly priceUsd: number
  /** Whether the provider is the first callable one in the catalogue's list, usually the model's vendor. */
  readonly preferred: boolean
  /** Whether there are too few samples to judge by. */
  readonly thin: boolean
  readonly expected: ExpectedFigures
}

/** The weight of each figure: the exponent of the ratio between two providers' figures. */
interface Weights {
  readonly price: number
  readonly successRate: number
  readonly medianTtft: number
  readonly p50: number
  readonly p95: number
  /** Not a ratio: being preferred multiplies the score by `e` to this power. */
  readonly preferred: number
}

/** The weights of each strategy. A strategy ignores figures with weight zero. */
export const weights: Readonly<Record<Strategy, Weights>> = {
  balanced: { price: 1, successRate: 6, medianTtft: 0.25, p50: 0.25, p95: 0, preferred: 0.1 },
  cost: { price: 1, successRate: 0, medianTtft: 0, p50: 0, p95: 0, preferred: 0 },
  latency: { price: 0, successRate: 2, medianTtft: 1, p50: 0.5, p95: 0.25, preferred: 0 },
  quality: { price: 0, successRate: 5, medianTtft: 0, p50: 0, p95: 0, preferred: 0.5 }
}

/** The success rate assumed before there is any data. */
export const PRIOR_SUCCESS_RATE = 0.98

/** The number of attempts at which measured data weighs as much as the prior. */
export const PRIOR_SAMPLES = 20

/** Used when no provider of a model has a time yet. It is the same for all providers, so it does not affect the order. */
const UNKNOWN_MS = 1_000

/** A provider with an expected success rate below this loses a tie. */
export const LOWEST_SUCCESS_RATE = 0.8

/** Keeps a price of zero comparable and is negligible beside any other price. */
const MIN_PRICE_USD = 1e-9

/** The share of requests that try a little-known provider first. */
export const EXPLORATION_SHARE = 0.02

/**
 * The highest price of an explored provider, as a multiple of the first candidate's price. With undefined, the strategy never
 * explores.
 */
export const explorationPriceBound: Readonly<Record<Strategy, number | undefined>> = {
  balanced: 1.5,
  cost: 1.1,
  latency: 2,
  quality: undefined
}

type Time = "medianTtftMs" | "p50Ms" | "p95Ms"

const logOf = (ms: number): number => Math.log(Math.max(1, ms))

/**
 * Returns the weight of a measured time against the prior, from 0 to 1. It is one half at `PRIOR_SAMPLES`. It grows with the square
 * of the sample count, because a median of a few times says little, while a few failures are already informative.
 */
const weightOf = (figures: Figures, time: Time): number => {
  if (figures[time] === null) return 0
  // Counts all attempts, not only successes. Otherwise a slow provider's times would count less when it fails more.
  const square = figures.samples ** 2
  return square / (square + PRIOR_SAMPLES ** 2)
}

/** Returns the logarithm of the model's own figure: the weighted mean over its providers. */
const priorOf = (all: ReadonlyArray<Figures>, time: Time): number => {
  let [sum, total] = [0, 0]
  for (const figures of all) {
    const weight = weightOf(figures, time)
    sum += weight * logOf(figures[time] ?? 1)
    total += weight
  }
  return total === 0 ? Math.log(UNKNOWN_MS) : sum / total
}

/**
 * Returns the expected figures of each provider of one model, in the given order. Success rates shrink toward `PRIOR_SUCCESS_RATE`
 * as if there were `PRIOR_SAMPLES` more attempts. Times shrink toward the model's times at other providers. So few samples change
 * little, and a provider without samples is expected to be like the others.
 */
export const expectedOf = (all: ReadonlyArray<Figures>): ReadonlyArray<ExpectedFigures> => {
  const shrinking = (time: Time) => {
    const prior = priorOf(all, time)
    return (figures: Figures) => {
      const weight = weightOf(figures, time)
      return Math.exp(weight * logOf(figures[time] ?? 1) + (1 - weight) * prior)
    }
  }
  const [medianTtftMs, p50Ms, p95Ms] = [shrinking("medianTtftMs"), shrinking("p50Ms"), shrinking("p95Ms")]
  return all.map((figures) => ({
    successRate:
      (figures.samples * (figures.successRate ?? 0) + PRIOR_SAMPLES * PRIOR_SUCCESS_RATE) /
      (figures.samples + PRIOR_SAMPLES),
    medianTtftMs: medianTtftMs(figures),
    p50Ms: p50Ms(figures),
    p95Ms: p95Ms(figures)
  }))
}

/** Skips figures with weight zero, so that they cannot disturb equal scores. */
const part = (weight: number, figure: number): number => (weight === 0 ? 0 : weight * Math.log(figure))

/** Returns the score of a provider under a strategy. Lower scores are tried first. */
export const score = (
  strategy: Strategy,
  { expected, preferred, priceUsd }: Omit<WeighedProvider, "provider">
): number => {
  const weight = weights[strategy]
  return (
    part(weight.price, priceUsd + MIN_PRICE_USD) -
    part(weight.successRate, expected.successRate) +
    part(weight.medianTtft, expected.medianTtftMs) +
    part(weight.p50, expected.p50Ms) +
    part(weight.p95, expected.p95Ms) -
    (preferred ? weight.preferred : 0)
  )
}

type OrderingPolicy = Pick<RoutingPolicy, "strategy" | "order">

/**
 * Orders the providers of one model, best first. Providers named in `order` come first, then the others by score. Among equal
 * scores, providers that fail often come last, and otherwise the given order stays.
 */
export const arrange = <A extends WeighedProvider>(
  providers: ReadonlyArray<A>,
  { order, strategy }: OrderingPolicy
): ReadonlyArray<A> => {
  if (providers.length < 2) return providers
  const ranked = providers.map((weighed) => {
    const position = order.length === 0 ? 0 : order.indexOf(weighed.provider)
    return {
      weighed,
      position: position === -1 ? order.length : position,
      score: score(strategy, weighed),
      failing: weighed.expected.successRate < LOWEST_SUCCESS_RATE ? 1 : 0
    }
  })
  // The sort is stable.
  ranked.sort((a, b) => a.position - b.position || a.score - b.score || a.failing - b.failing)
  return ranked.map(({ weighed }) => weighed)
}

/**
 * Returns the same order, except that in `EXPLORATION_SHARE` of all draws one little-known provider moves to the front. It never
 * moves ahead of a provider that the client put first or that is little known itself, nor when its price exceeds
 * `explorationPriceBound`. `draw` ranges from 0 (inclusive) to 1 (exclusive).
 */
export const explore = <A extends WeighedProvider>(
  arranged: ReadonlyArray<A>,
  { order, strategy }: OrderingPolicy,
  draw: number
): ReadonlyArray<A> => {
  const [first] = arranged
  const bound = explorationPriceBound[strategy]
  if (draw >= EXPLORATION_SHARE || bound === undefined || first === undefined) return arranged
  if (first.thin || order.includes(first.provider)) return arranged
  const unknown = arranged.filter(({ priceUsd, thin }) => thin && priceUsd <= first.priceUsd * bound)
  const chosen = unknown[Math.floor((draw / EXPLORATION_SHARE) * unknown.length)]
  return chosen === undefined ? arranged : [chosen, ...arranged.filter((weighed) => weighed !== chosen)]
}
