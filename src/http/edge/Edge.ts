import { NodeHttpServerRequest } from "@effect/platform-node"
import { Cause, Context, Effect, Layer, Option } from "effect"
import {
  HttpEffect,
  type HttpMethod,
  HttpRouter,
  HttpServerError,
  HttpServerRequest,
  HttpServerResponse
} from "effect/http"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Failure, failure, invalid, type Reason } from "../../domain/Failure.ts"
import type { PresetUse } from "../../domain/Answer.ts"
import { newRequestId } from "../../platform/Ids.ts"
import { Config } from "../../platform/config/Config.ts"
import { FILES_PATH } from "../../platform/files/Media.ts"
import { headers as limitHeaders, headersOfUncounted } from "../../ratelimit/Headers.ts"
import { subjectOf } from "../../ratelimit/Limits.ts"
import { RateLimiter } from "../../ratelimit/RateLimiter.ts"
import { lineOf } from "./AccessLog.ts"
import { cameByHttps, clientAddress } from "./Address.ts"
import { bodyFailure } from "./Body.ts"
import { WrittenBody } from "./EventStream.ts"
import { Exchange } from "./Exchange.ts"
import { logged, respond } from "../Failures.ts"
import { API_PREFIX, FILE_ROUTE, knownPaths, MCP_PATH, OPENAPI_PATH, unrouted } from "./KnownPaths.ts"
import { spanOf } from "./Observed.ts"

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const satisfies ReadonlyArray<HttpMethod.HttpMethod>

const EXPOSED = [
  "X-Request-ID",
  "Request-ID",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "Retry-After-Ms",
  "X-Should-Retry",
  "Idempotency-Replayed",
  "X-Svc-Sandbox",
  "X-Svc-Ignored-Parameters",
  "X-Svc-Cache-Status",
  "X-Balance-Warning",
  "X-Cost-USD",
  "X-Svc-Preset",
  "X-Svc-Preset-Version",
  "X-Audit-Status"
].join(", ")

const cors = { "access-control-allow-origin": "*", "access-control-expose-headers": EXPOSED }

/** Pages of other origins may request ranges of files and use conditional requests. */
const filesCors = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "X-Request-ID, Accept-Ranges, Content-Length, Content-Range, ETag"
}

const none: Record<string, string> = {}

const presetHeaders = ({ slug, version }: PresetUse): Record<string, string> => ({
  "x-svc-preset": slug,
  "x-svc-preset-version": String(version)
})

const preflight = HttpServerResponse.empty({
  status: 204,
  headers: {
    "access-control-allow-methods": [...METHODS, "OPTIONS"].join(", "),
    "access-control-allow-headers": "*, Authorization",
    "access-control-max-age": "86400"
  }
})

const isPreflight = (request: HttpServerRequest.HttpServerRequest): boolean =>
  request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined

/** What all responses under a path prefix have in common. */
interface Area {
  readonly headers: Readonly<Record<string, string>>
  /** Whether pages of any origin may send a CORS preflight. */
  readonly preflight: boolean
  /** Whether clients must not retry a failed write automatically. */
  readonly writesOnce: boolean
}

/** No cache may store an account's data or its errors. */
const notKept = { "cache-control": "no-store" }

/** The first prefix that matches a path applies. */
const areas: ReadonlyArray<readonly [prefix: string, Area]> = [
  // The cookie is only for pages of this service: no page of another site may read a response, or send a preflight.
  [`${API_PREFIX}/console`, { headers: notKept, preflight: false, writesOnce: true }],
  [`${API_PREFIX}/management`, { headers: { ...notKept, ...cors }, preflight: true, writesOnce: true }],
  [`${API_PREFIX}/payments`, { headers: { ...notKept, ...cors }, preflight: true, writesOnce: false }],
  [API_PREFIX, { headers: cors, preflight: true, writesOnce: false }],
  [FILES_PATH, { headers: filesCors, preflight: true, writesOnce: false }]
]

const elsewhere: Area = { headers: none, preflight: false, writesOnce: false }

const isIn = (path: string, prefix: string): boolean =>
  path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === "/")

const areaOf = (path: string): Area => areas.find(([prefix]) => isIn(path, prefix))?.[1] ?? elsewhere

const pathOf = (url: string): string => url.split("?", 1)[0] ?? url

