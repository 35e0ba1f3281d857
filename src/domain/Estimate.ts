import { Result } from "effect"
import { type Failure, failure } from "./Failure.ts"
import { centsFromNano, maxNano, minNano, NANO_PER_CENT, type Nano } from "./Money.ts"
import { type Candidate, isSimulated, type Plan } from "./Plan.ts"
import { maximumCost, outputWithin, type Price } from "./Pricing.ts"
import { type PromptSize, promptBoundAt } from "./TokenBound.ts"

/** The maximum output tokens when the caller sets none. */
export const DEFAULT_OUTPUT_CEILING = 16_384

/** The output tokens that the balance must cover to admit a request without `max_tokens`. */
export const OUTPUT_FLOOR = 256

/** The output tokens that a rolling hold covers at a time. */
export const ROLLING_STEP = 4_096

/** The hold of a request. */
export interface Bounds {
  /** The amount that must be available to admit the request. */
  readonly atLeast: Nano
  /** The maximum initial hold. */
  readonly upTo: Nano
  /** Whether only doubles of the sandbox can serve it, so that simulated money may pay for it. */
  readonly simulated?: boolean
}

/** The parts of a request that determine its maximum cost at a candidate. */
export interface CostFactors extends PromptSize {
  readonly maxTokens: number | undefined
  /** The caller's limit on the cost. Without `maxTokens` it limits the output. */
  readonly budget?: Nano | undefined
}

/** The maximum cost of a request before anything is held. It depends only on the request, the plan and its prices. */
export interface Estimate extends Bounds, CostFactors {
  /** The maximum final cost of the request. */
  readonly ceiling: Nano
  /** Whether the hold grows with the stream instead of covering all of it at the start. */
  readonly rolling: boolean
}

/** The providers to which a request would go, and its maximum cost. */
export interface PricedPlan {
  readonly plan: Plan
  readonly estimate: Estimate
}

/** The providers to which work would go, and its hold. */
export interface PricedWork {
  readonly plan: Plan<Price>
  readonly estimate: Bounds
}

/** The maximum cost at a candidate with this many output tokens. */
export const costAt = (candidate: Candidate, size: PromptSize, output: number): Nano =>
  maximumCost(candidate.price, promptBoundAt(size, candidate.model), output)

/** A candidate's cap on output tokens, regardless of the hold. */
export const outputCap = (candidate: Candidate, wanted: CostFactors): number => {
  const { budget, maxTokens } = wanted
  const cap = Math.min(maxTokens ?? DEFAULT_OUTPUT_CEILING, candidate.offer.maxOutputTokens)
  return budget === undefined || maxTokens !== undefined ? cap : Math.min(cap, outputAt(candidate, wanted, budget))
}

/** The maximum output tokens of a candidate within the granted amount. */
export const outputAt = (candidate: Candidate, size: PromptSize, granted: Nano): number =>
  outputWithin(candidate.price, promptBoundAt(size, candidate.model), granted)

const dearest = (plan: Plan, costOf: (candidate: Candidate) => Nano): Nano =>
  plan.candidates.map(costOf).reduce(maxNano, 0n)

/**
 * The estimate of a plan, by its most expensive candidate, so that it covers every fallback. With `maxTokens`, all three amounts are
 * equal. Without, `atLeast` covers the prompt and 256 output tokens, and `upTo` covers the ceiling or, with a rolling hold, one step of
 * it.
 */
export const estimate = (plan: Plan, request: CostFactors & { readonly stream: boolean }): Estimate => {
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

/** The output cap sent to a candidate: what the hold covers, or the whole ceiling when the hold grows with the stream. */
export const capWithin = (candidate: Candidate, estimate: Estimate, granted: Nano): number => {
  const cap = outputCap(candidate, estimate)
  return estimate.rolling ? cap : Math.min(cap, outputAt(candidate, estimate, granted))
}

/** Converts a budget in cents, which may have any number of decimals. */
export const budgetOf = (budgetCents: number | undefined): Nano | undefined =>
  budgetCents === undefined ? undefined : BigInt(Math.floor(budgetCents * Number(NANO_PER_CENT)))

/**
 * Leaves out the candidates that could exceed the caller's budget. With `maxTokens`, these are candidates where the whole output does not
 * fit. Without, the budget limits the output, and these are candidates for which it does not cover the prompt and 256 output tokens.
 */
export const withinBudget = (
  plan: Plan,
  request: CostFactors & { readonly budgetCents: number | undefined }
): Result.Result<Plan, Failure> => {
  const { budgetCents, maxTokens } = request
  const budget = budgetOf(budgetCents)
  const least = maxTokens === undefined ? OUTPUT_FLOOR : maxTokens
  return withinCost(plan, budget, (candidate) =>
    costAt(candidate, request, Math.min(least, candidate.offer.maxOutputTokens))
  )
}

/** Leaves out the candidates that could cost more than `most`, the caller's limit for the request. */
export const withinCost = <P extends Price>(
  plan: Plan<P>,
  most: Nano | undefined,
  costOf: (candidate: Candidate<P>) => Nano
): Result.Result<Plan<P>, Failure> => {
  if (most === undefined) return Result.succeed(plan)
  const [first, ...others] = plan.candidates.filter((candidate) => costOf(candidate) <= most)
  if (first === undefined) {
    const least = plan.candidates.map(costOf).reduce(minNano)
    return Result.fail(failure({ _tag: "NoModelInBudget", budgetCents: centsFromNano(most), least }))
  }
  const { hedgeAfterMs, ...rest } = plan
  // The hedge delay was measured for the first candidate, and is useful only while another candidate is left.
  const hedge = first === plan.candidates[0] && others.length > 0 ? hedgeAfterMs : undefined
  return Result.succeed({
    ...rest,
    candidates: [first, ...others],
    ...(hedge === undefined ? {} : { hedgeAfterMs: hedge })
  })
}
