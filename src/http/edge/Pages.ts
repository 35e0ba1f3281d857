/** Serves everything that is no operation: pages, files, the MCP server, CORS preflights, and requests without a route. */
import { type Cause, Context, Effect, Layer, Option } from "effect"
import {
  HttpEffect,
  type HttpMethod,
  HttpRouter,
  HttpServerError,
  HttpServerRequest,
  HttpServerResponse
} from "effect/http"
import type { IncomingMessage } from "node:http"
import { failure } from "../../domain/Failure.ts"
import { FILES_PATH } from "../../platform/files/Media.ts"
import { areaOf, isIn, isPreflight, METHODS, pathOf, preflight, routedPath } from "./Areas.ts"
import { makeEdge, makeRefuse, type Target } from "./Edge.ts"
import { Exchange } from "./Exchange.ts"
import { API_PREFIX, FILE_ROUTE, knownPaths, MCP_PATH, OPENAPI_PATH, routingFailureOf } from "./KnownPaths.ts"

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

/** Whether a response is the platform's answer to a request that was interrupted by shutdown. */
const isCutOff = ({ body, status }: HttpServerResponse.HttpServerResponse): boolean =>
  status === 503 && body._tag === "Empty"

/** The target of a request: its method, URL, path and area. */
interface PageTarget extends Target {
  readonly url: string
  readonly path: string
}

const targetOf = ({ method, url }: HttpServerRequest.HttpServerRequest): PageTarget => {
  const path = routedPath(url)
  return { method, url, path, area: areaOf(path) }
}

/** Adds the headers of `makeEdge` to every response, and puts every error, including unknown paths, into the one error envelope. */
const Edge = HttpRouter.middleware(
  Effect.map(makeEdge, ({ begin, cutOff, responseHeaders, failed, missingHost, refuse }) => {
    const finish = (target: Target, exchange: Exchange, response: HttpServerResponse.HttpServerResponse) =>
      Effect.map(responseHeaders(target, exchange, response.status), (headers) =>
        HttpServerResponse.setHeaders(response, headers)
      )

    const answer = (target: PageTarget, exchange: Exchange, cause: Cause.Cause<unknown>) => {
      if (!isRouteNotFound(cause)) return failed(exchange, cause)
      const { method, path, url } = target
      const { form = exchange.errors, reason } = routingFailureOf(method, path, pathOf(url))
      exchange.errors = form
      return refuse(exchange, failure(reason))
    }

    return (app) =>
      Effect.withFiber((fiber) => {
        const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
        const { headers, source } = request
        const exchange = begin({ headers, source, peer: () => Option.getOrUndefined(request.remoteAddress) })
        const target = targetOf(request)
        exchange.labels.route = plainRoute(target.path)
        if (exchange.line !== undefined) exchange.line.route = exchange.labels.route
        HttpEffect.appendPreResponseHandlerUnsafe(fiber.context, (_, response) =>
          isCutOff(response) ? finish(target, exchange, cutOff(exchange)) : Effect.succeed(response)
        )
        if (target.area.preflight && isPreflight(request)) return finish(target, exchange, preflight)
        const served =
          missingHost(source as IncomingMessage, exchange) ?? Effect.provideService(app, Exchange, exchange)
        return Effect.matchCauseEffect(served, {
          onFailure: (cause) => {
            const answered = answer(target, exchange, cause)
            return answered === undefined
              ? Effect.failCause(cause)
              : Effect.flatMap(answered, (response) => finish(target, exchange, response))
          },
          onSuccess: (response) => finish(target, exchange, response)
        })
      })
  }),
  { global: true }
)

/** Answers 405 for a known path with another method, before routes for whole path prefixes apply. */
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

/** The edge around routes that are no operations. */
export const layer = Layer.mergeAll(Fallbacks, Edge)
