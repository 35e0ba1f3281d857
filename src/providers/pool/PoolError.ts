/** Builds the error for the caller when no provider served a request. */
import { Data } from "effect"
import { untilTomorrowMs } from "../../domain/Day.ts"
import type { Reason } from "../../domain/Failure.ts"
import type { Attempt, Candidate } from "../../domain/Plan.ts"
import type { Price } from "../../domain/Pricing.ts"
import type { ProviderFault } from "../ProviderError.ts"

/** A failed attempt. Without a fault, the answer was empty. */
export interface FailedAttempt {
  readonly provider: string
  readonly model: string
  readonly fault: ProviderFault | undefined
}

/** No provider served the request. `reason` is for the caller; `failures` contains the providers' messages, for the log only. */
export class PoolError extends Data.TaggedError("PoolError")<{
  readonly reason: Reason
  readonly attempts: ReadonlyArray<Attempt>
  readonly failures: ReadonlyArray<FailedAttempt>
}> {}

/** Attempts in the order in which they ended. All but the last failed or were abandoned for a faster one. */
export const attemptsOf = (
  before: ReadonlyArray<Omit<Attempt, "index" | "outcome">>,
  served?: Omit<Attempt, "index">
): ReadonlyArray<Attempt> => {
  const last = served === undefined ? before.length - 1 : -1
  const failed = before.map((attempt, index): Attempt => ({
    ...attempt,
    outcome: index === last ? "failed" : "failed_over",
    index
  }))
  return served === undefined ? failed : [...failed, { ...served, index: failed.length }]
}

/** The pause that a host asks for with this fault, in seconds. */
export const pauseOf = (fault: ProviderFault | undefined): number | undefined =>
  fault?._tag === "RateLimited" || fault?._tag === "ServerError" ? fault.retryAfterSeconds : undefined

/** The reason when no provider was called because all of them failed recently. */
export const breakersOpenReason = (waitMs: number): Reason => ({
  _tag: "NoProviderAvailable",
  detail: "The circuit breakers of all providers for this request are open because of recent failures; try again later",
  retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000))
})

/** The reason when no provider was called because each has reached the operator's bound on its cost, until the next UTC day. */
const spentReason = (nowMs: number): Reason => ({
  _tag: "NoProviderAvailable",
  detail:
    "The providers for this request take no further requests today; try again after midnight UTC. You were not charged",
  retryAfterSeconds: Math.ceil(untilTomorrowMs(nowMs) / 1_000)
})

/** The reason when no provider was called because none of them does such work. */
const unableReason: Reason = {
  _tag: "NoProviderAvailable",
  detail: "No provider of the requested model does this kind of work"
}

/**
 * The reason when no provider was called. `waits` are the milliseconds until each open breaker may be probed; `spent` says that a provider
 * was left out because of a bound on its cost.
 */
export const uncalledReason = (waits: ReadonlyArray<number>, spent: boolean): Reason => {
  if (waits.length > 0) return breakersOpenReason(Math.min(...waits))
  return spent ? spentReason(Date.now()) : unableReason
}

/**
 * After this many well-formed answers without content, the request itself is the cause. Each further attempt would cost the
 * operator as much again.
 */
const MAX_EMPTY = 2

/** The fault of a well-formed answer of which a content filter left nothing. */
export const filteredFault: ProviderFault = {
  _tag: "Refused",
  status: 200,
  detail: "the content filter blocked the answer",
  about: "policy"
}

/** Whether a rejection is such an answer. */
export const isFiltered = ({ status }: Extract<ProviderFault, { readonly _tag: "Refused" }>): boolean => status === 200

/** Whether an attempt ended with a well-formed answer without content, whether or not a content filter was the cause. */
const isBlank = ({ fault }: FailedAttempt): boolean =>
  fault === undefined || (fault._tag === "Refused" && isFiltered(fault))

/** Whether to stop, because the answer to this request is empty. */
export const isAnsweredEmpty = (failures: ReadonlyArray<FailedAttempt>): boolean =>
  failures.filter(isBlank).length >= MAX_EMPTY

/**
 * Whether to skip candidates with answers that would have to be checked: the schema may be the cause, and the operator pays for each
 * answer.
 */
export const isSchemaViolation = (fault: ProviderFault | undefined): boolean =>
  fault?._tag === "OffSchema" || fault?._tag === "SchemaRefused"

/** Whether to stop, because the work was already done and its result is lost. */
export const isResultLost = (
  fault: ProviderFault | undefined
): fault is Extract<ProviderFault, { readonly _tag: "Lost" }> => fault?._tag === "Lost"

