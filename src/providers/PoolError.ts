/** What a caller is told when nobody served. */
import { Data } from "effect"
import type { Reason } from "../domain/Failure.ts"
import type { Attempt } from "../domain/Plan.ts"
import type { ProviderFault } from "./Provider.ts"

/** How one attempt failed; without a fault it answered nothing. */
export interface FailedAttempt {
  readonly provider: string
  readonly model: string
  readonly fault: ProviderFault | undefined
}

/** Nobody served. `reason` is for the caller; `failures` hold what providers said, for the log only. */
export class PoolError extends Data.TaggedError("PoolError")<{
  readonly reason: Reason
  readonly attempts: ReadonlyArray<Attempt>
  readonly failures: ReadonlyArray<FailedAttempt>
}> {}

/** Attempts in the order of their ends: all but the last have failed, or were left for a quicker one. */
export const attemptsOf = (
  before: ReadonlyArray<{ readonly provider: string; readonly model: string }>,
  served?: Omit<Attempt, "index">
): ReadonlyArray<Attempt> => {
  const last = served === undefined ? before.length - 1 : -1
  const failed = before.map(({ provider, model }, index): Attempt => ({
    provider,
    model,
    outcome: index === last ? "failed" : "failed_over",
    index
  }))
  return served === undefined ? failed : [...failed, { ...served, index: failed.length }]
}

/** The pause a host has asked for with this fault. */
export const pauseOf = (fault: ProviderFault | undefined): number | undefined =>
  fault?._tag === "RateLimited" || fault?._tag === "ServerError" ? fault.retryAfterSeconds : undefined

/** Nobody was asked, because all of them failed lately. */
export const restingReason = (waitMs: number): Reason => ({
  _tag: "NoProviderAvailable",
  detail: "Every provider that could serve this request has failed lately and is given a rest; try again later",
  retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000))
})

/** Nobody was asked, because none of them does such work. */
export const unableReason: Reason = {
  _tag: "NoProviderAvailable",
  detail: "No provider of the requested model does this kind of work"
}

/** So many well-formed answers without content are the request's doing; each further one would cost the house as much again. */
const MOST_EMPTY = 2

/** Whether nobody else is to be asked, because the answer to this request is nothing. */
export const isAnsweredEmpty = (failures: ReadonlyArray<FailedAttempt>): boolean =>
  failures.filter(({ fault }) => fault === undefined).length >= MOST_EMPTY

/** Whether nobody else is to be asked whose answer would have to be checked: it may be the schema's doing, and the house pays. */
export const isAnsweredOff = (fault: ProviderFault | undefined): boolean =>
  fault?._tag === "OffSchema" || fault?._tag === "SchemaRefused"

/** Whether nobody else is to be asked, because the work was done already and is lost. */
export const isAnsweredLost = (
  fault: ProviderFault | undefined
): fault is Extract<ProviderFault, { readonly _tag: "Lost" }> => fault?._tag === "Lost"

/**
 * The reason behind these failures. Faults that are ours or the network's say nothing about the request, so a refusal that only
 * they followed still stands.
 */
export const reasonOf = (failures: ReadonlyArray<FailedAttempt>): Reason => {
  if (isAnsweredEmpty(failures) || failures.every(({ fault }) => fault === undefined))
    return { _tag: "EmptyCompletion" }
  const limited = rateLimitedReason(failures)
  if (limited !== undefined) return limited
  const last = failures.at(-1)?.fault
  const decisive = failures.findLast(({ fault }) => fault?._tag !== "Unreachable" && fault?._tag !== "Unauthorized")
  if (decisive?.fault?._tag === "Refused") {
    const { about, detail, param } = decisive.fault
    const _tag = about === undefined ? "ProviderRefused" : tagOfSubject[about]
    return { _tag, provider: decisive.provider, detail, ...(param === undefined ? {} : { param }) }
  }
  if (decisive?.fault?._tag === "SchemaRefused") return schemaReason(decisive.fault)
  const param = failures.map(({ fault }) => fault).find(isAnsweredLost)?.param
  if (param !== undefined) return tooLongReason(param)
  if (last?._tag === "TimedOut" && failures.every(({ fault }) => fault?._tag === "TimedOut")) {
    return { _tag: "UpstreamTimeout", clock: last.clock }
  }
  const detail = failures.map(({ provider, fault }) => `${provider}: ${describe(fault)}`).join("; ")
  const pause = pauseOf(last)
  return { _tag: "UpstreamError", detail, ...(pause === undefined ? {} : { retryAfterSeconds: pause }) }
}

/** The pause that is asked of a caller where no host said how long its limit lasts, in seconds. */
const UNTOLD_PAUSE_SECONDS = 5

/** The reason where every host that was asked answered with its rate limit. A host that names no pause is no reason to wait longer. */
const rateLimitedReason = (failures: ReadonlyArray<FailedAttempt>): Reason | undefined => {
  let shortest: number | undefined
  for (const { fault } of failures) {
    if (fault?._tag !== "RateLimited") return undefined
    const pause = fault.retryAfterSeconds
    if (pause !== undefined) shortest = Math.min(shortest ?? pause, pause)
  }
  return { _tag: "UpstreamRateLimited", retryAfterSeconds: Math.max(1, shortest ?? UNTOLD_PAUSE_SECONDS) }
}

const tagOfSubject = { context: "ProviderOverflow", policy: "ContentPolicyViolation" } as const

const schemaReason = (fault: Extract<ProviderFault, { readonly _tag: "SchemaRefused" }>): Reason => {
  const { detail, field, limit, passing } = fault
  if (limit !== undefined) return { _tag: "RateLimitExceeded", ...limit }
  const message = `cannot be asked for of these models, whose answers are checked: ${detail}`
  return {
    _tag: "ValidationError",
    problems: [{ field, message }],
    ...(passing === true ? { passing: "later" as const } : {})
  }
}

/** No failure that is tried again by itself: the house would pay for such an answer each time. */
const tooLongReason = (field: string): Reason => ({
  _tag: "ValidationError",
  problems: [{ field, message: "made the answer too long to be given whole: ask for a stream, or for less" }]
})

/** A fault in words of our own, since a caller may read them. */
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
