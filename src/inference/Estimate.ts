import { Result } from "effect"
import { type Failure, failure } from "../domain/Failure.ts"
import { maxNano, NANO_PER_CENT, type Nano } from "../domain/Money.ts"
import { type Candidate, isSimulated, type Plan } from "../domain/Plan.ts"
import { maximumCost, outputWithin } from "../domain/Pricing.ts"
import { promptBoundAt } from "../domain/Tokens.ts"
import type { Bounds } from "./Metered.ts"

/** The ceiling of output tokens where the caller gave none. */
export const DEFAULT_OUTPUT_CEILING = 16_384

/** Output tokens that must be covered for a request without `max_tokens` to be admitted. */
export const OUTPUT_FLOOR = 256

/** Output tokens a rolling hold covers at a time. */
export const ROLLING_STEP = 4_096

/** How large a prompt may be. */
export interface PromptSize {
  /** No model but those that bill images at more than the others counts more prompt tokens than this. */
  readonly promptBound: number
  /** How many images are in it; none when absent. */
  readonly images?: number | undefined
}

/** What a request may cost, before anything is held: a function of the request, the plan and its prices alone. */
export interface Estimate extends Bounds, PromptSize {
  /** The most the request can cost in the end. */
  readonly ceiling: Nano
  /** True when the hold grows with the stream instead of covering all of it at the start. */
  readonly rolling: boolean
  readonly maxTokens: number | undefined
}

/** The cap on output tokens of one candidate, whatever is held. */
export const outputCap = (candidate: Candidate, maxTokens: number | undefined): number =>
  Math.min(maxTokens ?? DEFAULT_OUTPUT_CEILING, candidate.offer.maxOutputTokens)

/** The most a candidate can cost with so many output tokens. */
export const costAt = (candidate: Candidate, size: PromptSize, output: number): Nano =>
  maximumCost(candidate.price, promptBoundAt(size, candidate.model), output)

/** The most output tokens of a candidate that are within what is granted. */
export const outputAt = (candidate: Candidate, size: PromptSize, granted: Nano): number =>
  outputWithin(candidate.price, promptBoundAt(size, candidate.model), granted)

const dearest = (plan: Plan, costOf: (candidate: Candidate) => Nano): Nano =>
  plan.candidates.map(costOf).reduce(maxNano, 0n)

/**
 * The estimate of a plan: over its dearest candidate, so that any fallback is covered. With `maxTokens` all three amounts are
 * equal; without, `atLeast` covers the prompt and 256 output tokens and `upTo` the ceiling, or one step of it where the hold rolls.
 */
export const estimate = (
  plan: Plan,
  request: PromptSize & { readonly maxTokens: number | undefined; readonly stream: boolean }
): Estimate => {
  const { images, maxTokens, promptBound, stream } = request
  const costWith = (output: (cap: number) => number) =>
    dearest(plan, (candidate) => costAt(candidate, request, output(outputCap(candidate, maxTokens))))
  const ceiling = costWith((cap) => cap)
  const simulated = isSimulated(plan)
  if (maxTokens !== undefined) {
    return { atLeast: ceiling, upTo: ceiling, simulated, ceiling, promptBound, images, rolling: false, maxTokens }
  }
  const rolling = stream && plan.candidates.every(({ model }) => !model.hiddenReasoning)
  const atLeast = costWith((cap) => Math.min(cap, OUTPUT_FLOOR))
  const upTo = rolling ? costWith((cap) => Math.min(cap, ROLLING_STEP)) : ceiling
  return { atLeast, upTo, simulated, ceiling, promptBound, images, rolling, maxTokens }
}

/** The cap sent upstream for a candidate: what the hold covers, or the whole ceiling where the hold grows with the stream. */
export const capWithin = (candidate: Candidate, estimate: Estimate, granted: Nano): number => {
  const cap = outputCap(candidate, estimate.maxTokens)
  return estimate.rolling ? cap : Math.min(cap, outputAt(candidate, estimate, granted))
}

/** Leaves out the candidates that could cost more than the caller's budget. */
export const withinBudget = (
  plan: Plan,
  request: PromptSize & { readonly maxTokens: number | undefined; readonly budgetCents: number | undefined }
): Result.Result<Plan, Failure> => {
  const { budgetCents, maxTokens } = request
  if (budgetCents === undefined) return Result.succeed(plan)
  const budget = BigInt(Math.floor(budgetCents * Number(NANO_PER_CENT)))
  const costOf = (candidate: Candidate) => costAt(candidate, request, outputCap(candidate, maxTokens))
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
