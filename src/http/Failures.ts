/** The one table of failures: the HTTP form of each, and whether it may have been charged. */
import { Effect, Tracer } from "effect"
import { HttpServerResponse } from "effect/http"
import type { ErrorBody } from "../../schemas/Errors.ts"
import { encodeLegacyFailure } from "../dialects/legacy/LegacyFailure.ts"
import { encodeMessagesFailure } from "../dialects/messages/MessagesFailure.ts"
import type { Failure, Reason } from "../domain/Failure.ts"
import type { ErrorForm, Exchange } from "./edge/Exchange.ts"
import { clipped, MAX_MESSAGE, messageOf } from "./FailureMessages.ts"
import { loggedReason } from "./edge/LoggedReason.ts"

/** A row of the table. */
export interface Line {
  readonly status: number
  readonly type: string
  readonly code: string
  /** Whether a request that failed in this way may have been charged, which is so only for one that broke after its first output. */
  readonly charged: boolean
  /** Whether OpenAI's and Anthropic's clients retry automatically: the `x-should-retry` header. */
  readonly retry: boolean
}

const line = (status: number, type: string, code: string, retry = false, charged = false): Line => ({
  status,
  type,
  code,
  charged,
  retry
})

export const table: Readonly<Record<Reason["_tag"], Line>> = {
  InvalidJson: line(400, "invalid_request_error", "invalid_json"),
  ValidationError: line(400, "invalid_request_error", "validation_error"),
  InvalidPeriod: line(400, "invalid_request_error", "invalid_period"),
  UnsupportedParameter: line(400, "invalid_request_error", "unsupported_parameter"),
  UnknownModel: line(400, "invalid_request_error", "unknown_model"),
  NoModelInBudget: line(400, "invalid_request_error", "no_model_in_budget"),
  InvalidFallbackChain: line(400, "invalid_request_error", "invalid_fallback_chain"),
  NotVisionCapable: line(400, "invalid_request_error", "model_not_vision_capable"),
  NotToolCapable: line(400, "invalid_request_error", "model_not_tool_capable"),
  ContextLengthExceeded: line(400, "invalid_request_error", "context_length_exceeded"),
  ProviderRefused: line(400, "invalid_request_error", "validation_error"),
  ProviderOverflow: line(400, "invalid_request_error", "context_length_exceeded"),
  ContentPolicyViolation: line(400, "invalid_request_error", "content_policy_violation"),
  InvalidCode: line(400, "invalid_request_error", "invalid_code"),
  MissingApiKey: line(401, "authentication_error", "missing_api_key"),
  InvalidApiKey: line(401, "authentication_error", "invalid_api_key"),
  NotSignedIn: line(401, "authentication_error", "not_signed_in"),
  InsufficientCredits: line(402, "insufficient_quota", "insufficient_credits"),
  WrongKeyKind: line(403, "permission_error", "wrong_key_kind"),
  AccountSuspended: line(403, "permission_error", "account_suspended"),
  AccountClosed: line(403, "permission_error", "account_closed"),
  InsufficientScope: line(403, "permission_error", "insufficient_scope"),
  CrossSiteRequest: line(403, "permission_error", "cross_site_request"),
  NotFound: line(404, "not_found_error", "not_found"),
  UnknownRoute: line(404, "not_found_error", "unknown_route"),
  MethodNotAllowed: line(405, "invalid_request_error", "method_not_allowed"),
  RequestTimeout: line(408, "timeout_error", "request_timeout", true),
  KeyLimitReached: line(409, "invalid_request_error", "key_limit_reached"),
  Conflict: line(409, "invalid_request_error", "conflict"),
  IdempotencyInProgress: line(409, "idempotency_error", "idempotency_request_in_progress", true),
  IdempotencyResultUnavailable: line(409, "idempotency_error", "idempotency_result_unavailable"),
  RequestTooLarge: line(413, "request_too_large", "request_too_large"),
  ImageTooLarge: line(413, "request_too_large", "image_too_large"),
  UnsupportedMediaType: line(415, "invalid_request_error", "unsupported_media_type"),
  IdempotencyKeyReused: line(422, "idempotency_error", "idempotency_key_reused"),
  RateLimitExceeded: line(429, "rate_limit_error", "rate_limit_exceeded", true),
  UpstreamRateLimited: line(429, "rate_limit_error", "rate_limit_exceeded", true),
  InternalError: line(500, "api_error", "internal_error", true, true),
  BatchRequestFailed: line(500, "api_error", "batch_request_failed", false, true),
  EmptyCompletion: line(502, "upstream_error", "empty_completion", true),
  SearchFailed: line(502, "upstream_error", "search_failed", true),
  GenerationFailed: line(502, "upstream_error", "generation_failed", true),
  EmptyGeneration: line(502, "upstream_error", "empty_generation", true),
  StatusCheckFailed: line(502, "upstream_error", "status_check_failed", true),
  UpstreamError: line(502, "upstream_error", "upstream_error", true, true),
  VideoUnavailable: line(503, "service_unavailable_error", "service_unavailable"),
  ServiceUnavailable: line(503, "service_unavailable_error", "service_unavailable"),
  NoProviderAvailable: line(503, "service_unavailable_error", "no_provider_available"),
  StoreUnavailable: line(503, "service_unavailable_error", "store_unavailable", true),
  Overloaded: line(503, "service_unavailable_error", "overloaded", true),
  UpstreamTimeout: line(504, "timeout_error", "upstream_timeout", true, true),
  HoldExpired: line(504, "timeout_error", "request_expired", false, true)
}

