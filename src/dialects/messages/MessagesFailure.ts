/** Encodes failures in Anthropic's format. */
import type { ErrorBody } from "../../../schemas/Errors.ts"
import type { MessagesErrorBody, MessagesErrorObject } from "../../../schemas/MessagesErrors.ts"

/** Error types with another name here. All others have the same name. */
const words: Readonly<Record<string, MessagesErrorObject["type"]>> = {
  insufficient_quota: "billing_error",
  idempotency_error: "invalid_request_error",
  upstream_error: "api_error",
  service_unavailable_error: "overloaded_error"
}

/** On other endpoints, a key can be sent in one way only. */
const MISSING_KEY = "Send your API key as `x-api-key: <key>` or as `Authorization: Bearer <key>`."

/** Anthropic's tool runner asks for a thread by default. Only this detail makes it continue without one. */
const NO_THREADS = { details: { error_code: "thread_unsupported_request", unsupported: ["thread"] } } as const

/** The error object of a failure, for a body or a stream event. */
export const encodeMessagesError = ({ code, message, param, type }: ErrorBody["error"]): MessagesErrorObject => ({
  type: words[type] ?? (type as MessagesErrorObject["type"]),
  message: code === "missing_api_key" ? MISSING_KEY : message,
  code,
  param,
  ...(code === "unsupported_parameter" && param === "thread" ? NO_THREADS : {})
})

/** The error body of the messages endpoints. If the failure names another request's receipt, the body keeps that request's id. */
export const encodeMessagesFailure = (
  { error, request_id, ...more }: ErrorBody,
  requestId: string
): MessagesErrorBody => ({
  type: "error",
  error: encodeMessagesError(error),
  request_id: request_id ?? requestId,
  ...more
})
