import { faultOf, type RefusedAnswer, retryAfterSeconds } from "../Failure.ts"
import type { ProviderFault } from "../ProviderError.ts"
import { errorIn } from "../wire/EventFault.ts"
import { type JsonObject, listOf, objectOf, parseJson, textIn } from "../wire/Json.ts"
import type { RefusalHints } from "../wire/Refusal.ts"

/** Interprets a response without a success status. */
export const faultOfStatus = (answer: RefusedAnswer, nowMs: number): ProviderFault => {
  const body = parseJson(answer.body)
  const error = errorOf(Array.isArray(body) ? body[0] : body)
  const meant = error === undefined ? answer.status : statusOfQuota(error, answer.status)
  return faultOf(meant, detailOf(error, answer.status), retryAfterSeconds(answer.headers, nowMs), hintsOf(error))
}

/** Interprets an error object in place of an answer: in a body or an event with status 200. */
export const faultOfError = (error: unknown): ProviderFault => {
  const object = errorOf({ error })
  if (object === undefined) return { _tag: "ServerError", status: 500, detail: "an error without a message" }
  const status = statusOfError(object)
  return faultOf(status, detailOf(object, status), undefined, hintsOf(object))
}

/** The meaning of MiniMax's error codes other than its own faults (https://platform.minimax.io/docs/api-reference/errorcode). */
const MINIMAX_STATUS: Readonly<Record<number, number>> = {
  1002: 429,
  1004: 401,
  1008: 402,
  1026: 400,
  1027: 400,
  1039: 429,
  1041: 429,
  1042: 400,
  2013: 400,
  2045: 429,
  2049: 401,
  2056: 429
}

/** Members of an answer or of a part of one. */
const ANSWER = ["choices", "usage", "output", "response"]

/**
 * The fault of an answer or an event; undefined when it contains no error. Some hosts send errors in `base_resp` with a status of its
 * own (MiniMax), in a list of `errors` (Cloudflare), or as a plain message (FastAPI, DashScope).
 */
export const faultIn = (body: JsonObject, event = ""): ProviderFault | undefined => {
  const error = errorIn(body, event)
  if (error !== undefined) return faultOfError(error)
  const base = objectOf(body["base_resp"])
  const code = base?.["status_code"]
  if (base !== undefined && typeof code === "number" && code !== 0) {
    return faultOfError({ message: base["status_msg"], code, status: MINIMAX_STATUS[code] })
  }
  if (ANSWER.some((name) => body[name] !== undefined)) return undefined
  if (body["error"] !== undefined && body["error"] !== null) return faultOfError(body["error"])
  const [first] = listOf(body["errors"])
  if (first !== undefined) return faultOfError(first)
  return (textIn(body, "message") ?? textIn(body, "detail")) ? faultOfError(body) : undefined
}

const errorOf = (body: unknown): JsonObject | undefined => {
  const object = objectOf(body)
  if (object === undefined) return undefined
  if (typeof object["error"] === "string") return { message: object["error"] }
  return objectOf(object["error"]) ?? object
}

const detailOf = (error: JsonObject | undefined, status: number): string => {
  const text = error === undefined ? undefined : (textIn(error, "message") ?? textIn(error, "detail"))
  return text ?? textIn(problemOf(error), "msg") ?? `status ${status}`
}

/** The first field that a FastAPI host such as Mistral rejects, in `detail` or inside the message. */
const problemOf = (error: JsonObject | undefined): JsonObject =>
  objectOf(listOf(error?.["detail"])[0]) ?? objectOf(listOf(objectOf(error?.["message"])?.["detail"])[0]) ?? {}

/** How hosts name an unknown field: Groq, and hosts with Pydantic. */
const UNKNOWN_MEMBER = /^property '([\w.]+)' is unsupported/

const hintsOf = (error: JsonObject | undefined): RefusalHints => {
  const place = listOf(problemOf(error)["loc"]).filter((part) => part !== "body")
  const word = (name: string) => (typeof error?.[name] === "number" ? String(error[name]) : textIn(error ?? {}, name))
  const unknown = UNKNOWN_MEMBER.exec(textIn(error ?? {}, "message") ?? "")?.[1]
  return {
    code: word("code"),
    type: word("type"),
    param: textIn(error ?? {}, "param") ?? (place.length === 0 ? unknown : place.join("."))
  }
}

/**
 * Problems of the gateway's account at the host that arrive as 429 or 400. Waiting does not end them, and they are not the caller's
 * fault.
 */
const OUR_ACCOUNT: ReadonlySet<unknown> = new Set([
  // OpenAI
  "insufficient_quota",
  "billing_not_active",
  "billing_hard_limit_reached",
  // Moonshot
  "exceeded_current_quota_error",
  // Groq
  "organization_restricted",
  // DashScope
  "Arrearage",
  // Z.ai, for an account that is inactive, unknown, locked, in arrears or blocked: https://docs.z.ai/api-reference/api-code
  "1110",
  "1111",
  "1112",
  "1113",
  "1121"
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