const decoded = (path: string): string => {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/**
 * The path of a request in the form that the router uses, which accepts several spellings of a path. URLs without an origin are
 * resolved, escapes are decoded except where a character has a meaning in paths, and double slashes become single ones.
 */
export const routedPath = (url: string): string => {
  const target = url.startsWith("/") ? url : url.replace(/^https?:\/\/.*?\//, "/")
  const path = target.split(/[?;#]/, 1)[0] ?? target
  const plain = path.includes("%") ? decoded(path) : path
  return plain.includes("//") ? plain.replace(/\/{2,}/g, "/") : plain
}

/** The method, URL and path of a request. */
export interface Asked {
  readonly method: string
  readonly url: string
  readonly path: string
  readonly area: Area
}

/** Reads the method, URL and path of a request. */
export const askedOf = ({ method, url }: Pick<HttpServerRequest.HttpServerRequest, "method" | "url">): Asked => {
  const path = routedPath(url)
  return { method, url, path, area: areaOf(path) }
}

const READS = new Set(["GET", "HEAD"])

/** HTTP/1.1 requires the `Host` header. HTTP/1.0 does not have it. */
const lacksHost = ({ headers, httpVersion }: IncomingMessage): boolean =>
  headers.host === undefined && httpVersion === "1.1"

const hostless = invalid("Host", "is required in HTTP/1.1")

const notRepeated = { "x-should-retry": "false" }

/** The path of the documentation. */
const DOCS_PATH = "/docs"

/** Routes without parameters besides the operations. */
const PLAIN_ROUTES: ReadonlySet<string> = new Set([
  "/",
  API_PREFIX,
  OPENAPI_PATH,
  MCP_PATH,
  "/llms.txt",
  "/llms-full.txt"
])

/** The route of a path that no operation of the API serves; undefined for every other path. */
const plainRoute = (path: string): string | undefined => {
  if (PLAIN_ROUTES.has(path)) return path
  if (isIn(path, FILES_PATH)) return FILE_ROUTE
  return isIn(path, DOCS_PATH) ? `${DOCS_PATH}/*` : undefined
}

/** Methods that the API never serves. A HEAD request takes the route of GET. */
const REFUSED = [...METHODS, "OPTIONS"] as const satisfies ReadonlyArray<HttpMethod.HttpMethod>

const isRouteNotFound = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some(
    (reason) =>
      reason._tag === "Fail" &&
      HttpServerError.isHttpServerError(reason.error) &&
      reason.error.reason._tag === "RouteNotFound"
  )

/** Answers a request that no operation has counted. It is counted against the client's address. */
export const makeRefuse = Effect.gen(function* () {
  const config = yield* Config
  const limiter = yield* RateLimiter
  return (exchange: Exchange, failed: Failure): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
    Effect.map(
      limiter.consume("default", subjectOf("default", undefined, exchange.address()), config.rateLimitScale),
      (verdict) => {
        exchange.verdict = verdict
        if (verdict.admitted) return respond(failed, exchange)
        const { limit, retryAfterSeconds = verdict.resetSeconds } = verdict
        return respond(failure({ _tag: "RateLimitExceeded", limit, retryAfterSeconds }), exchange)
      }
    )
})

/** The failure behind a cause. Undefined when there is none, for example when the client disconnected. */
const failureOf = (cause: Cause.Cause<unknown>): Failure | undefined => {
  for (const reason of cause.reasons) {
    if (reason._tag === "Interrupt") continue
    const error = reason._tag === "Fail" ? reason.error : reason.defect
    if (error instanceof Failure) return error
    const ofBody = bodyFailure(error)
    if (ofBody !== undefined) return ofBody
  }
  return Cause.hasInterrupts(cause) ? undefined : failure({ _tag: "InternalError" }, cause)
}

const isWritten = ({ body }: HttpServerResponse.HttpServerResponse): boolean =>
  body._tag === "Raw" && body.body instanceof WrittenBody

/** The answer to requests that are still waiting when the shutdown grace period ends. */
const stopping: Reason = {
  _tag: "ServiceUnavailable",
  detail: "The service is stopping; try again",
  retryAfterSeconds: 1
}

/** Whether a response is the platform's answer to a request that was interrupted by shutdown. */
const isCutOff = ({ body, status }: HttpServerResponse.HttpServerResponse): boolean =>
  status === 503 && body._tag === "Empty"

/** A written body writes itself once it has all its headers, so the server must not write it again. */
const written = (
  request: HttpServerRequest.HttpServerRequest,
  response: HttpServerResponse.HttpServerResponse
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const { body, headers, status } = response
  if (body._tag !== "Raw" || !(body.body instanceof WrittenBody)) return Effect.succeed(response)
  const node = NodeHttpServerRequest.toServerResponse(request) as ServerResponse
  return Effect.as(body.body.writeTo(node, status, headers), response)
}

/** The parts of a request from which its exchange is made. */
export interface Coming {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly source: object
  readonly peer: () => string | undefined
}

/** The edge's work for a request, on every path by which it is served. */
export const makeEdge = Effect.gen(function* () {
  const config = yield* Config
  const limiter = yield* RateLimiter
  const refuse = yield* makeRefuse
  const sandbox: Record<string, string> = config.sandbox ? { "x-svc-sandbox": "true" } : {}

  const headersOf = (
    { area, method }: Asked,
    { errors, preset, requestId }: Exchange,
    limits: Readonly<Record<string, string>>,
    status: number
  ): Readonly<Record<string, string>> => ({
    "x-request-id": requestId,
    // The header that Anthropic's clients read.
    ...(errors === "messages" ? { "request-id": requestId } : none),
    ...(area.writesOnce && status >= 400 && !READS.has(method) ? notRepeated : none),
    // A request that was rejected for its rate limit never started, so these override the headers above.
    ...limits,
    ...sandbox,
    ...(preset === undefined ? none : presetHeaders(preset)),
    ...area.headers
  })

  return {
    refuse,

    /** Creates the exchange with a new id. */
    begin: ({ headers, peer, source }: Coming): Exchange => {
      const { trustedProxies } = config.http
      const exchange: Exchange = {
        requestId: newRequestId(),
        arrivedAt: performance.now(),
        address: () => clientAddress(peer(), headers["x-forwarded-for"], trustedProxies),
        byHttps: () => cameByHttps(peer(), headers["x-forwarded-proto"], trustedProxies),
        verdict: undefined,
        preset: undefined,
        errors: "standard",
        span: spanOf(source),
        line: lineOf(source)
      }
      if (exchange.line !== undefined) exchange.line.requestId = exchange.requestId
      exchange.span?.set({ "svc.request_id": exchange.requestId })
      return exchange
    },

    /** The headers that the edge adds to a response. */
    dress: (asked: Asked, exchange: Exchange, status: number): Effect.Effect<Readonly<Record<string, string>>> =>
      exchange.verdict === undefined
        ? Effect.map(
            limiter.peek("default", subjectOf("default", undefined, exchange.address()), config.rateLimitScale),
            (verdict) => headersOf(asked, exchange, headersOfUncounted(verdict), status)
          )
        : Effect.succeed(headersOf(asked, exchange, limitHeaders(exchange.verdict), status)),

    /** The response to a failed request; undefined when its client has disconnected. */
    answer: ({ method, path, url }: Asked, exchange: Exchange, cause: Cause.Cause<unknown>) => {
      if (isRouteNotFound(cause)) {
        const { form = exchange.errors, reason } = unrouted(method, path, pathOf(url))
        exchange.errors = form
        return refuse(exchange, failure(reason))
      }
      const failed = failureOf(cause)
      return failed === undefined ? undefined : Effect.as(logged(failed, exchange), respond(failed, exchange))
    },

    /** The response when the service stops before the request has another. */
    cutOff: (exchange: Exchange): HttpServerResponse.HttpServerResponse => respond(failure(stopping), exchange)
  }
})

/**
 * Wraps every request: adds its id, its rate limit headers and CORS, and puts every error, including unknown paths, into the one error
 * envelope.
 */
const Edge = HttpRouter.middleware(
  Effect.map(makeEdge, ({ answer, begin, cutOff, dress, refuse }) => {
    const finish = (asked: Asked, exchange: Exchange, response: HttpServerResponse.HttpServerResponse) =>
      Effect.map(dress(asked, exchange, response.status), (headers) => HttpServerResponse.setHeaders(response, headers))
    return (app) =>
      Effect.withFiber((fiber) => {
        const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
        const { headers, source } = request
        const exchange = begin({ headers, source, peer: () => Option.getOrUndefined(request.remoteAddress) })
        const asked = askedOf(request)
        if (exchange.line !== undefined) exchange.line.route = plainRoute(asked.path)
        HttpEffect.appendPreResponseHandlerUnsafe(fiber.context, (_, response) =>
          isCutOff(response) ? finish(asked, exchange, cutOff(exchange)) : Effect.succeed(response)
        )
        if (asked.area.preflight && isPreflight(request)) return finish(asked, exchange, preflight)
        if (lacksHost(source as IncomingMessage)) {
          return Effect.flatMap(refuse(exchange, hostless), (response) => finish(asked, exchange, response))
        }
        return Effect.matchCauseEffect(Effect.provideService(app, Exchange, exchange), {
          onFailure: (cause) => {
            const answered = answer(asked, exchange, cause)
            return answered === undefined
              ? Effect.failCause(cause)
              : Effect.flatMap(answered, (response) => finish(asked, exchange, response))
          },
          onSuccess: (response) => {
            const finished = finish(asked, exchange, response)
            return isWritten(response) ? Effect.flatMap(finished, (dressed) => written(request, dressed)) : finished
          }
        })
      })
  }),
  { global: true }
)

/** Answers 405 for a known path with another method, before routes for whole path prefixes apply. The edge handles everything else. */
const Fallbacks = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const refuse = yield* makeRefuse
    for (const { allowed, form, methods, path } of knownPaths) {
      for (const method of REFUSED) {
        if (methods.has(method)) continue
        yield* router.add(
          method,
          path as HttpRouter.PathInput,
          Effect.gen(function* () {
            const request = yield* HttpServerRequest.HttpServerRequest
            const exchange = yield* Exchange
            exchange.errors = form
            if (exchange.line !== undefined) exchange.line.route = path
            return yield* refuse(exchange, failure({ _tag: "MethodNotAllowed", method: request.method, allowed }))
          })
        )
      }
    }
  })
)

export const layer = Layer.mergeAll(Fallbacks, Edge)