/**
 * The reason behind these failures. Faults that are the gateway's or the network's say nothing about the request. So when only such
 * faults follow a refusal, the refusal stands.
 */
export const reasonOf = (failures: ReadonlyArray<FailedAttempt>): Reason => {
  if (isAnsweredEmpty(failures) || failures.every(isBlank)) {
    return refusalReason(failures.findLast((one) => isBlank(one) && one.fault !== undefined)) ?? emptyReason
  }
  const limited = rateLimitedReason(failures)
  if (limited !== undefined) return limited
  const last = failures.at(-1)?.fault
  const decisive = failures.findLast(({ fault }) => fault?._tag !== "Unreachable" && fault?._tag !== "Unauthorized")
  const refusal = refusalReason(decisive)
  if (refusal !== undefined) return refusal
  if (decisive?.fault?._tag === "SchemaRefused") return schemaReason(decisive.fault)
  const param = failures.map(({ fault }) => fault).find(isResultLost)?.param
  if (param !== undefined) return tooLongReason(param)
  if (last?._tag === "TimedOut" && failures.every(({ fault }) => fault?._tag === "TimedOut")) {
    return { _tag: "UpstreamTimeout", clock: last.clock }
  }
  const detail = failures.map(({ provider, fault }) => `${provider}: ${describe(fault)}`).join("; ")
  const pause = pauseOf(last)
  return { _tag: "UpstreamError", detail, ...(pause === undefined ? {} : { retryAfterSeconds: pause }) }
}

/** The pause suggested to the caller when no host named one, in seconds. */
const DEFAULT_PAUSE_SECONDS = 5

/** The reason when every host that was called answered with its rate limit. A host that names no pause does not extend the wait. */
const rateLimitedReason = (failures: ReadonlyArray<FailedAttempt>): Reason | undefined => {
  let shortest: number | undefined
  for (const { fault } of failures) {
    if (fault?._tag !== "RateLimited") return undefined
    const pause = fault.retryAfterSeconds
    if (pause !== undefined) shortest = Math.min(shortest ?? pause, pause)
  }
  return { _tag: "UpstreamRateLimited", retryAfterSeconds: Math.max(1, shortest ?? DEFAULT_PAUSE_SECONDS) }
}

const emptyReason: Reason = { _tag: "EmptyCompletion" }

const tagOfSubject = { context: "ProviderOverflow", policy: "ContentPolicyViolation" } as const

/** The reason of an attempt that the provider rejected; undefined for any other attempt. */
const refusalReason = (attempt: FailedAttempt | undefined): Reason | undefined => {
  if (attempt?.fault?._tag !== "Refused") return undefined
  const { about, detail, param } = attempt.fault
  const _tag = about === undefined ? "ProviderRefused" : tagOfSubject[about]
  return { _tag, provider: attempt.provider, detail, ...(param === undefined ? {} : { param }) }
}

const schemaReason = (fault: Extract<ProviderFault, { readonly _tag: "SchemaRefused" }>): Reason => {
  const { detail, field, limit, passing } = fault
  if (limit !== undefined) return { _tag: "RateLimitExceeded", ...limit }
  const message = `must be a schema that the gateway can check, because these models do not guarantee it: ${detail}`
  return {
    _tag: "ValidationError",
    problems: [{ field, message }],
    ...(passing === true ? { passing: "later" as const } : {})
  }
}

/** Clients do not retry this failure, because the operator would pay for such an answer each time. */
const tooLongReason = (field: string): Reason => ({
  _tag: "ValidationError",
  problems: [
    { field, message: "must be off, or the request must be a stream, because the complete answer was too long" }
  ]
})

/** Describes a fault in the gateway's own words, because callers may read it. */
const describe = (fault: ProviderFault | undefined): string => {
  switch (fault?._tag) {
    case undefined:
      return "empty answer"
    case "Unreachable":
    case "Unauthorized":
      return "unavailable"
    case "TimedOut":
      return "timed out"
    case "RateLimited":
      return "rate limited"
    case "Refused":
      return "refused the request"
    case "ServerError":
      return "server error"
    case "Malformed":
      return "malformed answer"
    case "OffSchema":
      return `the answer did not meet the schema (${fault.detail})`
    case "SchemaRefused":
      return "the schema of the answer was refused"
    case "Broken":
      return "broken connection"
    case "Lost":
      return "lost answer"
  }
}

/** The provider and the model of a candidate. */
export const providerAndModelOf = ({ model, offer }: Candidate<Price>) => ({
  provider: offer.provider,
  model: model.id
})
