import { Context } from "effect"
import { type HttpApiEndpoint, HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
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
import type { PlanPrice } from "./operator/Plans.ts"
import type { RoutingPolicy } from "./Routing.ts"

/** An account's own prices, which replace the catalogue's. `priceFor` in `src/domain/PriceTerms.ts` applies them. */
export interface PriceTerms {
  /** The name of the account's price plan. */
  readonly plan?: string
  /** In basis points of the catalogue's prices; below zero the account pays less. */
  readonly markupBasisPoints: number
  readonly markupOf: "account" | "plan"
  /** The plan's fixed prices by the ID of their model. They win over every markup. */
  readonly fixed?: Readonly<Record<string, PlanPrice>>
}

/** The holder of a valid key, or an owner with a session. */
export interface Principal {
  /** The key, or the session of an owner. */
  readonly keyId: string
  readonly accountId: string
  readonly projectId: string | null
  /**
   * The routing of this key's requests unless they set their own: the key's, which overrides its project's. Its `data_policy` is the
   * strictest of both, and no request can loosen it.
   */
  readonly routing?: RoutingPolicy
  /** An owner with a session has every scope and no project. */
  readonly kind: "inference" | "management" | "session"
  readonly scopes: ReadonlyArray<string>
  /** The factor for rate limits. */
  readonly limitScale: number
  /** The account's own prices. Absent: the catalogue's. */
  readonly terms?: PriceTerms
  /** The most unfinished videos and batches by the account's plan. Absent: the usual number. */
  readonly mostVideos?: number
  readonly mostBatches?: number
  /** The budgets that every hold counts towards: the key's, its project's, and the daily one of the account's plan. */
  readonly budgets: ReadonlyArray<{
    readonly id: string
    readonly scope: "account" | "key" | "project"
    readonly period: "daily" | "weekly" | "monthly" | "lifetime"
  }>
  /** The tools of the MCP server that the key may call. Absent when it may call all of them. */
  readonly allowedTools?: ReadonlyArray<string>
  /** The version of the key's budgets. A hold names it, so that the ledger rejects a hold that was made before a change. */
  readonly budgetsEpoch: number
  /** How far the database's clock is ahead of this node's, in milliseconds. Absent while they agree within a second. */
  readonly clockAheadMs?: number
}

/** The caller. Every operation with a credential has one. */
export class Caller extends Context.Service<Caller, Principal>()("tollgate/Caller") {}

const bearer = HttpApiSecurity.annotate(
  HttpApiSecurity.bearer,
  OpenApi.Description,
  "An inference key (`svc_sk_…`) or a management key (`svc_mk_…`). `x-credential` of an operation says which one it accepts."
)

const apiKey = HttpApiSecurity.annotate(
  HttpApiSecurity.apiKey({ key: "x-api-key", in: "header" }),
  OpenApi.Description,
  "An inference key (`svc_sk_…`), as Anthropic's clients send it."
)

/** The cookie of an owner's session, which has one name over HTTP and another over HTTPS. */
const sessionCookies = {
  session: HttpApiSecurity.annotate(
    HttpApiSecurity.apiKey({ key: "svc_session", in: "cookie" }),
    OpenApi.Description,
    "An owner's session over HTTP. Requests other than GET also need the session's `csrf_token` in the header `X-CSRF-Token`."
  ),
  secureSession: HttpApiSecurity.annotate(
    HttpApiSecurity.apiKey({ key: "__Host-svc_session", in: "cookie" }),
    OpenApi.Description,
    "An owner's session over HTTPS. Requests other than GET also need the session's `csrf_token` in the header `X-CSRF-Token`."
  )
} as const

/** Requires an inference key (`svc_sk_…`) as a bearer token, and counts the request against that key's rate limit. */
export class InferenceAccess extends HttpApiMiddleware.Service<InferenceAccess, { provides: Caller }>()(
  "tollgate/InferenceAccess",
  {
    error: [AuthenticationError, PermissionError, RateLimitError, UnavailableError],
    security: { bearer }
  }
) {}

/** The same as `InferenceAccess` on legacy routes, which have their own error format. */
export class LegacyAccess extends HttpApiMiddleware.Service<LegacyAccess, { provides: Caller }>()(
  "tollgate/LegacyAccess",
  {
    error: [LegacyAuthenticationError, LegacyPermissionError, LegacyRateLimitError, LegacyUnavailableError],
    security: { bearer }
  }
) {}

/**
 * The same as `InferenceAccess` on the messages endpoints, which also accept the key as `x-api-key` and have their own error format. If
 * both headers are present, the bearer token counts.
 */
export class MessagesAccess extends HttpApiMiddleware.Service<MessagesAccess, { provides: Caller }>()(
  "tollgate/MessagesAccess",
  {
    error: [MessagesAuthenticationError, MessagesPermissionError, MessagesRateLimitError, MessagesUnavailableError],
    security: { bearer, apiKey }
  }
) {}

/**
 * Requires an inference key (`svc_sk_…`) as a bearer token, or the session of an owner, which reads what the keys of the account made
 * and ends it, and creates nothing that costs money. A request with a bearer token ignores its cookie.
 * `InferenceAccess` describes how keys are admitted, `OwnerAccess` describes sessions. The requests of sessions count against
 * `console_reads` and `console_writes`, and caches must not store their responses.
 */
export class AccountAccess extends HttpApiMiddleware.Service<AccountAccess, { provides: Caller }>()(
  "tollgate/AccountAccess",
  {
    error: [AuthenticationError, PermissionError, RateLimitError, UnavailableError],
    security: { bearer, ...sessionCookies }
  }
) {}

/**
 * Requires a management key (`svc_mk_…`) as a bearer token with the scope of the operation, or the session of an owner, which has every
 * scope. A request with a bearer token ignores its cookie. Counts the requests of keys against the account's read or write limit, and
 * those of sessions against `console_reads` and `console_writes`. Caches must not store the responses.
 */
export class ManagementAccess extends HttpApiMiddleware.Service<ManagementAccess, { provides: Caller }>()(
  "tollgate/ManagementAccess",
  {
    error: [AuthenticationError, PermissionError, RateLimitError, UnavailableError],
    security: { bearer, ...sessionCookies }
  }
) {}

/** The holder of an operator key, or an operator who has signed in with one. */
export interface OperatorPrincipal {
  readonly keyId: string
}

/** The operator that calls. Every operation below `/operator` has one. */
export class OperatorCaller extends Context.Service<OperatorCaller, OperatorPrincipal>()("tollgate/OperatorCaller") {}

const operatorKey = HttpApiSecurity.annotate(
  HttpApiSecurity.bearer,
  OpenApi.Description,
  "An operator key (`svc_ok_…`). The admin command makes it, and it works below `/operator` alone."
)

/** The cookie of an operator's session, which has one name over HTTP and another over HTTPS. */
const operatorCookies = {
  operatorSession: HttpApiSecurity.annotate(
    HttpApiSecurity.apiKey({ key: "svc_operator", in: "cookie" }),
    OpenApi.Description,
    "An operator's session over HTTP. Requests other than GET also need the session's `csrf_token` in the header `X-CSRF-Token`."
  ),
  secureOperatorSession: HttpApiSecurity.annotate(
    HttpApiSecurity.apiKey({ key: "__Secure-svc_operator", in: "cookie" }),
    OpenApi.Description,
    "An operator's session over HTTPS. Requests other than GET also need the session's `csrf_token` in the header `X-CSRF-Token`."
  )
} as const

/**
 * Requires an operator key (`svc_ok_…`) as a bearer token, or the session of an operator. It reaches every account, and no other
 * operation accepts either. A request with a bearer token ignores its cookie. Counts the request against the key's read or write limit,
 * which its sessions share. Caches must not store the responses.
 */
export class OperatorAccess extends HttpApiMiddleware.Service<OperatorAccess, { provides: OperatorCaller }>()(
  "tollgate/OperatorAccess",
  {
    error: [AuthenticationError, PermissionError, RateLimitError, UnavailableError],
    security: { operator: operatorKey, ...operatorCookies }
  }
) {}

/**
 * Requires an operator key as a bearer token and begins a session with it. If the browser reports where the request comes from, that
 * must be a page of this service. Counts the request against the key's write limit.
 */
export class OperatorSignInAccess extends HttpApiMiddleware.Service<
  OperatorSignInAccess,
  { provides: OperatorCaller }
>()("tollgate/OperatorSignInAccess", {
  error: [AuthenticationError, PermissionError, RateLimitError, UnavailableError],
  security: { operator: operatorKey }
}) {}

/** The session of a signed-in operator. */
export interface SignedInOperator extends OperatorPrincipal {
  readonly sessionId: string
  readonly keyName: string
  readonly endsAt: Date
}

/** The signed-in operator. Every operation on the session itself has one. */
export class CurrentOperator extends Context.Service<CurrentOperator, SignedInOperator>()("tollgate/CurrentOperator") {}

/**
 * Requires the cookie of an operator's session, exactly one. For methods other than GET it also requires the session's `X-CSRF-Token`. If
 * the browser reports where the request comes from, that must be a page of this service. Counts the request against the limit of the
 * session's key.
 */
export class OperatorSessionAccess extends HttpApiMiddleware.Service<
  OperatorSessionAccess,
  { provides: CurrentOperator }
>()("tollgate/OperatorSessionAccess", {
  error: [AuthenticationError, PermissionError, RateLimitError, UnavailableError],
  security: operatorCookies
}) {}

/** A signed-in owner of an account. */
export interface SignedInOwner {
  readonly sessionId: string
  readonly accountId: string
  readonly email: string
  /** The factor for rate limits. */
  readonly limitScale: number
}

/** The signed-in owner. Every console operation except signing in has one. */
export class Owner extends Context.Service<Owner, SignedInOwner>()("tollgate/Owner") {}

/**
 * Requires a session cookie, exactly one. Its name depends on http or https. For methods other than GET it also requires
 * the session's `X-CSRF-Token`. If the browser reports where the request comes from, that must be a page of this service. Counts the
 * request against the account's read or write limit. Caches must not store the responses, and no other site can read them.
 */
export class OwnerAccess extends HttpApiMiddleware.Service<OwnerAccess, { provides: Owner }>()("tollgate/OwnerAccess", {
  error: [AuthenticationError, PermissionError, RateLimitError, UnavailableError],
  security: sessionCookies
}) {}

/**
 * Access for signing in, which needs no credential. If the browser reports where the request comes from, that must be a page of this
 * service. Counts the request against the client's address.
 */
export class SignInAccess extends HttpApiMiddleware.Service<SignInAccess>()("tollgate/SignInAccess", {
  error: [PermissionError, RateLimitError, UnavailableError]
}) {}

/** Needs no key. Counts the request against its key if it has a valid one, or else against the client's address. */
export class OpenAccess extends HttpApiMiddleware.Service<OpenAccess>()("tollgate/OpenAccess", {
  error: RateLimitError
}) {}

/** The errors of every operation, for malformed requests and faults of the service, in the one error envelope. */
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

/** A credential that an operation can accept. */
export type CredentialKind =
  | "inference key"
  | "management key"
  | "operator key"
  | "session"
  | "operator session"
  | "none"

const accesses = new Map<string, readonly [CredentialKind, ...ReadonlyArray<CredentialKind>]>([
  [InferenceAccess.key, ["inference key"]],
  [LegacyAccess.key, ["inference key"]],
  [MessagesAccess.key, ["inference key"]],
  [AccountAccess.key, ["inference key", "session"]],
  [ManagementAccess.key, ["management key", "session"]],
  [OperatorAccess.key, ["operator key", "operator session"]],
  [OperatorSignInAccess.key, ["operator key"]],
  [OperatorSessionAccess.key, ["operator session"]],
  [OwnerAccess.key, ["session"]]
])

/** Returns every credential that an endpoint accepts, the usual one first. */
export const credentialsOf = (
  endpoint: HttpApiEndpoint.Top
): readonly [CredentialKind, ...ReadonlyArray<CredentialKind>] =>
  [...endpoint.middlewares].map(({ key }) => accesses.get(key)).find((one) => one !== undefined) ?? ["none"]
