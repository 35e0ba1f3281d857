/** Checks the credentials of requests and counts requests against rate limits. */
import { Context, Effect, Fiber } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { hash as digest } from "node:crypto"
import { isDeepStrictEqual } from "node:util"
import { Caller, type Principal } from "../../../schemas/Access.ts"
import { Operation, type OperationFacts } from "../../../schemas/Operation.ts"
import type { KeyKind } from "../../account/Keys.ts"
import { Auth, type KeyHeader } from "../../auth/Auth.ts"
import { allows } from "../../auth/Scopes.ts"
import { type Failure, failure } from "../../domain/Failure.ts"
import { Config } from "../../platform/config/Config.ts"
import { type PolicyName, subjectOf } from "../../ratelimit/Limits.ts"
import { RateLimiter } from "../../ratelimit/RateLimiter.ts"
import type { Exchange } from "./Exchange.ts"

/** The maximum number of cached valid credentials, 32 bytes each. */
const FAMILIAR_MAX = 10_000

/** The hashes of the latest 10,000 credentials that were valid when last used. */
const makeFamiliar = () => {
  const hashes = new Set<string>()
  return {
    has: (hash: string): boolean => hashes.has(hash),
    add: (hash: string): void => {
      if (hashes.has(hash)) return
      const [oldest] = hashes
      if (hashes.size >= FAMILIAR_MAX && oldest !== undefined) hashes.delete(oldest)
      hashes.add(hash)
    },
    drop: (hash: string): void => void hashes.delete(hash)
  }
}

const hashOf = (credential: string): string => digest("sha256", credential, "base64")

/** Counts requests against rate limits. */
export const makeCounter = Effect.gen(function* () {
  const config = yield* Config
  const limiter = yield* RateLimiter
  const judged =
    (how: "consume" | "peek") =>
    (
      exchange: Exchange,
      principal: Pick<Principal, "accountId" | "keyId" | "limitScale"> | undefined,
      policy: PolicyName = "default"
    ): Effect.Effect<void, Failure> => {
      const subject = subjectOf(policy, principal, principal === undefined ? exchange.address() : "")
      const scale = config.rateLimitScale * (principal?.limitScale ?? 1)
      return Effect.flatMap(limiter[how](policy, subject, scale), (verdict) => {
        exchange.verdict = verdict
        if (verdict.admitted) return Effect.void
        const { limit, retryAfterSeconds = verdict.resetSeconds } = verdict
        return Effect.fail(failure({ _tag: "RateLimitExceeded", limit, retryAfterSeconds }))
      })
    }
  return {
    /**
     * Counts the request, and fails when it exceeds the limit. A request without a valid key counts against the default limit, whatever
     * its operation.
     */
    count: judged("consume"),
    /** Fails when the request would exceed the limit, without counting it. */
    look: judged("peek")
  }
})

/** The facts of unlisted aliases, which have none of their own. */
const unlisted = (): OperationFacts => ({ limit: "default", charge: "free" })

/** The facts that an operation declares in the contract. */
export const factsOf = ({ annotations }: HttpApiEndpoint.Top): OperationFacts =>
  Context.getOrElse(annotations, Operation, unlisted)

/** Names a request after its operation, in the metrics, in its trace and in the access log. */
export const labelRequest = (
  { labels, line, span }: Pick<Exchange, "labels" | "line" | "span">,
  { method, path }: { readonly method: string; readonly path: string }
): void => {
  labels.route = path
  if (line !== undefined) line.route = path
  if (span === undefined) return
  span.name = `${method} ${path}`
  span.set({ "http.route": path })
}

/** The credential of a request, and the header that contained it. */
export interface Credential {
  /** The value of the `Authorization` header, or a key from another header as such a value. */
  readonly authorization: string | undefined
  /** The header that contained it. */
  readonly header: KeyHeader
}

