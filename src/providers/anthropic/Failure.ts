import { faultOf, type RefusedAnswer, retryAfterSeconds } from "../Failure.ts"
import type { ProviderFault } from "../ProviderError.ts"
import { errorIn } from "../wire/EventFault.ts"
import { type JsonObject, objectOf, parseJson, textIn } from "../wire/Json.ts"

/** Interprets a response without a success status. */
export const faultOfStatus = (answer: RefusedAnswer, nowMs: number): ProviderFault => {
  const body = objectOf(parseJson(answer.body)) ?? {}
  const error = objectOf(body["error"]) ?? body
  const detail = detailOf(error, answer.status)
  const retryAfter = retryAfterSeconds(answer.headers, nowMs)
  return faultOf(statusOfAccount(detail, answer.status), detail, retryAfter, hintsOf(detail))
}

/** Interprets an error object in place of an answer: in a body or an event with status 200. */
export const faultOfError = (error: unknown): ProviderFault => {
  const object = typeof error === "string" ? { message: error } : (objectOf(error) ?? {})
  const status = STATUS_OF_TYPE[textIn(object, "type") ?? ""] ?? numberedStatus(object)
  const detail = detailOf(object, status)
  return faultOf(statusOfAccount(detail, status), detail, undefined, hintsOf(detail))
}

/** The fault of an answer or an event; undefined when it contains no error. */
export const faultIn = (body: JsonObject, event = ""): ProviderFault | undefined => {
  const error = errorIn(body, event)
  if (error !== undefined) return faultOfError(error)
  const isNone = body["type"] === undefined && textIn(body, "message") !== undefined
  return isNone && body["content"] === undefined ? faultOfError(body) : undefined
}

/** A message about a field starts with its path. */
const hintsOf = (detail: string) => ({ param: /^([a-z_]+(?:\.\w+)*): /.exec(detail)?.[1] })

/** As documented at https://platform.claude.com/docs/en/api/errors. */
const STATUS_OF_TYPE: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  conflict_error: 409,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529
}

/** Hosts without Anthropic's error types may send a status as the code. */
const numberedStatus = ({ code, status }: JsonObject): number =>
  [code, status].map(Number).find((value) => Number.isInteger(value) && value >= 400 && value <= 599) ?? 500

const detailOf = (error: JsonObject, status: number): string => textIn(error, "message") ?? `status ${status}`

/** An account without credit, at its own limit, or closed gets the status of an invalid request. Only the message shows it. */
const OUR_ACCOUNT =
  /^(Your credit balance is too low|You have reached your specified|This organization has been disabled)/

const statusOfAccount = (detail: string, status: number): number =>
  status === 400 && OUR_ACCOUNT.test(detail) ? 402 : status
