/** Gives each request of the server to the dispatcher or, if it is for no operation, to the platform's router. */
import { Context, Effect, Logger, References, Scope } from "effect"
import { HttpIncomingMessage, type HttpServer } from "effect/http"
import type { IncomingMessage, RequestListener, Server as NodeServer, ServerResponse } from "node:http"
import { KeepAliveInterval } from "../../inference/Pipe.ts"
import { StatementTimeout } from "../../platform/database/StatementTimeout.ts"
import { awaitsContinue } from "./ApiRequest.ts"
import { NodeBodyBudget } from "./BodyBudget.ts"

/** Every service that a request looks up while it runs. Handlers took all others when they were made. */
const LOOKED_UP = [
  Logger.CurrentLoggers,
  References.MinimumLogLevel,
  References.LogToStderr,
  References.TracerEnabled,
  HttpIncomingMessage.MaxBodySize,
  KeepAliveInterval,
  NodeBodyBudget,
  // Of the server; the dispatcher and the platform replace it.
  Scope.Scope,
  StatementTimeout
] as const

/**
 * The context of requests. It is small because the platform copies it several times per request.
 */
export const requestContext = <A>(context: Context.Context<A>): Context.Context<A> =>
  Context.pick(...LOOKED_UP)(context) as Context.Context<A>

/**
 * Keeps the requests of a server until it serves them; Node would leave each without a response for ever. Call it before the server
 * listens. The function that it returns gives the queued requests to a listener, in the order in which they arrived, and stops
 * queueing. A request is dropped when its client has closed the connection meanwhile.
 */
export const keepEarly = (server: NodeServer): ((listener: RequestListener) => void) => {
  const queued: Array<readonly [IncomingMessage, ServerResponse]> = []
  const keep: RequestListener = (request, response) => void queued.push([request, response])
  server.on("request", keep)
  return (listener) => {
    server.off("request", keep)
    for (const [request, response] of queued.splice(0)) if (!response.destroyed) listener(request, response)
  }
}

/** What serves requests besides the platform's router. */
export interface ServingOptions {
  readonly dispatch: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined
  /** Gives the requests that arrived before the serving began to a listener. */
  readonly early: (listener: RequestListener) => void
}

type Event = "request" | "checkContinue"

/** Puts a listener before the platform's, which it leaves the rest to. Returns the new one. */
const before = (node: NodeServer, event: Event, dispatch: NonNullable<ServingOptions["dispatch"]>): RequestListener => {
  const platform = node.listeners(event).at(-1) as RequestListener
  const listener: RequestListener = (request, response) => {
    if (!dispatch(request, response)) platform(request, response)
  }
  node.off(event, platform)
  node.on(event, listener)
  return listener
}

const serveAll = <R>(
  node: NodeServer,
  { dispatch = () => false, early }: ServingOptions,
  serving: Effect.Effect<void, never, R>
): Effect.Effect<void, never, R | Scope.Scope> =>
  Effect.gen(function* () {
    let listener: RequestListener = () => undefined
    let waiting: RequestListener = () => undefined
    // Added before serving starts, so that it is removed after serving has ended: while shutdown waits for running requests, others
    // arrive over their connections.
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        node.off("request", listener)
        node.off("checkContinue", waiting)
      })
    )
    yield* serving
    listener = before(node, "request", dispatch)
    waiting = before(node, "checkContinue", (request, response) => {
      awaitsContinue(request)
      return dispatch(request, response)
    })
    early(listener)
  })

type Server = HttpServer.HttpServer["Service"]

/** Returns the server with small request contexts. It gives each request to the dispatcher first. */
export const withDispatcher = (server: Server, node: NodeServer, serving: ServingOptions): Server => ({
  address: server.address,
  serve: ((app: never, middleware: never) =>
    serveAll(node, serving, Effect.updateContext(server.serve(app, middleware), requestContext))) as Server["serve"]
})
