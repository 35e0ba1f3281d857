import { headerOf, type OutboundError, type OutboundHeaders } from "../../platform/Outbound.ts"
import type { ProviderFault } from "../Provider.ts"
import { type JsonObject, objectOf, parsed, textIn } from "./Json.ts"

/** What an answer other than a success means. `detail` is the host's own sentence, cut to a length fit for a message. */
export const faultOfStatus = (
  answer: { readonly status: number; readonly headers: OutboundHeaders; readonly body: Uint8Array },
  nowMs: number
): ProviderFault => {
  const body = parsed(answer.body)
  const error = errorOf(Array.isArray(body) ? body[0] : body)
  const meant = error === undefined ? answer.status : statusOfQuota(error, answer.status)
  return faultOf(meant, detailOf(error, answer.status), retryAfterSeconds(answer.headers, nowMs))
}

/** What an error object means that came where an answer was due: in a body or an event sent with status 200. */
export const faultOfError = (error: unknown): ProviderFault => {
  const object = errorOf({ error })
  if (object === undefined) return { _tag: "ServerError", status: 500, detail: "an error without a message" }
  const status = statusOfError(object)
  return faultOf(status, detailOf(object, status), undefined)
}

/** What a call without an answer means. A connection lost before the answer began is as good as none: nothing was made. */
export const faultOfOutbound = ({ reason }: OutboundError): ProviderFault => {
  switch (reason._tag) {
    case "Connect":
      return { _tag: "Unreachable", detail: reason.detail }
    case "TimedOut":
      return { _tag: "TimedOut", clock: reason.clock === "first" ? "first_token" : reason.clock }
    case "Broken":
      return { _tag: reason.answered ? "Broken" : "Unreachable", detail: reason.detail }
    case "TooLarge":
      return { _tag: "Malformed", detail: `an answer longer than ${reason.limitBytes} bytes` }
  }
}

/** The pause a host asks for, in whole seconds rounded up: from `retry-after-ms`, or `retry-after` as seconds or a date. */
export const retryAfterSeconds = (headers: OutboundHeaders, nowMs: number): number | undefined => {
  const ms = Number(headerOf(headers, "retry-after-ms") ?? Number.NaN)
  if (ms >= 0) return Math.ceil(ms / 1000)
  const value = headerOf(headers, "retry-after")?.trim() ?? ""
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value))
  const dateMs = value === "" ? Number.NaN : Date.parse(value)
  return Number.isNaN(dateMs) ? undefined : Math.max(0, Math.ceil((dateMs - nowMs) / 1000))
}

/** A fault whose detail cannot give away the credential, should the host have repeated it. */
export const withoutSecret = (fault: ProviderFault, secret: string): ProviderFault =>
  secret !== "" && "detail" in fault && fault.detail.includes(secret)
    ? { ...fault, detail: fault.detail.replaceAll(secret, "[secret]") }
    : fault

const MAX_DETAIL_CHARS = 500

const faultOf = (status: number, detail: string, retryAfter: number | undefined): ProviderFault => {
  if (status === 401 || status === 402 || status === 403) return { _tag: "Unauthorized", status }
  if (status === 429) return { _tag: "RateLimited", retryAfterSeconds: retryAfter }
  // Conflict, lock, timeout and "too early" are the host's own passing troubles.
  const passing = status === 408 || status === 409 || status === 423 || status === 425
  if (status >= 400 && status < 500 && !passing) return { _tag: "Refused", status, detail }
  return { _tag: "ServerError", status, detail }
}

const errorOf = (body: unknown): JsonObject | undefined => {
  const object = objectOf(body)
  if (object === undefined) return undefined
  if (typeof object["error"] === "string") return { message: object["error"] }
  return objectOf(object["error"]) ?? object
}

const detailOf = (error: JsonObject | undefined, status: number): string => {
  const text = error === undefined ? undefined : (textIn(error, "message") ?? textIn(error, "detail"))
  return (text ?? `status ${status}`).slice(0, MAX_DETAIL_CHARS)
}

/** An exhausted quota comes as 429, but waiting does not help: our account is at fault. */
const statusOfQuota = (error: JsonObject, status: number): number =>
  error["code"] === "insufficient_quota" || error["type"] === "insufficient_quota" ? 402 : status

const statusOfError = (error: JsonObject): number => {
  for (const value of [error["code"], error["status"]]) {
    const status = Number(value)
    if (Number.isInteger(status) && status >= 400 && status <= 599) return statusOfQuota(error, status)
  }
  const words = `${textIn(error, "type") ?? ""} ${textIn(error, "code") ?? ""}`
  if (words.includes("rate_limit")) return statusOfQuota(error, 429)
  if (/authentication|permission|api_key/.test(words)) return 401
  if (words.includes("invalid_request") || words.includes("context_length")) return 400
  return statusOfQuota(error, 500)
}
