import { Context, Effect, Layer, type Scope } from "effect"
import type { HttpServer } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import type { IncomingMessage, RequestListener, Server as NodeServer, ServerResponse } from "node:http"
import { Api } from "../../../schemas/Api.ts"

/**
 * The HTTP server keeps the context in which it was built, and copies all of it several times per request. Services of the rooms are
 * taken when layers are built and never looked up by a request, so the request context need not contain them.
 */
const without = <A>(context: Context.Context<A>, isDropped: (key: string) => boolean): Context.Context<A> =>
  Context.makeUnsafe(new Map([...context.mapUnsafe].filter(([key]) => !isDropped(key))))

/** Services of rooms have keys such as `tollgate/ledger/Ledger`. What the edge provides to requests has keys under `tollgate/http`. */
const isOfRoom = (key: string): boolean => /^tollgate\/((?!http\/)[^/]+\/|http\/Ops$)/.test(key)

/** Services from which the database client, the platform and the server were built. */
const isOfPlatform = (key: string): boolean =>
  /^[@~]effect\/|^effect\/(FileSystem|Layer|Path|Terminal|process|sql|http\/(Etag|HttpPlatform|HttpServer))(\/|$)/.test(
    key
  )

/** Keys of the middleware that operations of a group declare. */
const middlewareOf = (group: keyof typeof Api.groups): ReadonlySet<string> => {
  const endpoints: ReadonlyArray<HttpApiEndpoint.Top> = Object.values(Api.groups[group].endpoints)
  return new Set(endpoints.flatMap(({ middlewares }) => [...middlewares].map(({ key }) => key)))
}

/** The same handlers without the services they were built from. Requests look up only the middleware of their group. */
export const leanHandlers = <A, E, R>(
  group: keyof typeof Api.groups,
  handlers: Layer.Layer<A, E, R>
): Layer.Layer<A, E, R> => {
  const kept = middlewareOf(group)
  return Layer.fromBuild((memoMap, scope) =>
    Effect.updateContext(Layer.buildWithMemoMap(handlers, memoMap, scope), (context: Context.Context<R>) =>
      without(context, (key) => !kept.has(key))
    )
  )
}

/** The context of requests: without the services of the rooms and those they were built from. */
export const leanContext = <A>(context: Context.Context<A>): Context.Context<A> =>
  without(context, (key) => isOfRoom(key) || isOfPlatform(key))

type Server = HttpServer.HttpServer["Service"]

/** Serves a request directly; returns false to leave it to the platform's path. */
export type Direct = (request: IncomingMessage, response: ServerResponse) => boolean

/**
 * Serves requests: those that were kept first, then each as it arrives. `direct` takes what it can by itself, and the platform's
 * listener has the others.
 */
const serveAll = <R>(
  node: NodeServer,
  { direct, early }: Serving,
  serving: Effect.Effect<void, never, R>
): Effect.Effect<void, never, R | Scope.Scope> =>
  Effect.gen(function* () {
    let listener: RequestListener = () => undefined
    // Added before serving starts, so that it is removed after serving has ended: while shutdown waits for running requests, others
    // arrive over their connections.
    yield* Effect.addFinalizer(() => Effect.sync(() => node.off("request", listener)))
    yield* serving
    const platform = node.listeners("request").at(-1) as RequestListener
    listener = (request, response) => {
      if (direct?.(request, response) !== true) platform(request, response)
    }
    node.off("request", platform)
    node.on("request", listener)
    early(listener)
  })

/** What serves requests beside the platform. */
export interface Serving {
  readonly direct: Direct | undefined
  /** Gives the requests that arrived before the serving began to a listener. */
  readonly early: (listener: RequestListener) => void
}

/** The same server with lean request contexts, and with direct requests. */
export const leanServer = (server: Server, node: NodeServer, beside: Serving): Server => ({
  address: server.address,
  serve: ((app: never, middleware: never) =>
    serveAll(
      node,
      beside,
      Effect.updateContext(server.serve(app, middleware), leanContext<unknown>)
    )) as Server["serve"]
})
