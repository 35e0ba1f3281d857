/** Admits owners to the console: by a session cookie, and only from pages of this service. */
import { Effect } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { Owner, type Principal, type SignedInOwner } from "../../../schemas/Access.ts"
import { stoppedAccount } from "../../account/Accounts.ts"
import { isCsrfTokenOf, OwnerSessions } from "../../account/OwnerSessions.ts"
import { type Failure, failure, storeFailure } from "../../domain/Failure.ts"
import { PublicUrl } from "../../platform/outbound/PublicUrl.ts"
import type { PolicyName } from "../../ratelimit/Limits.ts"
import { type Access, type OperationRequest, factsOf, makeCounter, makeTried, type ResponseEffect } from "./Access.ts"
import { type SessionCookie, sessionCookie } from "../handlers/console/Cookie.ts"
import { table } from "../FailureRows.ts"
import type { Exchange } from "./Exchange.ts"

/** The failure for a missing or ended session. */
export const notSignedIn = failure({ _tag: "NotSignedIn" })

const crossSite = (header: string): Failure => failure({ _tag: "CrossSiteRequest", header })

const originOf = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).origin : undefined)

const hostOf = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).host : undefined)

/**
 * The header that shows that a request comes from a page of another site (Fetch Metadata, W3C; RFC 6454); undefined when none does. A
 * browser always sends one of the two with a request other than GET, and no page can set them. Other clients may omit both.
 */
const foreign = (
  { host, origin, "sec-fetch-site": site }: OperationRequest["headers"],
  base: string
): "Sec-Fetch-Site" | "Origin" | undefined => {
  if (site !== undefined && site !== "same-origin" && site !== "none") return "Sec-Fetch-Site"
  if (origin === undefined || origin === originOf(base) || (host !== undefined && hostOf(origin) === host))
    return undefined
  return "Origin"
}

/** Fails for a request that a page of another site may have sent. */
export const fromHere = (
  endpoint: HttpApiEndpoint.Top,
  headers: OperationRequest["headers"],
  base: string
): Effect.Effect<void, Failure> => {
  const header = endpoint.method === "GET" ? undefined : foreign(headers, base)
  return header === undefined ? Effect.void : Effect.fail(crossSite(header))
}

/** A request of a session, with or without its cookie. */
interface SessionRequest extends OperationRequest {
  /** The limit that the request counts against. */
  readonly limit: PolicyName
}

/** A kind of session: its cookie, its owner or operator, and the rate limit of its requests. */
interface SessionKind<A> {
  readonly cookie: (base: string, byHttps: boolean) => SessionCookie
  readonly find: (token: string) => Effect.Effect<A, Failure>
  readonly countedAs: (signed: A) => Pick<Principal, "accountId" | "keyId" | "limitScale">
  /** The attributes of the request's span. */
  readonly inSpan: (signed: A) => Readonly<Record<string, string>>
}

/**
 * Reads sessions of one kind. `has` says whether a request has the cookie of one, and `as` runs an operation for its owner or operator.
 */
export const makeByCookie = Effect.gen(function* () {
  const { count } = yield* makeCounter
  const publicUrl = yield* PublicUrl
  const tried = yield* makeTried
  return <A>({ cookie: cookieFor, countedAs, find, inSpan }: SessionKind<A>) => {
    const cookieOf = ({ byHttps }: Exchange) => cookieFor(publicUrl.base(), byHttps())
    return {
      has: (exchange: Exchange, headers: OperationRequest["headers"]): boolean =>
        cookieOf(exchange).tokensIn(headers["cookie"]).length > 0,
      as: (
        { endpoint, exchange, headers, limit }: SessionRequest,
        handle: (signed: A) => ResponseEffect
      ): ResponseEffect => {
        const cookie = cookieOf(exchange)
        const tokens = cookie.tokensIn(headers["cookie"])
        // With two cookies, another site's page has set one of them, and nothing shows which.
        const token = tokens.length === 1 ? (tokens[0] ?? "") : ""
        const admitted = Effect.gen(function* () {
          yield* fromHere(endpoint, headers, publicUrl.base())
          const signed = yield* tried(exchange, token, find(token))
          exchange.span?.set(inSpan(signed))
          yield* count(exchange, countedAs(signed), limit)
          if (endpoint.method !== "GET" && !isCsrfTokenOf(token, headers["x-csrf-token"] ?? "")) {
            return yield* crossSite("X-CSRF-Token")
          }
          return yield* handle(signed)
        })
        return Effect.tapError(admitted, ({ reason }) =>
          Effect.sync(() => {
            // Without a cookie, a page of another site may have sent the request, because browsers withhold the cookie from it.
            if (table[reason._tag].status === 401 && tokens.length > 0) {
              exchange.added = { ...exchange.added, "set-cookie": cookie.none }
            }
          })
        )
      }
    }
  }
})

/** Reads the sessions of owners. */
export const makeBySession = Effect.gen(function* () {
  const byCookie = yield* makeByCookie
  const sessions = yield* OwnerSessions
  const find = (token: string): Effect.Effect<SignedInOwner, Failure> =>
    sessions.find(token).pipe(
      Effect.mapError(storeFailure),
      Effect.flatMap((row) => {
        if (row === undefined) return Effect.fail(notSignedIn)
        const stopped = stoppedAccount(row.state, row.state_reason)
        if (stopped !== undefined) return Effect.fail(stopped)
        return Effect.succeed({
          sessionId: row.id,
          accountId: row.account_id,
          email: row.email,
          limitScale: row.limit_scale
        })
      })
    )
  return byCookie<SignedInOwner>({
    cookie: sessionCookie,
    find,
    countedAs: ({ accountId, limitScale, sessionId }) => ({ accountId, limitScale, keyId: sessionId }),
    inSpan: ({ accountId }) => ({ "svc.account_id": accountId })
  })
})

/** The access of owners by their sessions. */
export const makeOwnerAccess = Effect.map(
  makeBySession,
  ({ as }): Access<Owner> =>
    (request, handle) =>
      as({ ...request, limit: factsOf(request.endpoint).limit }, (owner) => Effect.provideService(handle, Owner, owner))
)

/** The access of requests for a session, which need no credential. */
export const makeSignInAccess = Effect.gen(function* () {
  const { count } = yield* makeCounter
  const publicUrl = yield* PublicUrl
  const access: Access = ({ endpoint, exchange, headers }, handle) =>
    Effect.gen(function* () {
      yield* count(exchange, undefined, factsOf(endpoint).limit)
      yield* fromHere(endpoint, headers, publicUrl.base())
      return yield* handle
    })
  return access
})