/** The suggested wait before retrying a temporary failure, in seconds. */
const RETRY_SOON_SECONDS = 1
const RETRY_STORE_SECONDS = 2

const paramOf = (reason: Reason): string | null => {
  switch (reason._tag) {
    case "ValidationError":
      return reason.problems[0].field
    case "ProviderRefused":
    case "ProviderOverflow":
    case "ContentPolicyViolation":
      return reason.param ?? null
    case "InvalidPeriod":
      return "period"
    case "UnsupportedParameter":
    case "ImageTooLarge":
      return reason.param
    case "UnknownModel":
    case "InvalidFallbackChain":
    case "NotVisionCapable":
    case "NotToolCapable":
      return reason.param ?? "model"
    case "NoModelInBudget":
      return "budget_cents"
    case "ContextLengthExceeded":
      return reason.param ?? "messages"
    case "InsufficientScope":
      return reason.scope
    case "CrossSiteRequest":
      return reason.header
    case "InvalidCode":
      return "code"
    case "BatchRequestFailed":
      return `requests[${reason.index}]`
    case "IdempotencyKeyReused":
    case "IdempotencyInProgress":
    case "IdempotencyResultUnavailable":
      return "Idempotency-Key"
    default:
      return null
  }
}

/** The maximum characters of a field's name, so that a response does not grow with the request it rejects. */
const MAX_FIELD = 256

/** The path of a field in the body, or in the part of the body that the failure is about. */
const fieldAt = (at: string | undefined, field: string): string =>
  clipped(at === undefined ? field : `${at}.${field}`, MAX_FIELD)

/** The message of a failure in a part of the body: it names each field by its path in the whole body. */
const messageAt = (at: string, reason: Reason): string => {
  if (reason._tag !== "ValidationError") return clipped(`${at}: ${messageOf(reason)}`, MAX_MESSAGE)
  const [first, ...others] = reason.problems.map((problem) => ({ ...problem, field: fieldAt(at, problem.field) }))
  return first === undefined ? at : messageOf({ ...reason, problems: [first, ...others] })
}

/** The error object of a failure, for a body or a stream event. */
export const describe = ({ at, reason }: Failure): ErrorBody["error"] => {
  const { code, type } = table[reason._tag]
  const param = paramOf(reason)
  const message = at === undefined ? messageOf(reason) : messageAt(at, reason)
  return { message, type, code, param: param === null ? (at ?? null) : fieldAt(at, param) }
}

/** Providers rarely name the rejected field. Without it, there are no details to list. */
const detailsOf = ({ at, reason }: Failure): Pick<ErrorBody, "details"> => {
  if (reason._tag === "ValidationError") {
    const details = reason.problems.map(({ field, message }) => ({
      field: fieldAt(at, field),
      message: clipped(message, MAX_MESSAGE)
    }))
    return { details }
  }
  if (reason._tag !== "ProviderRefused") return {}
  return {
    details: reason.param === undefined ? [] : [{ field: fieldAt(at, reason.param), message: messageOf(reason) }]
  }
}

/** The whole body of a failure. */
export const bodyOf = (failure: Failure): ErrorBody => {
  const { reason } = failure
  return {
    error: describe(failure),
    ...detailsOf(failure),
    ...(reason._tag === "InsufficientCredits" ? { limit_source: reason.limitSource } : {}),
    ...(reason._tag === "UpstreamRateLimited" ? { upstream_rate_limited: true } : {}),
    ...(reason._tag === "BatchRequestFailed" ? { failed_index: reason.index } : {}),
    ...(reason._tag === "IdempotencyResultUnavailable" ? { request_id: reason.requestId } : {})
  }
}

