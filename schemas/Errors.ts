import { Schema } from "effect"
import { BatchItem } from "./inference/BatchItem.ts"

/** One wrong field of a request. */
export const FieldDetail = Schema.Struct({ field: Schema.String, message: Schema.String }).annotate({
  identifier: "FieldDetail"
})

/** What went wrong: a sentence for people, `type` and `code` for programs, `param` for the field it is about. */
export const ErrorObject = Schema.Struct({
  message: Schema.String,
  type: Schema.String,
  code: Schema.String,
  param: Schema.NullOr(Schema.String)
}).annotate({ identifier: "ErrorObject" })

const fields = {
  error: ErrorObject,
  /** Every wrong field, on validation errors. */
  details: Schema.optionalKey(Schema.Array(FieldDetail)),
  /** What stands in the way of a 402: `in_flight` passes by itself, the others do not. */
  limit_source: Schema.optionalKey(Schema.Literals(["balance", "in_flight", "key_budget", "project_budget"])),
  /** On a 429: the providers limit the gateway's rate. Absent where the caller's own limit is reached. */
  upstream_rate_limited: Schema.optionalKey(Schema.Literal(true)),
  request_id: Schema.optionalKey(Schema.String),
  /** Which request of a batch failed. */
  failed_index: Schema.optionalKey(Schema.Int),
  /** The requests of that batch that were served, and charged: items as in the `data` of a batch that succeeds. */
  completed: Schema.optionalKey(Schema.Array(BatchItem))
}

/** The body of every error answer. */
export const ErrorBody = Schema.Struct(fields).annotate({ identifier: "ErrorBody" })
export type ErrorBody = typeof ErrorBody.Type

/** 400 — the request is wrong; `param` names the first wrong field. */
export class BadRequestError extends Schema.Error<BadRequestError>("BadRequestError")(fields, { httpApiStatus: 400 }) {}
/** 401 — the key is missing, unknown or revoked. */
export class AuthenticationError extends Schema.Error<AuthenticationError>("AuthenticationError")(fields, {
  httpApiStatus: 401
}) {}
/** 402 — the account, or a budget, cannot cover what the request may cost. */
export class InsufficientCreditsError extends Schema.Error<InsufficientCreditsError>("InsufficientCreditsError")(
  fields,
  {
    httpApiStatus: 402
  }
) {}
/** 403 — the key is good, and not for this. */
export class PermissionError extends Schema.Error<PermissionError>("PermissionError")(fields, { httpApiStatus: 403 }) {}
/** 404 — there is no such thing, or it is somebody else's. */
export class NotFoundError extends Schema.Error<NotFoundError>("NotFoundError")(fields, { httpApiStatus: 404 }) {}
/** 409 — in conflict with what is so: a request under the same idempotency key still runs, a limit of keys is reached. */
export class ConflictError extends Schema.Error<ConflictError>("ConflictError")(fields, { httpApiStatus: 409 }) {}
/** 413 — the body, or an image in it, is too large. */
export class TooLargeError extends Schema.Error<TooLargeError>("TooLargeError")(fields, { httpApiStatus: 413 }) {}
/** 415 — the body is not declared as JSON. */
export class MediaTypeError extends Schema.Error<MediaTypeError>("MediaTypeError")(fields, { httpApiStatus: 415 }) {}
/** 422 — the idempotency key was used for another request. */
export class IdempotencyError extends Schema.Error<IdempotencyError>("IdempotencyError")(fields, {
  httpApiStatus: 422
}) {}
/** 429 — too many requests; `Retry-After` says when to come back. */
export class RateLimitError extends Schema.Error<RateLimitError>("RateLimitError")(fields, { httpApiStatus: 429 }) {}
/** 500 — a fault of this service. */
export class InternalError extends Schema.Error<InternalError>("InternalError")(fields, { httpApiStatus: 500 }) {}
/** 502 — every provider tried failed, or answered nothing; not charged. */
export class UpstreamError extends Schema.Error<UpstreamError>("UpstreamError")(fields, { httpApiStatus: 502 }) {}
/** 503 — nothing can serve this now, or the database is unreachable; not charged. */
export class UnavailableError extends Schema.Error<UnavailableError>("UnavailableError")(fields, {
  httpApiStatus: 503
}) {}
/** 504 — every provider tried was too slow; not charged. */
export class TimeoutError extends Schema.Error<TimeoutError>("TimeoutError")(fields, { httpApiStatus: 504 }) {}
