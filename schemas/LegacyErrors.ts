import { Schema } from "effect"
import { ErrorBody } from "./Errors.ts"
import { RequestId } from "./Ids.ts"

const mirrored = {
  /** The same as `error.message`. */
  message: Schema.String,
  /** The same as `error.code`. */
  code: Schema.String,
  /** The id of this request, or on `idempotency_result_unavailable` that of the request with the receipt. */
  request_id: RequestId
}

const fields = { ...ErrorBody.fields, ...mirrored }

/** An error of a legacy route: the standard error object, with `message` and `code` also at the top level. */
export const LegacyErrorObject = Schema.Struct(fields).annotate({ identifier: "LegacyErrorObject" })

const { upstream_rate_limited } = ErrorBody.fields
const limitFields = { error: Schema.Literal("rate_limit_exceeded"), ...mirrored, upstream_rate_limited }

/** A 429 of a legacy route, which is flat: `error` is the code. */
export const LegacyRateLimit = Schema.Struct(limitFields).annotate({ identifier: "LegacyRateLimit" })

/** The body of every error response of a legacy route. */
export const LegacyErrorBody = Schema.Union([LegacyErrorObject, LegacyRateLimit])
export type LegacyErrorBody = typeof LegacyErrorBody.Type

/** 400 — the request is invalid; `param` names the first invalid field. */
export class LegacyBadRequestError extends Schema.Error<LegacyBadRequestError>("LegacyBadRequestError")(fields, {
  httpApiStatus: 400
}) {}
/** 401 — the key is missing, unknown or revoked. */
export class LegacyAuthenticationError extends Schema.Error<LegacyAuthenticationError>("LegacyAuthenticationError")(
  fields,
  { httpApiStatus: 401 }
) {}
/** 402 — the account, or a budget, cannot cover the request's maximum cost. */
export class LegacyInsufficientCreditsError extends Schema.Error<LegacyInsufficientCreditsError>(
  "LegacyInsufficientCreditsError"
)(fields, { httpApiStatus: 402 }) {}
/** 403 — the key is valid but lacks permission for this operation. */
export class LegacyPermissionError extends Schema.Error<LegacyPermissionError>("LegacyPermissionError")(fields, {
  httpApiStatus: 403
}) {}
/** 404 — the resource does not exist or belongs to another account. */
export class LegacyNotFoundError extends Schema.Error<LegacyNotFoundError>("LegacyNotFoundError")(fields, {
  httpApiStatus: 404
}) {}
/** 409 — a request with the same idempotency key is still running, or its answer was not stored. */
export class LegacyConflictError extends Schema.Error<LegacyConflictError>("LegacyConflictError")(fields, {
  httpApiStatus: 409
}) {}
/** 413 — the body, or an image in it, is too large. */
export class LegacyTooLargeError extends Schema.Error<LegacyTooLargeError>("LegacyTooLargeError")(fields, {
  httpApiStatus: 413
}) {}
/** 415 — the content type of the body is not JSON. */
export class LegacyMediaTypeError extends Schema.Error<LegacyMediaTypeError>("LegacyMediaTypeError")(fields, {
  httpApiStatus: 415
}) {}
/** 422 — the idempotency key was used for another request. */
export class LegacyIdempotencyError extends Schema.Error<LegacyIdempotencyError>("LegacyIdempotencyError")(fields, {
  httpApiStatus: 422
}) {}
/** 429 — too many requests; `Retry-After` contains the wait in seconds. */
export class LegacyRateLimitError extends Schema.Error<LegacyRateLimitError>("LegacyRateLimitError")(limitFields, {
  httpApiStatus: 429
}) {}
/** 500 — a fault of this service. */
export class LegacyInternalError extends Schema.Error<LegacyInternalError>("LegacyInternalError")(fields, {
  httpApiStatus: 500
}) {}
/** 502 — every provider that was tried failed or returned nothing; not charged. */
export class LegacyUpstreamError extends Schema.Error<LegacyUpstreamError>("LegacyUpstreamError")(fields, {
  httpApiStatus: 502
}) {}
/** 503 — no provider can serve the request now, or the database is unreachable; not charged. */
export class LegacyUnavailableError extends Schema.Error<LegacyUnavailableError>("LegacyUnavailableError")(fields, {
  httpApiStatus: 503
}) {}
/** 504 — every provider that was tried was too slow; not charged. */
export class LegacyTimeoutError extends Schema.Error<LegacyTimeoutError>("LegacyTimeoutError")(fields, {
  httpApiStatus: 504
}) {}
