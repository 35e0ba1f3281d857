import { faultOf, pauseSeconds, type RefusedAnswer, retryAfterSeconds } from "../Failure.ts"
import type { ProviderFault } from "../ProviderError.ts"
import { errorIn } from "../wire/EventFault.ts"
import { type JsonObject, listOf, objectOf, parseJson, textIn } from "../wire/Json.ts"

/** Interprets a response without a success status. */
export const faultOfStatus = (answer: RefusedAnswer, nowMs: number): ProviderFault => {
  const body = parseJson(answer.body)
  const error = objectOf(objectOf(Array.isArray(body) ? body[0] : body)?.["error"]) ?? {}
  return faultOf(
    statusOf(error, answer.status),
    textIn(error, "message") ?? `status ${answer.status}`,
    retryAfterSeconds(answer.headers, nowMs) ?? retryDelaySeconds(error),
    hintsOf(error)
  )
}

/** Interprets an error object in place of an answer: in a body or an event with status 200. */
export const faultOfError = (value: unknown): ProviderFault => {
  const error = typeof value === "string" ? { message: value } : (objectOf(value) ?? {})
  const code = Number(error["code"])
  const named = STATUSES[textIn(error, "status") ?? ""] ?? 500
  const status = statusOf(error, Number.isInteger(code) && code >= 400 && code <= 599 ? code : named)
  const detail = textIn(error, "message") ?? "an error without a message"
  return faultOf(status, detail, retryDelaySeconds(error), hintsOf(error))
}

/** The field is in a `google.rpc.BadRequest`, or in the message. */
const hintsOf = (error: JsonObject) => {
  const [violation] = detailsOf(error).flatMap((detail) => listOf(detail["fieldViolations"]))
  const message = textIn(error, "message") ?? ""
  const quoted = /\bat '([^']+)'/.exec(message)?.[1]
  const [, request] = /\bGenerateContentRequest\.([\w.[\]]+)/.exec(message) ?? []
  return { param: textIn(objectOf(violation) ?? {}, "field") ?? quoted ?? request }
}

/** Members of a chunk that belongs to an answer. */
const ANSWER = ["candidates", "usageMetadata", "promptFeedback"]

/** The fault of an answer or a chunk; undefined when it contains no error. */
export const faultIn = (object: JsonObject, event = ""): ProviderFault | undefined => {
  const error = errorIn(object, event)
  if (error !== undefined) return faultOfError(error)
  const isNone = ANSWER.every((name) => object[name] === undefined) && textIn(object, "message") !== undefined
  return isNone ? faultOfError(object) : undefined
}

/** The statuses of `google.rpc.Code`, for errors that contain only the name. */
const STATUSES: Readonly<Record<string, number>> = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  OUT_OF_RANGE: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ABORTED: 409,
  RESOURCE_EXHAUSTED: 429,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504
}

/** Account problems that arrive as 429 but do not end by waiting: no credit left at the provider, or the gateway's own spending cap. */
const ACCOUNT_SPENT = /prepayment credits|spending cap/i

/** The URL of a file at the provider that belongs to another account, which the caller gave. */
const FOREIGN_FILE = /permission to access the file/i

/** The status that the error should have: some errors of the gateway's account or of the provider come with a client error status. */
const statusOf = (error: JsonObject, status: number): number => {
  const keyed = detailsOf(error).some((detail) => textIn(detail, "reason")?.startsWith("API_KEY_"))
  if (keyed) return 401
  const message = textIn(error, "message") ?? ""
  switch (error["status"]) {
    case "PERMISSION_DENIED":
      return FOREIGN_FILE.test(message) ? 400 : status
    // The account's country is unsupported, or its billing is missing.
    case "FAILED_PRECONDITION":
      return 403
    case "RESOURCE_EXHAUSTED":
      return ACCOUNT_SPENT.test(message) ? 402 : status
    // The caller is still connected, so the cancellation is the provider's.
    case "CANCELLED":
      return 503
    default:
      return status
  }
}

const detailsOf = (error: JsonObject): ReadonlyArray<JsonObject> =>
  listOf(error["details"]).map((detail) => objectOf(detail) ?? {})

/** The pause of a `google.rpc.RetryInfo`, such as `17s` or `0.25s`. */
const retryDelaySeconds = (error: JsonObject): number | undefined => {
  for (const detail of detailsOf(error)) {
    const seconds = /^(\d+(?:\.\d+)?)s$/.exec(textIn(detail, "retryDelay") ?? "")?.[1]
    if (seconds !== undefined) return pauseSeconds(Number(seconds))
  }
  return undefined
}
