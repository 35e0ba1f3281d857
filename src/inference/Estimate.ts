import { Result } from "effect"
import { type Failure, failure } from "../domain/Failure.ts"
import { maxNano, NANO_PER_CENT, type Nano } from "../domain/Money.ts"
import { type Candidate, isSimulated, type Plan } from "../domain/Plan.ts"
import { maximumCost, outputWithin } from "../domain/Pricing.ts"
import { type PromptSize, promptBoundAt } from "../domain/TokenBound.ts"
import type { Bounds } from "./Metered.ts"

/** The ceiling of output tokens where the caller gave none. */
export const DEFAULT_OUTPUT_CEILING = 16_384

/** Output tokens that must be covered for a request without `max_tokens` to be admitted. */
export const OUTPUT_FLOOR = 256

/** Output tokens a rolling hold covers at a time. */
export const ROLLING_STEP = 4_096

/** What of a request decides what it may cost at a candidate. */
export interface Wanted extends PromptSize {
  readonly maxTokens: number | undefined
  /** The most the caller lets the request cost; without `maxTokens` it caps the output. */
  readonly budget?: Nano | undefined
}

/** What a request may cost, before anything is held: a function of the request, the plan and its prices alone. */
export interface Estimate extends Bounds, Wanted {
  /** The most the request can cost in the end. */
  readonly ceiling: Nano
  /** True when the hold grows with the stream instead of covering all of it at the start. */
  readonly rolling: boolean
}

/** The most a candidate can cost with so many output tokens. */
export const costAt = (candidate: Candidate, size: PromptSize, output: number): Nano =>
  maximumCost(candidate.price, promptBoundAt(size, candidate.model), output)

/** The cap on output tokens of one candidate, whatever is held. */
export const outputCap = (candidate: Candidate, wanted: Wanted): number => {
  const { budget, maxTokens } = wanted
  const cap = Math.min(maxTokens ?? DEFAULT_OUTPUT_CEILING, candidate.offer.maxOutputTokens)
  return budget === undefined || maxTokens !== undefined ? cap : Math.min(cap, outputAt(candidate, wanted, budget))
}

/** The most output tokens of a candidate that are within what is granted. */
export const outputAt = (candidate: Candidate, size: PromptSize, granted: Nano): number =>
  outputWithin(candidate.price, promptBoundAt(size, candidate.model), granted)

const dearest = (plan: Plan, costOf: (candidate: Candidate) => Nano): Nano =>
  plan.candidates.map(costOf).reduce(maxNano, 0n)

/**
 * The estimate of a plan: over its dearest candidate, so that any fallback is covered. With `maxTokens` all three amounts are
 * equal; without, `atLeast` covers the prompt and 256 output tokens and `upTo` the ceiling, or one step of it where the hold rolls.
 */
export const estimate = (plan: Plan, request: Wanted & { readonly stream: boolean }): Estimate => {
  const { stream, ...wanted } = request
  const costWith = (output: (cap: number) => number) =>
    dearest(plan, (candidate) => costAt(candidate, wanted, output(outputCap(candidate, wanted))))
  const ceiling = costWith((cap) => cap)
  const simulated = isSimulated(plan)
  if (wanted.maxTokens !== undefined) {
    return { ...wanted, atLeast: ceiling, upTo: ceiling, simulated, ceiling, rolling: false }
  }
  const rolling = stream && plan.candidates.every(({ model }) => !model.hiddenReasoning)
  const atLeast = costWith((cap) => Math.min(cap, OUTPUT_FLOOR))
  const upTo = rolling ? costWith((cap) => Math.min(cap, ROLLING_STEP)) : ceiling
  return { ...wanted, atLeast, upTo, simulated, ceiling, rolling }
}

/** The cap sent upstream for a candidate: what the hold covers, or the whole ceiling where the hold grows with the stream. */
export const capWithin = (candidate: Candidate, estimate: Estimate, granted: Nano): number => {
  const cap = outputCap(candidate, estimate)
  return estimate.rolling ? cap : Math.min(cap, outputAt(candidate, estimate, granted))
}

/** A budget in cents as an amount; it may have any number of decimals. */
export const budgetOf = (budgetCents: number | undefined): Nano | undefined =>
  budgetCents === undefined ? undefined : BigInt(Math.floor(budgetCents * Number(NANO_PER_CENT)))

/**
 * Leaves out the candidates that could cost more than the caller's budget: with `maxTokens` those whose whole output is not within
 * it, and without, as the budget caps the output, those for which it does not cover the prompt and 256 output tokens.
 */
export const withinBudget = (
  plan: Plan,
  request: Wanted & { readonly budgetCents: number | undefined }
): Result.Result<Plan, Failure> => {
  const { budgetCents, maxTokens } = request
  const budget = budgetOf(budgetCents)
  if (budget === undefined || budgetCents === undefined) return Result.succeed(plan)
  const least = maxTokens === undefined ? OUTPUT_FLOOR : maxTokens
  const costOf = (candidate: Candidate) => costAt(candidate, request, Math.min(least, candidate.offer.maxOutputTokens))
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
  const needed = plan.candidates.map(costOf).reduce((a, b) => (a < b ? a : b))
  return Result.fail(failure({ _tag: "NoModelInBudget", budgetCents, least: needed }))
}
