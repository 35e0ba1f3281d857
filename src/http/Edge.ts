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
import { Failure, failure, invalid, type Reason } from "../domain/Failure.ts"
import type { PresetUse } from "../inference/Request.ts"
import { newRequestId } from "../platform/Ids.ts"
import { Config } from "../platform/Config.ts"
import { FILES_PATH } from "../platform/Media.ts"
import { headers as limitHeaders, headersOfUncounted } from "../ratelimit/Headers.ts"
import { subjectOf } from "../ratelimit/Limits.ts"
import { RateLimiter } from "../ratelimit/RateLimiter.ts"
import { lineOf } from "./AccessLog.ts"
import { cameByHttps, clientAddress } from "./Address.ts"
import { bodyFailure } from "./Body.ts"
import { WrittenBody } from "./EventStream.ts"
import { Exchange } from "./Exchange.ts"
import { logged, respond } from "./Failures.ts"
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

/** Pages may read parts of files and tell them apart. */
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

/** What all answers to requests below a path have in common. */
interface Area {
  readonly headers: Readonly<Record<string, string>>
  /** Pages of any origin may ask before they send. */
  readonly preflight: boolean
  /** A write that failed is not tried again by clients on their own. */
  readonly writesOnce: boolean
}

/** What an account is and has is kept by no cache on the way, and neither is what went wrong. */
const notKept = { "cache-control": "no-store" }

/** The first that a path is in, or below, is its own. */
const areas: ReadonlyArray<readonly [prefix: string, Area]> = [
  // The cookie is for pages of this service alone: no page of another site may read an answer, or ask whether it may.
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
 * The path of a request as the router reads it, who takes many spellings for one: without an origin that is no URL, decoded but for
 * what has a meaning in a path, and with single slashes.
 */
export const routedPath = (url: string): string => {
  const target = url.startsWith("/") ? url : url.replace(/^https?:\/\/.*?\//, "/")
  const path = target.split(/[?;#]/, 1)[0] ?? target
  const plain = path.includes("%") ? decoded(path) : path
  return plain.includes("//") ? plain.replace(/\/{2,}/g, "/") : plain
}

/** What is asked for. */
export interface Asked {
  readonly method: string
  readonly url: string
  readonly path: string
  readonly area: Area
}

/** What a request asks for. */
export const askedOf = ({ method, url }: Pick<HttpServerRequest.HttpServerRequest, "method" | "url">): Asked => {
  const path = routedPath(url)
  return { method, url, path, area: areaOf(path) }
}

const READS = new Set(["GET", "HEAD"])

/** HTTP/1.1 requires the header, HTTP/1.0 does not know it. */
const lacksHost = ({ headers, httpVersion }: IncomingMessage): boolean =>
  headers.host === undefined && httpVersion === "1.1"

const hostless = invalid("Host", "HTTP/1.1 requires this header")

const notRepeated = { "x-should-retry": "false" }

/** Where the documentation is. */
const DOCS_PATH = "/docs"

/** Routes beside the operations that have no names in them. */
const PLAIN_ROUTES: ReadonlySet<string> = new Set([
  "/",
  API_PREFIX,
  OPENAPI_PATH,
  MCP_PATH,
  "/llms.txt",
  "/llms-full.txt"
])

/** The route of what no operation of the API serves; undefined for every other path. */
const plainRoute = (path: string): string | undefined => {
  if (PLAIN_ROUTES.has(path)) return path
  if (isIn(path, FILES_PATH)) return FILE_ROUTE
  return isIn(path, DOCS_PATH) ? `${DOCS_PATH}/*` : undefined
}

/** What the API never answers to; a HEAD goes where its GET goes. */
const REFUSED = [...METHODS, "OPTIONS"] as const satisfies ReadonlyArray<HttpMethod.HttpMethod>

const isRouteNotFound = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some(
    (reason) =>
      reason._tag === "Fail" &&
      HttpServerError.isHttpServerError(reason.error) &&
      reason.error.reason._tag === "RouteNotFound"
  )

/** Answers a request that no operation counted: it is counted against the client's address. */
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

/** The failure behind a cause; undefined when there is none, as for an interruption by the client's leaving. */
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

/** Told to whoever still waits when the time of a stop is over. */
const stopping: Reason = {
  _tag: "ServiceUnavailable",
  detail: "The service is stopping; try again",
  retryAfterSeconds: 1
}

/** The platform's answer to a request that it cut off by a stop. */
const isCutOff = ({ body, status }: HttpServerResponse.HttpServerResponse): boolean =>
  status === 503 && body._tag === "Empty"

/** Such an answer writes itself when it has all its headers; the server finds it written. */
const written = (
  request: HttpServerRequest.HttpServerRequest,
  response: HttpServerResponse.HttpServerResponse
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const { body, headers, status } = response
  if (body._tag !== "Raw" || !(body.body instanceof WrittenBody)) return Effect.succeed(response)
  const node = NodeHttpServerRequest.toServerResponse(request) as ServerResponse
  return Effect.as(body.body.writeTo(node, status, headers), response)
}

/** What of a request its exchange is made from. */
export interface Coming {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly source: object
  readonly peer: () => string | undefined
}

/** What the edge does for a request, however it is served. */
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
    // Where clients of Anthropic's look for it.
    ...(errors === "messages" ? { "request-id": requestId } : none),
    ...(area.writesOnce && status >= 400 && !READS.has(method) ? notRepeated : none),
    // Says otherwise of what was refused for its number, and so not begun.
    ...limits,
    ...sandbox,
    ...(preset === undefined ? none : presetHeaders(preset)),
    ...area.headers
  })

  return {
    refuse,

    /** Its exchange, with a new id. */
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

    /** The headers that its response has beside its own. */
    dress: (asked: Asked, exchange: Exchange, status: number): Effect.Effect<Readonly<Record<string, string>>> =>
      exchange.verdict === undefined
        ? Effect.map(
            limiter.peek("default", subjectOf("default", undefined, exchange.address()), config.rateLimitScale),
            (verdict) => headersOf(asked, exchange, headersOfUncounted(verdict), status)
          )
        : Effect.succeed(headersOf(asked, exchange, limitHeaders(exchange.verdict), status)),

    /** Its response where it has failed; undefined where its client has left. */
    answer: ({ method, path, url }: Asked, exchange: Exchange, cause: Cause.Cause<unknown>) => {
      if (isRouteNotFound(cause)) {
        const { form = exchange.errors, reason } = unrouted(method, path, pathOf(url))
        exchange.errors = form
        return refuse(exchange, failure(reason))
      }
      const failed = failureOf(cause)
      return failed === undefined ? undefined : Effect.as(logged(failed, exchange), respond(failed, exchange))
    },

    /** Its response where the service stops before it has another. */
    cutOff: (exchange: Exchange): HttpServerResponse.HttpServerResponse => respond(failure(stopping), exchange)
  }
})

/**
 * Around every request: its id, its place in the rate limits, CORS, and the one error envelope for whatever goes wrong inside,
 * or is not there at all.
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

/** A known path under another method is answered 405, before any route for whole trees of paths; all else is left to the edge. */
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
