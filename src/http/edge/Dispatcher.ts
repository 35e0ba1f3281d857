/** The one way in for operations: begin, check the credential, handle, and add the response headers. */
import { Cause, Context, Effect, Exit, Fiber, Scope } from "effect"
import { HttpServerError, type HttpServerResponse } from "effect/http"
import type { IncomingMessage, ServerResponse } from "node:http"
import { ActiveSet } from "../../platform/ActiveSet.ts"
import { labelRequest } from "./Access.ts"
import { makeAccessOf } from "./AccessOf.ts"
import { type ApiRequest, apiRequest } from "./ApiRequest.ts"
import { areaOf } from "./Areas.ts"
import { makeEdge } from "./Edge.ts"
import { Exchange } from "./Exchange.ts"
import { requestContext } from "./Listener.ts"
import { type AllHandlers, routesOf } from "./Operations.ts"
import { send } from "./Send.ts"

/** A response that has started cannot report an error any more. */
const giveUp = (response: ServerResponse, cause: Cause.Cause<unknown>): void => {
  if (response.headersSent) response.destroy()
  else response.writeHead(Cause.hasInterruptsOnly(cause) ? 503 : 500).end()
}

/** Serves a request; returns false if it is for no operation. */
export type Dispatch = (source: IncomingMessage, response: ServerResponse) => boolean

/**
 * Serves every operation of `Api` from Node's requests, with these handlers. A framework's way to a handler is general: it creates a
 * request, a scope and a context for each step, and that took a fifth of a request's processor time. Requests are interrupted when
 * their client disconnects, and the remaining ones when the scope closes.
 */
export const makeDispatcher = Effect.fnUntraced(function* (handlers: AllHandlers) {
  const edge = yield* makeEdge
  const accessOf = yield* makeAccessOf
  const find = routesOf(handlers)
  const context = requestContext(yield* Effect.context())
  const fibers = new ActiveSet<Fiber.Fiber<void, unknown>>()
  let isClosed = false
  yield* Effect.addFinalizer(() => {
    isClosed = true
    return Fiber.interruptAll(fibers.members)
  })

  const served = (exchange: Exchange, request: ApiRequest, { found, route }: NonNullable<ReturnType<typeof find>>) => {
    const { endpoint, form, handle } = route
    exchange.errors = form
    labelRequest(exchange, endpoint)
    return (
      edge.missingHost(request.source, exchange) ??
      accessOf(endpoint)({ exchange, headers: request.headers, endpoint }, handle(request, exchange, found))
    )
  }

  /** Serves a request to the end of its response. Only the part before the response can be interrupted. */
  const work = (request: ApiRequest, to: NonNullable<ReturnType<typeof find>>, scope: Scope.Scope) => {
    const { headers, method, response, source } = request
    const exchange = edge.begin({ headers, source, peer: () => source.socket.remoteAddress })
    const target = { method, area: areaOf(to.route.endpoint.path) }
    const finished = (answer: HttpServerResponse.HttpServerResponse) =>
      Effect.flatMapEager(edge.responseHeaders(target, exchange, answer.status), (more) => send(request, answer, more))
    const answered = Effect.matchCauseEffect(
      Effect.interruptible(Effect.suspend(() => served(exchange, request, to))),
      {
        onSuccess: finished,
        onFailure: (cause) => {
          const answer = edge.failed(exchange, cause)
          if (answer !== undefined) return Effect.flatMap(answer, finished)
          // The client is still connected, so the service is stopping.
          return response.destroyed ? Effect.failCause(cause) : finished(edge.cutOff(exchange))
        }
      }
    )
    const own = Context.add(Context.add(context, Exchange, exchange), Scope.Scope, scope)
    return Effect.runForkWith(own)(Effect.uninterruptible(answered))
  }

  const dispatch: Dispatch = (source, response) => {
    if (isClosed) return false
    const request = apiRequest(source, response)
    const to = find(request.method, request.url)
    if (to === undefined) return false
    const scope = Scope.makeUnsafe()
    const fiber = work(request, to, scope)
    const entry = fibers.add(fiber)
    fiber.addObserver((exit) => {
      fibers.remove(entry)
      const closing = Scope.closeUnsafe(scope, exit)
      if (closing !== undefined) Effect.runForkWith(context)(closing)
      if (Exit.isFailure(exit) && !response.destroyed) giveUp(response, exit.cause)
    })
    response.on("close", () => {
      if (!response.writableEnded) fiber.interruptUnsafe(undefined, HttpServerError.ClientAbort.annotation)
    })
    return true
  }
  return dispatch
})
