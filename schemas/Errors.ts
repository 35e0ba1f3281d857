import { Schema } from "effect"
import { BatchItem } from "./inference/BatchItem.ts"

/** An invalid field of a request. */
export const FieldDetail = Schema.Struct({
  /** The path of the field, such as `messages[2].content`. */
  field: Schema.String,
  /** The rule that the field breaks, and the value that the request has instead. */
  message: Schema.String
}).annotate({ identifier: "FieldDetail" })

/** An error: a sentence for people, `type` and `code` for programs, and `param` for the field concerned. */
export const ErrorObject = Schema.Struct({
  /** A sentence for people. It may change. */
  message: Schema.String,
  /** The kind of error, such as `invalid_request_error`. */
  type: Schema.String,
  /** The exact error, such as `validation_error`. */
  code: Schema.String,
  /** The path of the field concerned; null without one. */
  param: Schema.NullOr(Schema.String)
}).annotate({ identifier: "ErrorObject" })

const fields = {
  error: ErrorObject,
  /** All invalid fields; only on validation errors. */
  details: Schema.optionalKey(Schema.Array(FieldDetail)),
  /** The limit behind a 402: `in_flight` ends when running requests finish; the others do not. */
  limit_source: Schema.optionalKey(
    Schema.Literals(["balance", "in_flight", "key_budget", "project_budget", "account_budget"])
  ),
  /** On a 429: the providers limit the gateway's rate. Absent when the caller's own limit is reached. */
  upstream_rate_limited: Schema.optionalKey(Schema.Literal(true)),
  /** The id of this request, or on `idempotency_result_unavailable` that of the request with the receipt. */
  request_id: Schema.optionalKey(Schema.String),
  /** The index of the failed request in a batch. */
  failed_index: Schema.optionalKey(Schema.Int),
  /** The requests of that batch that were served and charged, as items like those in `data` of a successful batch. */
  completed: Schema.optionalKey(Schema.Array(BatchItem))
}

/** The body of every error response. */
export const ErrorBody = Schema.Struct(fields).annotate({ identifier: "ErrorBody" })
export type ErrorBody = typeof ErrorBody.Type

/** 400 — the request is invalid; `param` names the first invalid field. */
export class BadRequestError extends Schema.Error<BadRequestError>("BadRequestError")(fields, { httpApiStatus: 400 }) {}
/** 401 — the key is missing, unknown or revoked. */
export class AuthenticationError extends Schema.Error<AuthenticationError>("AuthenticationError")(fields, {
  httpApiStatus: 401
}) {}
/** 402 — the account, or a budget, cannot cover the request's maximum cost. */
export class InsufficientCreditsError extends Schema.Error<InsufficientCreditsError>("InsufficientCreditsError")(
  fields,
  {
    httpApiStatus: 402
  }
) {}
/** 403 — the key is valid but lacks permission for this operation. */
export class PermissionError extends Schema.Error<PermissionError>("PermissionError")(fields, { httpApiStatus: 403 }) {}
/** 404 — the resource does not exist or belongs to another account. */
export class NotFoundError extends Schema.Error<NotFoundError>("NotFoundError")(fields, { httpApiStatus: 404 }) {}
/** 409 — a conflict with the current state: a request with the same idempotency key is still running, or a limit on keys is reached. */
export class ConflictError extends Schema.Error<ConflictError>("ConflictError")(fields, { httpApiStatus: 409 }) {}
/** 413 — the body, or an image in it, is too large. */
export class TooLargeError extends Schema.Error<TooLargeError>("TooLargeError")(fields, { httpApiStatus: 413 }) {}
/** 415 — the content type of the body is not JSON. */
export class MediaTypeError extends Schema.Error<MediaTypeError>("MediaTypeError")(fields, { httpApiStatus: 415 }) {}
/** 422 — the idempotency key was used for another request. */
export class IdempotencyError extends Schema.Error<IdempotencyError>("IdempotencyError")(fields, {
  httpApiStatus: 422
}) {}
/** 429 — too many requests; `Retry-After` contains the wait in seconds. */
export class RateLimitError extends Schema.Error<RateLimitError>("RateLimitError")(fields, { httpApiStatus: 429 }) {}
/** 500 — a fault of this service. */
export class InternalError extends Schema.Error<InternalError>("InternalError")(fields, { httpApiStatus: 500 }) {}
/** 502 — every provider that was tried failed or returned nothing; not charged. */
export class UpstreamError extends Schema.Error<UpstreamError>("UpstreamError")(fields, { httpApiStatus: 502 }) {}
/** 503 — no provider can serve the request now, or the database is unreachable; not charged. */
export class UnavailableError extends Schema.Error<UnavailableError>("UnavailableError")(fields, {
  httpApiStatus: 503
}) {}
/** 504 — every provider that was tried was too slow; not charged. */
export class TimeoutError extends Schema.Error<TimeoutError>("TimeoutError")(fields, { httpApiStatus: 504 }) {}
