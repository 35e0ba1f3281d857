import { Result } from "effect"
import { type Failure, failure } from "../domain/Failure.ts"
import { maxNano, NANO_PER_CENT, type Nano } from "../domain/Money.ts"
import type { Candidate, Plan } from "../domain/Plan.ts"
import { maximumCost, outputWithin } from "../domain/Pricing.ts"
import type { Bounds } from "./Metered.ts"

/** The ceiling of output tokens where the caller gave none. */
export const DEFAULT_OUTPUT_CEILING = 16_384

/** Output tokens that must be covered for a request without `max_tokens` to be admitted. */
export const OUTPUT_FLOOR = 256

/** Output tokens a rolling hold covers at a time. */
export const ROLLING_STEP = 4_096

/** What a request may cost, before anything is held: a function of the request, the plan and its prices alone. */
export interface Estimate extends Bounds {
  /** The most the request can cost in the end. */
  readonly ceiling: Nano
  readonly promptBound: number
  /** True when the hold grows with the stream instead of covering all of it at the start. */
  readonly rolling: boolean
  readonly maxTokens: number | undefined
}

/** The cap on output tokens of one candidate, whatever is held. */
export const outputCap = (candidate: Candidate, maxTokens: number | undefined): number =>
  Math.min(maxTokens ?? DEFAULT_OUTPUT_CEILING, candidate.offer.maxOutputTokens)

const dearest = (plan: Plan, costOf: (candidate: Candidate) => Nano): Nano =>
  plan.candidates.map(costOf).reduce(maxNano, 0n)

/**
 * The estimate of a plan: over its dearest candidate, so that any fallback is covered. With `maxTokens` all three amounts are
 * equal; without, `atLeast` covers the prompt and 256 output tokens and `upTo` the ceiling, or one step of it where the hold rolls.
 */
export const estimate = (
  plan: Plan,
  request: { readonly promptBound: number; readonly maxTokens: number | undefined; readonly stream: boolean }
): Estimate => {
  const { maxTokens, promptBound, stream } = request
  const costWith = (output: (cap: number) => number) =>
    dearest(plan, (candidate) => maximumCost(candidate.price, promptBound, output(outputCap(candidate, maxTokens))))
  const ceiling = costWith((cap) => cap)
  if (maxTokens !== undefined) {
    return { atLeast: ceiling, upTo: ceiling, ceiling, promptBound, rolling: false, maxTokens }
  }
  const rolling = stream && plan.candidates.every(({ model }) => !model.hiddenReasoning)
  const atLeast = costWith((cap) => Math.min(cap, OUTPUT_FLOOR))
  const upTo = rolling ? costWith((cap) => Math.min(cap, ROLLING_STEP)) : ceiling
  return { atLeast, upTo, ceiling, promptBound, rolling, maxTokens }
}

/** The cap sent upstream for a candidate: what the hold covers, or the whole ceiling where the hold grows with the stream. */
export const capWithin = (candidate: Candidate, estimate: Estimate, granted: Nano): number => {
  const cap = outputCap(candidate, estimate.maxTokens)
  return estimate.rolling ? cap : Math.min(cap, outputWithin(candidate.price, estimate.promptBound, granted))
}

/** Leaves out the candidates that could cost more than the caller's budget. */
export const withinBudget = (
  plan: Plan,
  request: {
    readonly promptBound: number
    readonly maxTokens: number | undefined
    readonly budgetCents: number | undefined
  }
): Result.Result<Plan, Failure> => {
  const { budgetCents, maxTokens, promptBound } = request
  if (budgetCents === undefined) return Result.succeed(plan)
  const budget = BigInt(Math.floor(budgetCents * Number(NANO_PER_CENT)))
  const costOf = (candidate: Candidate) => maximumCost(candidate.price, promptBound, outputCap(candidate, maxTokens))
  const [first, ...others] = plan.candidates.filter((candidate) => costOf(candidate) <= budget)
  if (first !== undefined) {
    const { hedgeAfterMs, ...rest } = plan
    // The delay is that of the provider it was made for, and is of use only where another one is left.
    const hedge = first === plan.candidates[0] && others.length > 0 ? hedgeAfterMs : undefined
    return Result.succeed({
      ...rest,
      candidates: [first, ...others],
      ...(hedge === undefined ? {} : { hedgeAfterMs: hedge })
    })
  }
  const least = plan.candidates.map(costOf).reduce((a, b) => (a < b ? a : b))
  return Result.fail(failure({ _tag: "NoModelInBudget", budgetCents, least }))
}
