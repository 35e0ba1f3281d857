/** The attempts of one request: when each ran, and what each attempt without an answer costs the operator. */
import { type Output, type OutputEvent, OutputFold } from "../../domain/Output.ts"
import type { Attempt, AttemptCost, Candidate } from "../../domain/Plan.ts"
import { type Price, providerCost } from "../../domain/Pricing.ts"
import { type PromptUsage, type TokenUsage, type CallUsage } from "../../domain/Usage.ts"
import type { ProviderFault } from "../ProviderError.ts"
import type { AttemptRecord } from "./AttemptRecord.ts"
import { attemptsOf, isFiltered, providerAndModelOf } from "./PoolError.ts"
import type { AdmittedCandidate } from "./PoolState.ts"

/** How an attempt ended without serving: with a fault, with a well-formed answer that is empty, or because the gateway left it. */
export type AttemptFailure = ProviderFault | "empty" | "abandoned"

/** What had arrived of an answer when its attempt ended. */
export interface PartialAnswer {
  /** Undefined when no part of the answer had arrived. */
  readonly output: Output | undefined
  /** The provider's own count of the prompt. */
  readonly prompt: PromptUsage | undefined
}

/** Estimates the usage of an attempt without reported usage, from what was sent and what had arrived. */
export type EstimateUse<P extends Price> = (candidate: Candidate<P>, arrived: PartialAnswer) => CallUsage

/**
 * Whether the provider may bill an attempt: it may once it has received the request and not rejected it. Providers bill a server error
 * only when a part of the answer preceded it. Checking an answer calls no provider.
 */
const mayBill = (end: AttemptFailure, { output, prompt }: PartialAnswer): boolean => {
  const anything = output !== undefined || prompt !== undefined
  if (end === "empty" || end === "abandoned") return true
  switch (end._tag) {
    case "Unreachable":
    case "Unauthorized":
    case "RateLimited":
    case "SchemaRefused":
      return false
    case "Refused":
      return isFiltered(end)
    case "TimedOut":
      return end.clock !== "connect"
    case "ServerError":
    case "OffSchema":
      return anything
    case "Malformed":
    case "Broken":
    case "Lost":
      return true
  }
}

const isEvents = (arrived: Output | ReadonlyArray<OutputEvent>): arrived is ReadonlyArray<OutputEvent> =>
  Array.isArray(arrived)

const partialAnswerOf = ({ arrived }: Pick<AttemptRecord, "arrived">): PartialAnswer => {
  if (arrived === undefined || !isEvents(arrived)) return { output: arrived, prompt: undefined }
  if (arrived.length === 0) return { output: undefined, prompt: undefined }
  const fold = new OutputFold()
  let prompt: PromptUsage | undefined
  for (const event of arrived) {
    fold.push(event)
    if (event._tag === "PromptUsage") prompt = event.usage
  }
  return { output: fold.output(), prompt }
}

/** Returns the provider's charge for an attempt that served no answer; undefined when there is none or it is unknown. */
export const attemptCost = <P extends Price>(
  candidate: Candidate<P>,
  end: AttemptFailure,
  record: Pick<AttemptRecord, "arrived">,
  estimateUse: EstimateUse<P> | undefined
): AttemptCost | undefined => {
  const arrived = partialAnswerOf(record)
  if (!mayBill(end, arrived)) return undefined
  const reported: TokenUsage | undefined = arrived.output?.usage
  if (reported === undefined && candidate.offer.cost === undefined) return undefined
  const used = reported ?? estimateUse?.(candidate, arrived)
  const nano = used === undefined ? undefined : providerCost(candidate.offer.cost, used)
  if (nano === undefined || nano === 0n) return undefined
  return { nano: Number(nano), basis: reported === undefined ? "estimated" : "reported" }
}

interface RunningAttempt {
  /** In `performance.now()` milliseconds, as the request's other times. */
  readonly startedAt: number
  readonly record: AttemptRecord
}

/** Keeps the attempts of one request in the receipt's order. */
export class AttemptLog<P extends Price> {
  readonly #estimateUse: EstimateUse<P> | undefined
  /** Attempts that have ended without serving. */
  readonly #before: Array<Omit<Attempt, "index" | "outcome">> = []
  readonly #running = new Map<AdmittedCandidate<P>, RunningAttempt>()

  constructor(estimateUse: EstimateUse<P> | undefined) {
    this.#estimateUse = estimateUse
  }

  /** All attempts that have ended, when no provider served the request. */
  get ended(): ReadonlyArray<Attempt> {
    return attemptsOf(this.#before)
  }

  begun(admitted: AdmittedCandidate<P>, record: AttemptRecord): void {
    this.#running.set(admitted, { startedAt: performance.now(), record })
  }

  isRunning(admitted: AdmittedCandidate<P>): boolean {
    return this.#running.has(admitted)
  }

  /** Records a candidate that could not be called at all. */
  uncalled(candidate: Candidate<P>): void {
    const now = performance.now()
    this.#before.push({ ...providerAndModelOf(candidate), startedAt: now, endedAt: now })
  }

  /** Records the end of an attempt that served no answer, and returns its provider and model. */
  end(admitted: AdmittedCandidate<P>, how: AttemptFailure) {
    const { candidate } = admitted
    const running = this.#running.get(admitted)
    const endedAt = performance.now()
    const cost = running && attemptCost(candidate, how, running.record, this.#estimateUse)
    const timed = { ...providerAndModelOf(candidate), startedAt: running?.startedAt ?? endedAt, endedAt }
    this.#before.push(cost === undefined ? timed : { ...timed, cost })
    this.#running.delete(admitted)
    return providerAndModelOf(candidate)
  }

  /** All attempts, of which this one served. */
  served(admitted: AdmittedCandidate<P>): ReadonlyArray<Attempt> {
    const startedAt = this.#running.get(admitted)?.startedAt ?? performance.now()
    return attemptsOf(this.#before, { ...providerAndModelOf(admitted.candidate), startedAt, outcome: "served" })
  }
}
