/** How the providers of one model are put in order: pure functions of prices, live figures and a number that is drawn outside. */
import type { RoutingPolicy, Strategy } from "../domain/Plan.ts"

/** What was seen of a provider's serving of a model; null where nothing is known. */
export interface Figures {
  readonly samples: number
  readonly successRate: number | null
  readonly medianTtftMs: number | null
  readonly p50Ms: number | null
  readonly p95Ms: number | null
}

/** What a provider's next request can be expected to be like: its figures, shrunk towards a prior. */
export interface Expected {
  /** Above 0, at most 1. */
  readonly successRate: number
  readonly medianTtftMs: number
  readonly p50Ms: number
  readonly p95Ms: number
}

/** What is weighed of one provider of a model. */
export interface Standing {
  readonly provider: string
  /** What the request is likely to cost there. */
  readonly priceUsd: number
  /** Whether it is the first of the catalogue's list that can be called, as a rule the model's own vendor. */
  readonly preferred: boolean
  /** Too few samples to judge by. */
  readonly thin: boolean
  readonly expected: Expected
}

/** How much each figure counts; a ratio of two providers' figures counts with this as its exponent. */
interface Weights {
  readonly price: number
  readonly successRate: number
  readonly medianTtft: number
  readonly p50: number
  readonly p95: number
  /** Not a ratio: `e` to its power is what being preferred is worth. */
  readonly preferred: number
}

/** What each strategy weighs. A weight of zero is a figure that it does not look at. */
export const weights: Readonly<Record<Strategy, Weights>> = {
  balanced: { price: 1, successRate: 6, medianTtft: 0.25, p50: 0.25, p95: 0, preferred: 0.1 },
  cost: { price: 1, successRate: 0, medianTtft: 0, p50: 0, p95: 0, preferred: 0 },
  latency: { price: 0, successRate: 2, medianTtft: 1, p50: 0.5, p95: 0.25, preferred: 0 },
  quality: { price: 0, successRate: 5, medianTtft: 0, p50: 0, p95: 0, preferred: 0.5 }
}

/** The success rate that is taken for granted before anything is known. */
export const PRIOR_SUCCESS_RATE = 0.98

/** The prior counts as much as what was seen when there were so many attempts. */
export const PRIOR_SAMPLES = 20

/** For a model of which no provider has a time yet; the same for all, so that it decides nothing. */
const UNKNOWN_MS = 1_000

/** A provider that is expected to fail more often than this loses a tie. */
export const LOWEST_SUCCESS_RATE = 0.8

/** Keeps a price of zero comparable, and is nothing beside any other. */
const LEAST_PRICE_USD = 1e-9

/** The share of requests that try somebody of whom too little is known first. */
export const EXPLORATION_SHARE = 0.02

/** Exploring costs at most so many times the price of the first candidate; undefined: the strategy never explores. */
export const explorationPriceBound: Readonly<Record<Strategy, number | undefined>> = {
  balanced: 1.5,
  cost: 1.1,
  latency: 2,
  quality: undefined
}

type Time = "medianTtftMs" | "p50Ms" | "p95Ms"

const logOf = (ms: number): number => Math.log(Math.max(1, ms))

/**
 * The weight of a measured time against the prior, from 0 to 1; a half at `PRIOR_SAMPLES`. It begins with the square of the number:
 * a median of a handful is any of them, while a handful of failures is a handful of failures.
 */
const weightOf = (figures: Figures, time: Time): number => {
  if (figures[time] === null) return 0
  // All attempts, not those that succeeded: failing more often must not make a slow provider's times count less.
  const square = figures.samples ** 2
  return square / (square + PRIOR_SAMPLES ** 2)
}

/** The logarithm of the model's own figure: the mean over its providers, each by its weight. */
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
 * What can be expected of each provider of one model, in the order given. A success rate is shrunk towards `PRIOR_SUCCESS_RATE`
 * as if there had been `PRIOR_SAMPLES` attempts more, a time towards what the model takes elsewhere: little that is seen moves
 * little, and who was never seen is expected to be like the others.
 */
export const expectedOf = (all: ReadonlyArray<Figures>): ReadonlyArray<Expected> => {
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

/** A figure that is not weighed is not looked at, so that it cannot disturb what is equal. */
const part = (weight: number, figure: number): number => (weight === 0 ? 0 : weight * Math.log(figure))

/** How a provider stands under a strategy; the lower, the earlier it is tried. */
export const score = (strategy: Strategy, { expected, preferred, priceUsd }: Omit<Standing, "provider">): number => {
  const weight = weights[strategy]
  return (
    part(weight.price, priceUsd + LEAST_PRICE_USD) -
    part(weight.successRate, expected.successRate) +
    part(weight.medianTtft, expected.medianTtftMs) +
    part(weight.p50, expected.p50Ms) +
    part(weight.p95, expected.p95Ms) -
    (preferred ? weight.preferred : 0)
  )
}

type Wishes = Pick<RoutingPolicy, "strategy" | "order">

/**
 * One model's providers, best first. Names in `order` go before all; the others go by score. Of those with the same score one
 * that fails a lot goes last, and else they stay as they came.
 */
export const arrange = <A extends Standing>(
  standings: ReadonlyArray<A>,
  { order, strategy }: Wishes
): ReadonlyArray<A> => {
  if (standings.length < 2) return standings
  const ranked = standings.map((standing) => {
    const wish = order.length === 0 ? 0 : order.indexOf(standing.provider)
    return {
      standing,
      wish: wish === -1 ? order.length : wish,
      score: score(strategy, standing),
      failing: standing.expected.successRate < LOWEST_SUCCESS_RATE ? 1 : 0
    }
  })
  // The sort is stable.
  ranked.sort((a, b) => a.wish - b.wish || a.score - b.score || a.failing - b.failing)
  return ranked.map(({ standing }) => standing)
}

/**
 * The same order, but that in `EXPLORATION_SHARE` of all draws one goes first of whom too little is known to be ranked fairly.
 * Nobody goes before a provider that the caller put first, or that is itself little known, and nobody whose price is beyond
 * `explorationPriceBound`. `draw` is a number from 0 up to, not including, 1.
 */
export const explore = <A extends Standing>(
  arranged: ReadonlyArray<A>,
  { order, strategy }: Wishes,
  draw: number
): ReadonlyArray<A> => {
  const [first] = arranged
  const bound = explorationPriceBound[strategy]
  if (draw >= EXPLORATION_SHARE || bound === undefined || first === undefined) return arranged
  if (first.thin || order.includes(first.provider)) return arranged
  const unknown = arranged.filter(({ priceUsd, thin }) => thin && priceUsd <= first.priceUsd * bound)
  const chosen = unknown[Math.floor((draw / EXPLORATION_SHARE) * unknown.length)]
  return chosen === undefined ? arranged : [chosen, ...arranged.filter((standing) => standing !== chosen)]
}
