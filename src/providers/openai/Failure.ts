import { faultOf, type RefusedAnswer, retryAfterSeconds } from "../Failure.ts"
import { type JsonObject, objectOf, parsed, textIn } from "../Json.ts"
import type { ProviderFault } from "../Provider.ts"

/** What an answer other than a success means. */
export const faultOfStatus = (answer: RefusedAnswer, nowMs: number): ProviderFault => {
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

const errorOf = (body: unknown): JsonObject | undefined => {
  const object = objectOf(body)
  if (object === undefined) return undefined
  if (typeof object["error"] === "string") return { message: object["error"] }
  return objectOf(object["error"]) ?? object
}

const detailOf = (error: JsonObject | undefined, status: number): string => {
  const text = error === undefined ? undefined : (textIn(error, "message") ?? textIn(error, "detail"))
  return text ?? `status ${status}`
}

/** What of our account comes as 429, where waiting does not help, or, of images, as 400, for which no caller is to blame. */
const OUR_ACCOUNT: ReadonlySet<unknown> = new Set([
  "insufficient_quota",
  "billing_not_active",
  "billing_hard_limit_reached"
])

const statusOfQuota = (error: JsonObject, status: number): number =>
  OUR_ACCOUNT.has(error["code"]) || OUR_ACCOUNT.has(error["type"]) ? 402 : status

const statusOfError = (error: JsonObject): number => {
  for (const value of [error["code"], error["status"]]) {
    const status = Number(value)
    if (Number.isInteger(status) && status >= 400 && status <= 599) return statusOfQuota(error, status)
  }
  const words = `${textIn(error, "type") ?? ""} ${textIn(error, "code") ?? ""}`
  if (words.includes("rate_limit")) return statusOfQuota(error, 429)
  if (/authentication|permission|api_key/.test(words)) return 401
  if (words.includes("invalid_request") || words.includes("context_length")) return statusOfQuota(error, 400)
  return statusOfQuota(error, 500)
}
