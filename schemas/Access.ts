import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import {
  AuthenticationError,
  BadRequestError,
  InternalError,
  MediaTypeError,
  PermissionError,
  RateLimitError,
  TooLargeError,
  UnavailableError
} from "./Errors.ts"
import {
  LegacyAuthenticationError,
  LegacyBadRequestError,
  LegacyInternalError,
  LegacyMediaTypeError,
  LegacyPermissionError,
  LegacyRateLimitError,
  LegacyTooLargeError,
  LegacyUnavailableError
} from "./LegacyErrors.ts"
import {
  MessagesAuthenticationError,
  MessagesBadRequestError,
  MessagesInternalError,
  MessagesMediaTypeError,
  MessagesPermissionError,
  MessagesRateLimitError,
  MessagesTooLargeError,
  MessagesUnavailableError
} from "./MessagesErrors.ts"
import type { RoutingPolicy } from "./Routing.ts"

/** The holder of a valid key. */
export interface Principal {
  readonly keyId: string
  readonly accountId: string
  readonly projectId: string | null
  /**
   * What a request of this key is routed by unless it says otherwise: the key's own, over its project's. Its `data_policy` is the
   * strictest of both, and no request can have a laxer one.
   */
  readonly routing?: RoutingPolicy
  readonly kind: "inference" | "management"
  readonly scopes: ReadonlyArray<string>
  /** Multiplies the rate limits. */
  readonly limitScale: number
  /** Those that every hold counts towards: the key's and its project's. */
  readonly budgets: ReadonlyArray<{
    readonly id: string
    readonly scope: "key" | "project"
    readonly period: "daily" | "weekly" | "monthly" | "lifetime"
  }>
  /** Of which of the key's changes of budgets this is; a hold says it, so that the ledger refuses one that came before another. */
  readonly budgetsEpoch: number
}

/** Who is calling; every operation with a credential has one. */
export class Caller extends Context.Service<Caller, Principal>()("tollgate/Caller") {}

/** Requires an inference key (`svc_sk_…`) as a bearer, and counts the request against that key's rate limit. */
export class InferenceAccess extends HttpApiMiddleware.Service<InferenceAccess, { provides: Caller }>()(
  "tollgate/InferenceAccess",
  {
    error: [AuthenticationError, PermissionError, RateLimitError, UnavailableError],
    security: { bearer: HttpApiSecurity.bearer }
  }
) {}

/** The same as `InferenceAccess` on legacy routes, whose errors have a form of their own. */
export class LegacyAccess extends HttpApiMiddleware.Service<LegacyAccess, { provides: Caller }>()(
  "tollgate/LegacyAccess",
  {
    error: [LegacyAuthenticationError, LegacyPermissionError, LegacyRateLimitError, LegacyUnavailableError],
    security: { bearer: HttpApiSecurity.bearer }
  }
) {}

/**
 * The same as `InferenceAccess` on the messages endpoints, which take the key as `x-api-key` too and have a form of errors of
 * their own. Where both headers come, the bearer counts.
 */
export class MessagesAccess extends HttpApiMiddleware.Service<MessagesAccess, { provides: Caller }>()(
  "tollgate/MessagesAccess",
  {
    error: [MessagesAuthenticationError, MessagesPermissionError, MessagesRateLimitError, MessagesUnavailableError],
    security: { bearer: HttpApiSecurity.bearer, apiKey: HttpApiSecurity.apiKey({ key: "x-api-key", in: "header" }) }
  }
) {}

/**
 * Requires a management key (`svc_mk_…`) as a bearer, with the scope that the operation's facts name, and counts the request
 * against the account's limit of reads or writes. Its answers are not to be kept by any cache.
 */
export class ManagementAccess extends HttpApiMiddleware.Service<ManagementAccess, { provides: Caller }>()(
  "tollgate/ManagementAccess",
  {
    error: [AuthenticationError, PermissionError, RateLimitError, UnavailableError],
    security: { bearer: HttpApiSecurity.bearer }
  }
) {}

/** Somebody who signed in to an account of theirs. */
export interface Signed {
  readonly sessionId: string
  readonly accountId: string
  readonly email: string
  /** Multiplies the rate limits. */
  readonly limitScale: number
}

/** Who is signed in; every operation of the console but signing in has one. */
export class Owner extends Context.Service<Owner, Signed>()("tollgate/Owner") {}

/**
 * Requires the cookie of a session, which has the one name by http and the other by https, once, and of whatever is no GET also the session's `X-CSRF-Token`, and that it comes from a page of
 * this service where the browser says where it comes from. Counts the request against the account's limit of reads or writes. Its
 * answers are not to be kept by any cache, and can be read by no other site.
 */
export class OwnerAccess extends HttpApiMiddleware.Service<OwnerAccess, { provides: Owner }>()("tollgate/OwnerAccess", {
  error: [AuthenticationError, PermissionError, RateLimitError, UnavailableError],
  security: {
    session: HttpApiSecurity.apiKey({ key: "svc_session", in: "cookie" }),
    secureSession: HttpApiSecurity.apiKey({ key: "__Host-svc_session", in: "cookie" })
  }
}) {}

/**
 * Signs in, and so needs nothing; but it has to come from a page of this service where the browser says where it comes from. Counts
 * the request against the client's address.
 */
export class SignInAccess extends HttpApiMiddleware.Service<SignInAccess>()("tollgate/SignInAccess", {
  error: [PermissionError, RateLimitError, UnavailableError]
}) {}

/** Needs no key; counts the request against the key it comes with, where that is valid, else against the client's address. */
export class OpenAccess extends HttpApiMiddleware.Service<OpenAccess>()("tollgate/OpenAccess", {
  error: RateLimitError
}) {}

/** Answers what every operation can: malformed requests and faults of the service, in the one error envelope. */
export class Envelope extends HttpApiMiddleware.Service<Envelope>()("tollgate/Envelope", {
  error: [BadRequestError, TooLargeError, MediaTypeError, InternalError]
}) {}

/** The same as `Envelope` on legacy routes. */
export class LegacyEnvelope extends HttpApiMiddleware.Service<LegacyEnvelope>()("tollgate/LegacyEnvelope", {
  error: [LegacyBadRequestError, LegacyTooLargeError, LegacyMediaTypeError, LegacyInternalError]
}) {}

/** The same as `Envelope` on the messages endpoints. */
export class MessagesEnvelope extends HttpApiMiddleware.Service<MessagesEnvelope>()("tollgate/MessagesEnvelope", {
  error: [MessagesBadRequestError, MessagesTooLargeError, MessagesMediaTypeError, MessagesInternalError]
}) {}
