/** Failures in Anthropic's words. */
import type { ErrorBody } from "../../../schemas/Errors.ts"
import type { MessagesErrorBody, MessagesErrorObject } from "../../../schemas/MessagesErrors.ts"

/** Types that are called otherwise here; all others have the same name. */
const words: Readonly<Record<string, MessagesErrorObject["type"]>> = {
  insufficient_quota: "billing_error",
  idempotency_error: "invalid_request_error",
  upstream_error: "api_error",
  service_unavailable_error: "overloaded_error"
}

/** Elsewhere a key is sent in one way only. */
const MISSING_KEY = "Send your API key as `x-api-key: <key>` or as `Authorization: Bearer <key>`"

/** On this alone the tool runner of Anthropic's clients, which asks for a thread unless told, goes on without one. */
const NO_THREADS = { details: { error_code: "thread_unsupported_request", unsupported: ["thread"] } } as const

/** The error object of a failure, for a body or an event of a stream. */
export const encodeMessagesError = ({ code, message, param, type }: ErrorBody["error"]): MessagesErrorObject => ({
  type: words[type] ?? (type as MessagesErrorObject["type"]),
  message: code === "missing_api_key" ? MISSING_KEY : message,
  code,
  param,
  ...(code === "unsupported_parameter" && param === "thread" ? NO_THREADS : {})
})

/** The form of an error body on the messages endpoints. Where it names another request's receipt, that one's id stays. */
export const encodeMessagesFailure = (
  { error, request_id, ...more }: ErrorBody,
  requestId: string
): MessagesErrorBody => ({
  type: "error",
  error: encodeMessagesError(error),
  request_id: request_id ?? requestId,
  ...more
})
