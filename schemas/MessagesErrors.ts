import { Schema } from "effect"
import { ErrorBody, ErrorObject } from "./Errors.ts"
import { RequestId } from "./Ids.ts"

/** An error with Anthropic's `type`. The other members are the standard ones. */
export const MessagesErrorObject = Schema.Struct({
  ...ErrorObject.fields,
  /** The kind of error in Anthropic's words. */
  type: Schema.Literals([
    "invalid_request_error",
    "authentication_error",
    "billing_error",
    "permission_error",
    "not_found_error",
    "request_too_large",
    "rate_limit_error",
    "api_error",
    "timeout_error",
    "overloaded_error"
  ]),
  /**
   * Present when the request asked for `thread`, which is not supported: Anthropic's clients then send the whole conversation
   * themselves.
   */
  details: Schema.optionalKey(
    Schema.Struct({
      error_code: Schema.Literal("thread_unsupported_request"),
      /** The unsupported features. */
      unsupported: Schema.Array(Schema.String)
    })
  )
}).annotate({ identifier: "MessagesErrorObject" })
export type MessagesErrorObject = typeof MessagesErrorObject.Type

const { details, limit_source, upstream_rate_limited } = ErrorBody.fields

const fields = {
  type: Schema.Literal("error"),
  error: MessagesErrorObject,
  /** The id of this request, or on `idempotency_result_unavailable` that of the request with the receipt. */
  request_id: RequestId,
  details,
  limit_source,
  upstream_rate_limited
}

/** The body of every error response of the messages endpoints. */
export const MessagesErrorBody = Schema.Struct(fields).annotate({ identifier: "MessagesErrorBody" })
export type MessagesErrorBody = typeof MessagesErrorBody.Type

/** 400 — the request is invalid; `param` names the first invalid field. */
export class MessagesBadRequestError extends Schema.Error<MessagesBadRequestError>("MessagesBadRequestError")(fields, {
  httpApiStatus: 400
}) {}
/** 401 — the key is missing, unknown or revoked. */
export class MessagesAuthenticationError extends Schema.Error<MessagesAuthenticationError>(
  "MessagesAuthenticationError"
)(fields, { httpApiStatus: 401 }) {}
/** 402 — the account, or a budget, cannot cover the request's maximum cost. */
export class MessagesInsufficientCreditsError extends Schema.Error<MessagesInsufficientCreditsError>(
  "MessagesInsufficientCreditsError"
)(fields, { httpApiStatus: 402 }) {}
/** 403 — the key is valid but lacks permission for this operation. */
export class MessagesPermissionError extends Schema.Error<MessagesPermissionError>("MessagesPermissionError")(fields, {
  httpApiStatus: 403
}) {}
/** 404 — the resource does not exist or belongs to another account. */
export class MessagesNotFoundError extends Schema.Error<MessagesNotFoundError>("MessagesNotFoundError")(fields, {
  httpApiStatus: 404
}) {}
/** 409 — a request with the same idempotency key is still running, or its answer was not stored. */
export class MessagesConflictError extends Schema.Error<MessagesConflictError>("MessagesConflictError")(fields, {
  httpApiStatus: 409
}) {}
/** 413 — the body, or an image in it, is too large. */
export class MessagesTooLargeError extends Schema.Error<MessagesTooLargeError>("MessagesTooLargeError")(fields, {
  httpApiStatus: 413
}) {}
/** 415 — the content type of the body is not JSON. */
export class MessagesMediaTypeError extends Schema.Error<MessagesMediaTypeError>("MessagesMediaTypeError")(fields, {
  httpApiStatus: 415
}) {}
/** 422 — the idempotency key was used for another request. */
export class MessagesIdempotencyError extends Schema.Error<MessagesIdempotencyError>("MessagesIdempotencyError")(
  fields,
  {
    httpApiStatus: 422
  }
) {}
/** 429 — too many requests; `Retry-After` contains the wait in seconds. */
export class MessagesRateLimitError extends Schema.Error<MessagesRateLimitError>("MessagesRateLimitError")(fields, {
  httpApiStatus: 429
}) {}
/** 500 — a fault of this service. */
export class MessagesInternalError extends Schema.Error<MessagesInternalError>("MessagesInternalError")(fields, {
  httpApiStatus: 500
}) {}
/** 502 — every provider that was tried failed or returned nothing; not charged. */
export class MessagesUpstreamError extends Schema.Error<MessagesUpstreamError>("MessagesUpstreamError")(fields, {
  httpApiStatus: 502
}) {}
/** 503 — no provider can serve the request now, or the database is unreachable; not charged. */
export class MessagesUnavailableError extends Schema.Error<MessagesUnavailableError>("MessagesUnavailableError")(
  fields,
  {
    httpApiStatus: 503
  }
) {}
/** 504 — every provider that was tried was too slow; not charged. */
export class MessagesTimeoutError extends Schema.Error<MessagesTimeoutError>("MessagesTimeoutError")(fields, {
  httpApiStatus: 504
}) {}