/** The bearer token, or the key in `x-api-key` as one. */
export const eitherOf = (headers: OperationRequest["headers"]): Credential => {
  const { authorization, "x-api-key": key } = headers
  if (key === undefined || key === "" || (authorization !== undefined && authorization !== "")) return bearerOf(headers)
  return { authorization: `Bearer ${key}`, header: "x-api-key" }
}

/** Checks a credential, and counts an invalid one against the client's address. */
export const makeTried = Effect.gen(function* () {
  const { count, look } = yield* makeCounter
  const familiar = makeFamiliar()
  return Effect.fnUntraced(function* <A>(exchange: Exchange, credential: string, read: Effect.Effect<A, Failure>) {
    const hash = hashOf(credential)
    // Any client can invent keys, and checking one costs a database read. So a credential that was never valid at this node is looked
    // up only while its client address has requests left. A credential that was valid before is checked regardless of other clients at
    // its address.
    if (!familiar.has(hash)) yield* look(exchange, undefined)
    const found = yield* Effect.tapError(read, ({ reason }) => {
      // A credential that cannot be read now keeps its former standing, and does not count as a guess.
      if (reason._tag === "StoreUnavailable") return Effect.void
      familiar.drop(hash)
      return count(exchange, undefined)
    })
    familiar.add(hash)
    return found
  })
})

/** Reads API keys. */
export const makeAuthenticated = Effect.gen(function* () {
  const auth = yield* Auth
  const tried = yield* makeTried
  return (
    exchange: Exchange,
    { authorization, header }: Credential,
    kind: KeyKind
  ): Effect.Effect<Principal, Failure> =>
    tried(exchange, authorization ?? "", auth.authenticate(authorization, kind, header))
})

/** A response, or the failure that the edge turns into one. */
export type ResponseEffect<R = never> = Effect.Effect<HttpServerResponse.HttpServerResponse, Failure, R>

/** A request of an operation, before its credential is checked. */
export interface OperationRequest {
  readonly exchange: Exchange
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly endpoint: HttpApiEndpoint.Top
}

/** Checks the credential of a request, counts it, and continues with `handle` for the caller that the credential stands for. */
export type Access<Provided = never> = (request: OperationRequest, handle: ResponseEffect<Provided>) => ResponseEffect

/** Decides whether the holder of a key may continue. `counted`: the request has already been counted. */
export type Admit = (principal: Principal, counted: boolean) => Effect.Effect<void, Failure>

/** A contract operation that requires a key. */
interface KeyRequest extends Pick<OperationRequest, "endpoint" | "exchange"> {
  readonly credential: Credential
  readonly kind: KeyKind
}

/** A read for the holder of a cached key, and the parallel check of the key. */
interface ParallelRead {
  readonly exchange: Exchange
  readonly admit: Admit
  readonly read: Effect.Effect<Principal, Failure>
  readonly as: (principal: Principal) => ResponseEffect
}

const ahead = Effect.fnUntraced(function* (known: Principal, { admit, as, exchange, read }: ParallelRead) {
  yield* admit(known, false)
  const { verdict } = exchange
  const begun = yield* Effect.forkChild(as(known), { startImmediately: true })
  const principal = yield* Effect.onError(
    Effect.tap(read, (fresh) => admit(fresh, true)),
    () => Fiber.interrupt(begun)
  )
  // The response describes the rate limit window in which the request was counted.
  exchange.verdict = verdict
  if (isDeepStrictEqual(principal, known)) return yield* Fiber.join(begun)
  yield* Fiber.interrupt(begun)
  return yield* as(principal)
})

/**
 * Admits the holder of a key. With a cached key, the operation's read and the check of the key query the database in parallel. The
 * result is returned only if the key is unchanged.
 */
