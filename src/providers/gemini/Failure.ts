import { faultOf, type RefusedAnswer, retryAfterSeconds } from "../Failure.ts"
import { errorIn } from "../EventFault.ts"
import { type JsonObject, listOf, objectOf, parsed, textIn } from "../Json.ts"
import type { ProviderFault } from "../Provider.ts"

/** What an answer other than a success means. */
export const faultOfStatus = (answer: RefusedAnswer, nowMs: number): ProviderFault => {
  const body = parsed(answer.body)
  const error = objectOf(objectOf(Array.isArray(body) ? body[0] : body)?.["error"]) ?? {}
  return faultOf(
    statusOf(error, answer.status),
    textIn(error, "message") ?? `status ${answer.status}`,
    retryAfterSeconds(answer.headers, nowMs) ?? retryDelaySeconds(error),
    hintsOf(error)
  )
}

/** What an error object means that came where an answer was due: in a body or an event sent with status 200. */
export const faultOfError = (value: unknown): ProviderFault => {
  const error = typeof value === "string" ? { message: value } : (objectOf(value) ?? {})
  const code = Number(error["code"])
  const named = STATUSES[textIn(error, "status") ?? ""] ?? 500
  const status = statusOf(error, Number.isInteger(code) && code >= 400 && code <= 599 ? code : named)
  const detail = textIn(error, "message") ?? "an error without a message"
  return faultOf(status, detail, retryDelaySeconds(error), hintsOf(error))
}

/** The member stands in a `google.rpc.BadRequest`, or in the sentence. */
const hintsOf = (error: JsonObject) => {
  const [violation] = detailsOf(error).flatMap((detail) => listOf(detail["fieldViolations"]))
  const message = textIn(error, "message") ?? ""
  const quoted = /\bat '([^']+)'/.exec(message)?.[1]
  const [, request] = /\bGenerateContentRequest\.([\w.[\]]+)/.exec(message) ?? []
  return { param: textIn(objectOf(violation) ?? {}, "field") ?? quoted ?? request }
}

/** Members of a chunk that is a part of an answer. */
const ANSWER = ["candidates", "usageMetadata", "promptFeedback"]

/** What went wrong where an answer, or a chunk of one, was due; undefined of any that is one. */
export const faultIn = (said: JsonObject, event = ""): ProviderFault | undefined => {
  const error = errorIn(said, event)
  if (error !== undefined) return faultOfError(error)
  const isNone = ANSWER.every((name) => said[name] === undefined) && textIn(said, "message") !== undefined
  return isNone ? faultOfError(said) : undefined
}

/** The statuses of `google.rpc.Code`, for errors that give only the name. */
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

/** What of the account comes as 429, where waiting does not help: no money left with the provider, or a cap of our own. */
const ACCOUNT_SPENT = /prepayment credits|spending cap/i

/** An address the caller gave of a file kept with the provider, which is not ours. */
const FOREIGN_FILE = /permission to access the file/i

/** The status as it is meant: some of what is our own or the provider's fault comes under a status of the caller's. */
const statusOf = (error: JsonObject, status: number): number => {
  const keyed = detailsOf(error).some((detail) => textIn(detail, "reason")?.startsWith("API_KEY_"))
  if (keyed) return 401
  const message = textIn(error, "message") ?? ""
  switch (error["status"]) {
    case "PERMISSION_DENIED":
      return FOREIGN_FILE.test(message) ? 400 : status
    // The account's country or its missing billing.
    case "FAILED_PRECONDITION":
      return 403
    case "RESOURCE_EXHAUSTED":
      return ACCOUNT_SPENT.test(message) ? 402 : status
    // A call whose caller is still there was not cancelled by its caller.
    case "CANCELLED":
      return 503
    default:
      return status
  }
}

const detailsOf = (error: JsonObject): ReadonlyArray<JsonObject> =>
  listOf(error["details"]).map((detail) => objectOf(detail) ?? {})

/** The pause asked for by a `google.rpc.RetryInfo`, such as `17s` or `0.25s`, in whole seconds rounded up. */
const retryDelaySeconds = (error: JsonObject): number | undefined => {
  for (const detail of detailsOf(error)) {
    const seconds = /^(\d+(?:\.\d+)?)s$/.exec(textIn(detail, "retryDelay") ?? "")?.[1]
    if (seconds !== undefined) return Math.ceil(Number(seconds))
  }
  return undefined
}