const retryAfterOf = (reason: Reason): number | undefined => {
  switch (reason._tag) {
    case "RateLimitExceeded":
      return reason.retryAfterSeconds
    case "InsufficientCredits":
      return reason.limitSource === "in_flight" ? RETRY_SOON_SECONDS : undefined
    case "IdempotencyInProgress":
    case "Overloaded":
      return RETRY_SOON_SECONDS
    case "StoreUnavailable":
      return RETRY_STORE_SECONDS
    case "SearchFailed":
    case "GenerationFailed":
    case "UpstreamError":
    case "UpstreamRateLimited":
    case "NoProviderAvailable":
    case "ServiceUnavailable":
      return reason.retryAfterSeconds
    default:
      return undefined
  }
}

/** The headers that a failure adds to every response's headers. */
export const headersOf = ({ reason, replayed }: Failure): Readonly<Record<string, string>> => {
  const seconds = retryAfterOf(reason)
  const passing =
    (reason._tag === "InsufficientCredits" && reason.limitSource === "in_flight") ||
    (reason._tag === "ValidationError" && reason.passing === "soon") ||
    ((reason._tag === "NoProviderAvailable" || reason._tag === "ServiceUnavailable") && seconds !== undefined)
  return {
    "x-should-retry": String(table[reason._tag].retry || passing),
    ...(seconds === undefined ? {} : { "retry-after": String(seconds), "retry-after-ms": String(seconds * 1000) }),
    ...(replayed === true ? { "idempotency-replayed": "true" } : {}),
    // The rest of the body is not read, so the connection cannot be reused.
    ...(reason._tag === "RequestTooLarge" || reason._tag === "Overloaded" ? { connection: "close" } : {}),
    ...(reason._tag === "MethodNotAllowed" ? { allow: reason.allowed.join(", ") } : {}),
    ...(table[reason._tag].status === 401 ? { "www-authenticate": "Bearer" } : {})
  }
}

/** The codes of JSON-RPC 2.0 for a message that is no JSON, and for what a server defines itself. */
const RPC_PARSE_ERROR = -32_700
const RPC_SERVER_ERROR = -32_000

/** A failure as the JSON-RPC error that answers the message with this id. Its `data` is the whole envelope. */
export const rpcErrorOf = (body: ErrorBody, id: string | number | null): object => ({
  jsonrpc: "2.0",
  id,
  error: {
    code: body.error.code === "invalid_json" ? RPC_PARSE_ERROR : RPC_SERVER_ERROR,
    message: body.error.message,
    data: body
  }
})

/** The error body in each form. */
export const forms: Readonly<Record<ErrorForm, (body: ErrorBody, requestId: string) => object>> = {
  standard: (body) => body,
  legacy: encodeLegacyFailure,
  messages: encodeMessagesFailure,
  rpc: (body) => rpcErrorOf(body, null)
}

/** Records a failure in the log line of its request. */
const noted = (failure: Failure, line: Exchange["line"]): void => {
  if (line === undefined) return
  const { reason } = failure
  line.failed({ code: table[reason._tag].code, reason: loggedReason(failure, messageOf(reason)) })
}

/** The response to a failed request, in the error form of its operation. */
export const respond = (
  failure: Failure,
  { errors, line, requestId }: Pick<Exchange, "errors" | "requestId"> & Partial<Pick<Exchange, "line">> = {
    errors: "standard",
    requestId: ""
  }
): HttpServerResponse.HttpServerResponse => {
  noted(failure, line)
  return HttpServerResponse.jsonUnsafe(forms[errors](bodyOf(failure), requestId), {
    status: table[failure.reason._tag].status,
    headers: headersOf(failure)
  })
}

/** Marks the span of a response that failed because of the gateway after its headers were sent: its status says success. */
export const spoiled = (failure: Failure, { line, span }: Exchange): void => {
  noted(failure, line)
  const { code, status } = table[failure.reason._tag]
  if (status >= 500) span?.fail(code)
}

/** Logs the part of a failure that operators should know and callers should not, with the request's id and trace. */
export const logged = ({ log, reason }: Failure, { requestId, span }: Exchange): Effect.Effect<void> => {
  const bug = reason._tag === "InternalError"
  if (log === undefined && !bug) return Effect.void
  const said = bug ? Effect.logError("a defect answered a request", log) : Effect.logWarning(reason._tag, log)
  const annotated = Effect.annotateLogs(said, { request_id: requestId })
  return span === undefined ? annotated : Effect.provideService(annotated, Tracer.ParentSpan, span.forLogs)
}
