/** The one table of failures. A row defines the HTTP response of a reason, so that a new reason needs only one row. */
import type { ErrorBody } from "../../schemas/Errors.ts"
import type { Reason } from "../domain/Failure.ts"
import { formatUsd } from "../domain/Money.ts"
import {
  clipText,
  contextMessage,
  creditsMessage,
  MAX_MESSAGE,
  methodMessage,
  noProviderMessage,
  plainFields,
  sentence,
  sentenceOfField,
  timeoutMessage,
  unknownModelMessage,
  upstreamMessage,
  keyNames
} from "./FailureMessages.ts"

/** A row of the table. */
export interface FailureRow<R> {
  readonly status: number
  readonly type: string
  readonly code: string
  /** Whether OpenAI's and Anthropic's clients retry automatically: the `x-should-retry` header. */
  readonly retry: boolean
  /** The suggested wait before retrying, in seconds, where there is one. */
  readonly retryAfter: (reason: R) => number | undefined
  /** Whether this failure is temporary, so that clients retry although its row says no. */
  readonly isTransient: (reason: R) => boolean
  /** Whether a request that failed in this way may have been charged. Only one that broke after its first output may. */
  readonly charged: boolean
  /** The message for the caller. */
  readonly message: (reason: R) => string
  /** The field of the request that the failure is about. */
  readonly param: (reason: R) => string | null
  /** The text for the log, in place of a message that quotes the caller or a provider. */
  readonly unquoted: ((reason: R) => string) | undefined
  /** Further members of the body. */
  readonly body: (reason: R) => Partial<ErrorBody>
  /** Further headers. */
  readonly headers: (reason: R) => Readonly<Record<string, string>>
}

/** The reason with this tag. */
type ReasonOf<Tag extends Reason["_tag"]> = Extract<Reason, { readonly _tag: Tag }>

/** The optional fields of a row, with their defaults. */
type OptionalColumns<R> = Partial<Omit<FailureRow<R>, "status" | "type" | "code" | "message">>

const nothing = () => undefined
const none = () => ({})

/** Makes a row: status, type and code, the message, and what else differs from the usual. */
const row = <Tag extends Reason["_tag"]>(
  status: number,
  type: string,
  code: string,
  message: string | ((reason: ReasonOf<Tag>) => string),
  more: OptionalColumns<ReasonOf<Tag>> = {}
): FailureRow<ReasonOf<Tag>> => ({
  status,
  type,
  code,
  message: typeof message === "string" ? () => message : message,
  retry: false,
  retryAfter: nothing,
  isTransient: () => false,
  charged: false,
  param: () => null,
  unquoted: undefined,
  body: none,
  headers: none,
  ...more
})

/** The suggested wait before retrying a temporary failure, in seconds. */
const RETRY_SOON_SECONDS = 1
const RETRY_STORE_SECONDS = 2

const soon = { retry: true, retryAfter: () => RETRY_SOON_SECONDS } as const

interface Wait {
  readonly retryAfterSeconds?: number
}

const detailOf = ({ detail }: { readonly detail: string }): string => detail
const secondsOf = ({ retryAfterSeconds }: Wait): number | undefined => retryAfterSeconds
const hasSeconds = (reason: Wait): boolean => secondsOf(reason) !== undefined
const later = { retryAfter: secondsOf, isTransient: hasSeconds } as const

const paramOr =
  (usual: string | null) =>
  ({ param }: { readonly param?: string }): string | null =>
    param ?? usual

const refusalMessage = (reason: { readonly provider: string; readonly detail: string }): string =>
  `${reason.provider} refused the request: ${reason.detail}`

/** A provider's sentence may quote the prompt. */
const refusal = {
  param: paramOr(null),
  unquoted: ({ provider }: { readonly provider: string }) => `${provider} refused the request`
} as const

const idempotencyKey = { param: () => "Idempotency-Key" } as const

/** The rest of the body is not read, so the connection cannot be reused. */
const closesConnection = { headers: () => ({ connection: "close" }) } as const

const keyless = { headers: () => ({ "www-authenticate": "Bearer" }) } as const