export const makeAdmitted = Effect.gen(function* () {
  const auth = yield* Auth
  const authenticated = yield* makeAuthenticated
  return (
    { credential, endpoint, exchange, kind }: KeyRequest,
    handle: ResponseEffect<Caller>,
    admit: Admit
  ): ResponseEffect => {
    const read = authenticated(exchange, credential, kind)
    const as = (principal: Principal) => Effect.provideService(handle, Caller, principal)
    const { moves, scope } = factsOf(endpoint)
    const known =
      endpoint.method === "GET" && moves !== true ? auth.remembered(credential.authorization, kind) : undefined
    if (known === undefined || (scope !== undefined && !allows(known.scopes, scope))) {
      return Effect.flatMap(read, (principal) => Effect.andThen(admit(principal, false), as(principal)))
    }
    const again = Effect.tapError(read, () => Effect.sync(() => auth.forget(known.keyId)))
    return ahead(known, { admit, exchange, read: again, as })
  }
})

/**
 * Counts a request of a principal for an operation, and records the principal in the request's span. Fails when the request exceeds the
 * limit.
 */
const makeAdmit = Effect.map(
  makeCounter,
  ({ count }) =>
    (exchange: Exchange, principal: Principal, endpoint: HttpApiEndpoint.Top): Effect.Effect<void, Failure> => {
      exchange.span?.set({ "svc.account_id": principal.accountId, "svc.key_id": principal.keyId })
      return count(exchange, principal, factsOf(endpoint).limit)
    }
)

/** Makes the access of inference keys, which are in one header or in one of several. */
export const makeByInferenceKey = Effect.gen(function* () {
  const auth = yield* Auth
  const admit = yield* makeAdmit
  const admitted = yield* makeAdmitted
  return (credentialOf: (headers: OperationRequest["headers"]) => Credential): Access<Caller> =>
    ({ endpoint, exchange, headers }, handle) => {
      const credential = credentialOf(headers)
      const goOn: Admit = (principal, counted) => (counted ? Effect.void : admit(exchange, principal, endpoint))
      // The hold of a paid operation checks the key again, so a cached one is sufficient up to there.
      const known =
        factsOf(endpoint).charge === "free" ? undefined : auth.remembered(credential.authorization, "inference")
      return known === undefined
        ? admitted({ exchange, credential, kind: "inference", endpoint }, handle, goOn)
        : Effect.flatMapEager(goOn(known, false), () => Effect.provideService(handle, Caller, known))
    }
})

/** The header with the credential of every operation but Anthropic's. */
export const bearerOf = ({ authorization }: OperationRequest["headers"]): Credential => ({
  authorization,
  header: "authorization"
})

/**
 * Counts a request that needs no key against the default limit: that of its key if it has a valid one of either kind, or else of the
 * client's address. A key that cannot be read now counts as none.
 */
const makeCountOpen = Effect.gen(function* () {
  const auth = yield* Auth
  const { count } = yield* makeCounter
  const tried = yield* makeTried
  const read = (authorization: string): Effect.Effect<Principal, Failure> =>
    Effect.catchIf(
      auth.authenticate(authorization, "inference"),
      ({ reason }) => reason._tag === "WrongKeyKind",
      () => auth.authenticate(authorization, "management")
    )
  const countAs = (exchange: Exchange, principal: Principal) => {
    exchange.terms = principal.terms
    return count(exchange, principal)
  }
  return (exchange: Exchange, authorization: string | undefined): Effect.Effect<void, Failure> => {
    if (authorization === undefined || authorization === "") return count(exchange, undefined)
    const known = auth.remembered(authorization, "inference") ?? auth.remembered(authorization, "management")
    if (known !== undefined) return countAs(exchange, known)
    return Effect.matchEffect(tried(exchange, authorization, read(authorization)), {
      onSuccess: (principal) => countAs(exchange, principal),
      onFailure: (failed) => {
        if (failed.reason._tag === "RateLimitExceeded") return Effect.fail(failed)
        // The attempt with an invalid key has already been counted against the address.
        return failed.reason._tag === "StoreUnavailable" ? count(exchange, undefined) : Effect.void
      }
    })
  }
})

/** The access of operations that need no key. */
export const makeOpenAccess = Effect.map(
  makeCountOpen,
  (count): Access =>
    ({ exchange, headers }, handle) =>
      Effect.andThen(count(exchange, headers["authorization"]), handle)
)
