import { headerOf, type OutboundError, type OutboundHeaders } from "../platform/outbound/OutboundCall.ts"
import { retryAfterMs } from "../platform/outbound/RetryAfter.ts"
import type { ChatCall } from "./Provider.ts"
import type { ProviderFault } from "./ProviderError.ts"
import type { Clocks } from "./pool/AnswerClock.ts"
import { refusedFault, type RefusalHints, subjectOf } from "./wire/Refusal.ts"

/** A response without a success status, as received. */
export interface RefusedAnswer {
  readonly status: number
  readonly headers: OutboundHeaders
  readonly body: Uint8Array
}

/** Interprets a status, whichever host sent it. `detail` is the host's own sentence. */
export const faultOf = (
  status: number,
  detail: string,
  retryAfter: number | undefined,
  hints: RefusalHints = {}
): ProviderFault => {
  // Some hosts report moderation with 403, which elsewhere means a wrong credential.
  if (status === 403 && subjectOf(detail, hints) === "policy") return refusedFault(status, detail, hints)
  if (status === 401 || status === 402 || status === 403) return { _tag: "Unauthorized", status }
  if (status === 429) return { _tag: "RateLimited", retryAfterSeconds: retryAfter }
  // Conflict, lock, timeout and "too early" are temporary problems of the host.
  const isTransient = status === 408 || status === 409 || status === 423 || status === 425
  if (status >= 400 && status < 500 && !isTransient) return refusedFault(status, detail, hints)
  return { _tag: "ServerError", status, detail, ...(retryAfter === undefined ? {} : { retryAfterSeconds: retryAfter }) }
}

/**
 * Interprets a call without a response. A connection that broke before the response began counts as no response: the provider made
 * nothing.
 */
export const faultOfOutbound = ({ reason }: OutboundError): ProviderFault => {
  switch (reason._tag) {
    case "Connect":
      return { _tag: "Unreachable", detail: reason.detail }
    case "TimedOut":
      return { ...reason, clock: reason.clock === "first" ? "first_token" : reason.clock }
    case "Broken":
      return { _tag: reason.answered ? "Broken" : "Unreachable", detail: reason.detail }
    case "TooLarge":
      return { _tag: "Malformed", detail: `an answer longer than ${reason.limitBytes} bytes` }
  }
}

/** How long a call for a complete answer may take, in milliseconds. */
export const wholeMs = ({ answer, totalMs }: Clocks): number => Math.min(totalMs, answer?.ms ?? totalMs)

/** Interprets a failed call for a complete answer: a timeout belongs to the shortest limit of the call. */
export const faultOfWhole = (error: OutboundError, { answer, totalMs }: Clocks): ProviderFault => {
  const fault = faultOfOutbound(error)
  const isEarly = fault._tag === "TimedOut" && fault.clock === "total" && answer !== undefined && answer.ms < totalMs
  return isEarly ? { ...fault, clock: answer.clock } : fault
}

/**
 * The fault of an answer that is longer than a limit, such as `5 bytes`. A caller can request more log-probabilities than fit into it. The
 * host then answered correctly, and every other host would answer the same.
 */
export const tooLongFault = ({ conversation }: Pick<ChatCall, "conversation">, limit: string): ProviderFault => {
  const detail = `an answer longer than ${limit}`
  return conversation.sampling.logprobs === true
    ? { _tag: "Lost", detail, ours: true, param: "logprobs" }
    : { _tag: "Malformed", detail }
}

/** The longest pause that is passed on, in seconds. Daily limits of hosts end within it, and a wrong header may name any number. */
const MAX_PAUSE_SECONDS = 86_400

/** A pause in whole seconds, rounded up, from 0 to a day. */
export const pauseSeconds = (seconds: number): number => Math.min(MAX_PAUSE_SECONDS, Math.max(0, Math.ceil(seconds)))

const NUMBER = /^\d+(\.\d+)?$/

/** The pause that a host asks for: in `retry-after-ms`, or in `retry-after` as seconds or a date. */
export const retryAfterSeconds = (headers: OutboundHeaders, nowMs: number): number | undefined => {
  const ms = headerOf(headers, "retry-after-ms")?.trim() ?? ""
  if (NUMBER.test(ms)) return pauseSeconds(Number(ms) / 1_000)
  const waitMs = retryAfterMs(headerOf(headers, "retry-after") ?? "", nowMs)
  return waitMs === undefined ? undefined : pauseSeconds(waitMs / 1_000)
}

/** Removes the credential from a fault's detail, in case the host repeated it, and shortens the detail for a message. */
export const presentable = (fault: ProviderFault, secret: string): ProviderFault => {
  if (!("detail" in fault)) return fault
  const { detail } = fault
  // The credential is removed before the text is cut, because a part of it might remain otherwise.
  const clean = secret === "" ? detail : detail.replaceAll(secret, "[secret]")
  // The cut may split a character, and a host may send half of one.
  const shown = clean.slice(0, MAX_DETAIL_CHARS).toWellFormed()
  return shown === detail ? fault : { ...fault, detail: shown }
}

const MAX_DETAIL_CHARS = 500