/** The HTTP response of every reason. */
export const table: { readonly [Tag in Reason["_tag"]]: FailureRow<ReasonOf<Tag>> } = {
  InvalidJson: row(
    400,
    "invalid_request_error",
    "invalid_json",
    ({ detail }) => `The body is not valid JSON: ${detail}`,
    { unquoted: () => "the body is not valid JSON" }
  ),
  ValidationError: row(
    400,
    "invalid_request_error",
    "validation_error",
    ({ problems }) => problems.map(sentenceOfField).join(" "),
    {
      param: ({ problems }) => problems[0].field,
      isTransient: ({ passing }) => passing === "soon",
      unquoted: ({ problems }) => `invalid ${plainFields(problems)}`
    }
  ),
  InvalidPeriod: row(400, "invalid_request_error", "invalid_period", detailOf, {
    param: () => "period",
    unquoted: () => "invalid period"
  }),
  UnsupportedParameter: row(400, "invalid_request_error", "unsupported_parameter", detailOf, {
    param: ({ param }) => param,
    unquoted: ({ param }) => `unsupported ${plainFields([{ field: param }])}`
  }),
  UnknownModel: row(400, "invalid_request_error", "unknown_model", unknownModelMessage, {
    param: paramOr("model"),
    unquoted: () => "the catalogue has no such model"
  }),
  NoModelInBudget: row(
    400,
    "invalid_request_error",
    "no_model_in_budget",
    ({ budgetCents, least }) =>
      `No model of this request fits a budget of ${budgetCents} cents; the cheapest may cost ${formatUsd(least)}`,
    { param: () => "budget_cents" }
  ),
  InvalidFallbackChain: row(400, "invalid_request_error", "invalid_fallback_chain", detailOf, {
    param: paramOr("model"),
    unquoted: () => "invalid list of models"
  }),
  NotVisionCapable: row(
    400,
    "invalid_request_error",
    "model_not_vision_capable",
    ({ model }) => `${model} does not accept images`,
    { param: paramOr("model") }
  ),
  NotToolCapable: row(
    400,
    "invalid_request_error",
    "model_not_tool_capable",
    ({ model }) => `${model} does not support tools`,
    { param: paramOr("model") }
  ),
  ContextLengthExceeded: row(400, "invalid_request_error", "context_length_exceeded", contextMessage, {
    param: paramOr("messages")
  }),
  ProviderRefused: row(400, "invalid_request_error", "validation_error", refusalMessage, refusal),
  ProviderOverflow: row(400, "invalid_request_error", "context_length_exceeded", refusalMessage, refusal),
  ContentPolicyViolation: row(400, "invalid_request_error", "content_policy_violation", refusalMessage, refusal),
  InvalidCode: row(
    400,
    "invalid_request_error",
    "invalid_code",
    "This code is wrong, used or expired; request a new one",
    { param: () => "code" }
  ),
  MissingApiKey: row(
    401,
    "authentication_error",
    "missing_api_key",
    "Send your API key as `Authorization: Bearer <key>`",
    keyless
  ),
  InvalidApiKey: row(
    401,
    "authentication_error",
    "invalid_api_key",
    ({ detail = "This API key is unknown or revoked" }) => detail,
    keyless
  ),
  NotSignedIn: row(401, "authentication_error", "not_signed_in", "Sign in first", keyless),
  InsufficientCredits: row(402, "insufficient_quota", "insufficient_credits", creditsMessage, {
    retryAfter: ({ limitSource }) => (limitSource === "in_flight" ? RETRY_SOON_SECONDS : undefined),
    isTransient: ({ limitSource }) => limitSource === "in_flight",
    body: ({ limitSource }) => ({ limit_source: limitSource })
  }),
  WrongKeyKind: row(
    403,
    "permission_error",
    "wrong_key_kind",
    ({ needed }) => `This operation needs ${keyNames[needed]}`
  ),
  AccountSuspended: row(403, "permission_error", "account_suspended", detailOf),
  AccountClosed: row(403, "permission_error", "account_closed", detailOf),
  InsufficientScope: row(
    403,
    "permission_error",
    "insufficient_scope",
    ({ scope }) => `This key lacks the scope ${scope}`,
    { param: ({ scope }) => scope }
  ),
  CrossSiteRequest: row(
    403,
    "permission_error",
    "cross_site_request",
    ({ detail, header }) => detail ?? `${header} must come from a page of this service`,
    { param: ({ header }) => header }
  ),
  NotFound: row(404, "not_found_error", "not_found", ({ id, what }) => `There is no ${what} ${id}`, {
    param: paramOr(null),
    unquoted: ({ what }) => `there is no such ${what}`
  }),
  UnknownRoute: row(
    404,
    "not_found_error",
    "unknown_route",
    ({ hint, method, path }) => `There is nothing at ${method} ${path}${hint === undefined ? "" : `; ${hint}`}`,
    { unquoted: () => "there is nothing at this path" }
  ),
  MethodNotAllowed: row(405, "invalid_request_error", "method_not_allowed", methodMessage, {
    headers: ({ allowed }) => ({ allow: allowed.join(", ") })
  }),
  RequestTimeout: row(408, "timeout_error", "request_timeout", "The request did not arrive in time", { retry: true }),
  KeyLimitReached: row(
    409,
    "invalid_request_error",
    "key_limit_reached",
    ({ limit }) => `An account has at most ${limit} active inference keys; revoke one to create another`
  ),
  Conflict: row(409, "invalid_request_error", "conflict", detailOf, {
    unquoted: () => "the request conflicts with the present state"
  }),
  IdempotencyInProgress: row(
    409,
    "idempotency_error",
    "idempotency_request_in_progress",
    "A request with this idempotency key is still running",
    { ...soon, ...idempotencyKey }
  ),
  IdempotencyResultUnavailable: row(
    409,
    "idempotency_error",
    "idempotency_result_unavailable",
    ({ requestId }) =>
      `The answer of ${requestId} was not stored; its receipt, or else the audit log, shows its outcome`,
    { ...idempotencyKey, body: ({ requestId }) => ({ request_id: requestId }) }
  ),
  RequestTooLarge: row(
    413,
    "request_too_large",
    "request_too_large",
    ({ limitBytes }) => `The body must have at most ${limitBytes.toLocaleString("en-US")} bytes`,
    closesConnection
  ),
  ImageTooLarge: row(
    413,
    "request_too_large",
    "image_too_large",
    ({ limitBytes }) => `An image must have at most ${limitBytes.toLocaleString("en-US")} bytes`,
    { param: ({ param }) => param }
  ),
  UnsupportedMediaType: row(
    415,
    "invalid_request_error",
    "unsupported_media_type",
    ({ wanted = "application/json" }) => `Send the body as ${wanted}`
  ),
  IdempotencyKeyReused: row(
    422,
    "idempotency_error",
    "idempotency_key_reused",
    "This idempotency key was used for another request",
    idempotencyKey
  ),
  RateLimitExceeded: row(
    429,
    "rate_limit_error",
    "rate_limit_exceeded",
    ({ detail, limit, retryAfterSeconds }) =>
      `${detail ?? `More than ${limit} requests in this window`}; try again in ${retryAfterSeconds} s`,
    { retry: true, retryAfter: secondsOf }
  ),
  UpstreamRateLimited: row(
    429,
    "rate_limit_error",
    "rate_limit_exceeded",
    ({ retryAfterSeconds }) =>
      `Every provider of this request is limiting the gateway's rate; try again in ${retryAfterSeconds} s. You were not charged`,
    { retry: true, retryAfter: secondsOf, body: () => ({ upstream_rate_limited: true }) }
  ),
  InternalError: row(500, "api_error", "internal_error", "The gateway failed because of an internal error", {
    retry: true,
    charged: true,
    unquoted: () => "a defect, logged beside this line"
  }),
  BatchRequestFailed: row(
    500,
    "api_error",
    "batch_request_failed",
    ({ detail, index }) => `Request ${index} of the batch failed: ${detail}`,
    {
      charged: true,
      param: ({ index }) => `requests[${index}]`,
      unquoted: ({ index }) => `request ${index} of the batch failed`,
      body: ({ index }) => ({ failed_index: index })
    }
  ),
  EmptyCompletion: row(502, "upstream_error", "empty_completion", "The answer was empty. You were not charged", {
    retry: true
  }),
  SearchFailed: row(502, "upstream_error", "search_failed", "No search engine answered. You were not charged", {
    retry: true,
    retryAfter: secondsOf
  }),
  GenerationFailed: row(
    502,
    "upstream_error",
    "generation_failed",
    ({ detail }) => `The generation failed (${detail}). You were not charged`,
    { retry: true, retryAfter: secondsOf, unquoted: () => "the provider could not make it" }
  ),
  EmptyGeneration: row(502, "upstream_error", "empty_generation", "The model returned no image. You were not charged", {
    retry: true
  }),
  StatusCheckFailed: row(
    502,
    "upstream_error",
    "status_check_failed",
    "The provider's status of this video is unavailable; try again",
    { retry: true }
  ),
  UpstreamError: row(502, "upstream_error", "upstream_error", upstreamMessage, {
    retry: true,
    retryAfter: secondsOf,
    charged: true,
    unquoted: () => "no provider could serve the request"
  }),
  VideoUnavailable: row(503, "service_unavailable_error", "service_unavailable", detailOf),
  ServiceUnavailable: row(503, "service_unavailable_error", "service_unavailable", detailOf, later),
  NoProviderAvailable: row(503, "service_unavailable_error", "no_provider_available", noProviderMessage, {
    ...later,
    param: paramOr(null),
    unquoted: detailOf
  }),
  StoreUnavailable: row(
    503,
    "service_unavailable_error",
    "store_unavailable",
    "The service cannot reach its database or its file store; try again",
    { retry: true, retryAfter: () => RETRY_STORE_SECONDS }
  ),
  Overloaded: row(
    503,
    "service_unavailable_error",
    "overloaded",
    "The service is overloaded. Try again. You were not charged",
    { ...soon, ...closesConnection }
  ),
  UpstreamTimeout: row(504, "timeout_error", "upstream_timeout", timeoutMessage, { retry: true, charged: true }),
  HoldExpired: row(504, "timeout_error", "request_expired", "The request did not finish before its hold expired", {
    charged: true
  })
}

/** The row of a reason. */
export const rowOf = (reason: Reason): FailureRow<Reason> => table[reason._tag] as FailureRow<Reason>

/** The message for the caller, of at most 2,000 characters. It contains nothing that only operators may read. */
export const messageOf = (reason: Reason): string => clipText(sentence(rowOf(reason).message(reason)), MAX_MESSAGE)
