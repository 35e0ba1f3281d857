import { Schema } from "effect"
import { ErrorBody } from "./Errors.ts"
import { RequestId } from "./Ids.ts"

const mirrored = {
  message: Schema.String,
  code: Schema.String,
  /** This request's, or on `idempotency_result_unavailable` that of the receipt. */
  request_id: RequestId
}

const fields = { ...ErrorBody.fields, ...mirrored }

/** An error of a legacy route: as everywhere, with `message` and `code` at the top level too. */
export const LegacyErrorObject = Schema.Struct(fields).annotate({ identifier: "LegacyErrorObject" })

const { upstream_rate_limited } = ErrorBody.fields
const limitFields = { error: Schema.Literal("rate_limit_exceeded"), ...mirrored, upstream_rate_limited }

/** 429 of a legacy route, which is flat: `error` is the code. */
export const LegacyRateLimit = Schema.Struct(limitFields).annotate({ identifier: "LegacyRateLimit" })

/** The body of every error answer of a legacy route. */
export const LegacyErrorBody = Schema.Union([LegacyErrorObject, LegacyRateLimit])
export type LegacyErrorBody = typeof LegacyErrorBody.Type

/** 400 — the request is wrong; `param` names the first wrong field. */
export class LegacyBadRequestError extends Schema.Error<LegacyBadRequestError>("LegacyBadRequestError")(fields, {
  httpApiStatus: 400
}) {}
/** 401 — the key is missing, unknown or revoked. */
export class LegacyAuthenticationError extends Schema.Error<LegacyAuthenticationError>("LegacyAuthenticationError")(
  fields,
  { httpApiStatus: 401 }
) {}
/** 402 — the account, or a budget, cannot cover what the request may cost. */
export class LegacyInsufficientCreditsError extends Schema.Error<LegacyInsufficientCreditsError>(
  "LegacyInsufficientCreditsError"
)(fields, { httpApiStatus: 402 }) {}
/** 403 — the key is good, and not for this. */
export class LegacyPermissionError extends Schema.Error<LegacyPermissionError>("LegacyPermissionError")(fields, {
  httpApiStatus: 403
}) {}
/** 404 — there is no such thing, or it is somebody else's. */
export class LegacyNotFoundError extends Schema.Error<LegacyNotFoundError>("LegacyNotFoundError")(fields, {
  httpApiStatus: 404
}) {}
/** 409 — a request under the same idempotency key still runs, or its answer was not kept. */
export class LegacyConflictError extends Schema.Error<LegacyConflictError>("LegacyConflictError")(fields, {
  httpApiStatus: 409
}) {}
/** 413 — the body, or an image in it, is too large. */
export class LegacyTooLargeError extends Schema.Error<LegacyTooLargeError>("LegacyTooLargeError")(fields, {
  httpApiStatus: 413
}) {}
/** 415 — the body is not declared as JSON. */
export class LegacyMediaTypeError extends Schema.Error<LegacyMediaTypeError>("LegacyMediaTypeError")(fields, {
  httpApiStatus: 415
}) {}
/** 422 — the idempotency key was used for another request. */
export class LegacyIdempotencyError extends Schema.Error<LegacyIdempotencyError>("LegacyIdempotencyError")(fields, {
  httpApiStatus: 422
}) {}
/** 429 — too many requests; `Retry-After` says when to come back. */
export class LegacyRateLimitError extends Schema.Error<LegacyRateLimitError>("LegacyRateLimitError")(limitFields, {
  httpApiStatus: 429
}) {}
/** 500 — a fault of this service. */
export class LegacyInternalError extends Schema.Error<LegacyInternalError>("LegacyInternalError")(fields, {
  httpApiStatus: 500
}) {}
/** 502 — every provider tried failed, or answered nothing; not charged. */
export class LegacyUpstreamError extends Schema.Error<LegacyUpstreamError>("LegacyUpstreamError")(fields, {
  httpApiStatus: 502
}) {}
/** 503 — nothing can serve this now, or the database is unreachable; not charged. */
export class LegacyUnavailableError extends Schema.Error<LegacyUnavailableError>("LegacyUnavailableError")(fields, {
  httpApiStatus: 503
}) {}
/** 504 — every provider tried was too slow; not charged. */
export class LegacyTimeoutError extends Schema.Error<LegacyTimeoutError>("LegacyTimeoutError")(fields, {
  httpApiStatus: 504
}) {}
