import { Context, Effect, Layer } from "effect"
import type { HttpServer } from "effect/http"

/**
 * Whatever serves requests keeps the context it was built in and copies all of it for every one of them, several times. Services
 * of the rooms are taken when layers are built, never looked up by a request, so they need not be there.
 */
const without = <A>(context: Context.Context<A>, isDropped: (key: string) => boolean): Context.Context<A> =>
  Context.makeUnsafe(new Map([...context.mapUnsafe].filter(([key]) => !isDropped(key))))

/** Services of rooms have keys such as `tollgate/ledger/Ledger`; what is declared by the contract has none. */
const isOfRoom = (key: string): boolean => /^tollgate\/(?!http\/)[^/]+\//.test(key)

const isOfContract = (key: string): boolean => /^tollgate\/[^/]+$/.test(key)

/** The same handlers, without the services they were made from: all that is looked up later is their middleware. */
export const leanHandlers = <A, E, R>(handlers: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
  Layer.fromBuild((memoMap, scope) =>
    Effect.updateContext(Layer.buildWithMemoMap(handlers, memoMap, scope), (context: Context.Context<R>) =>
      without(context, (key) => !isOfContract(key))
    )
  )

type Server = HttpServer.HttpServer["Service"]

/** The same server, whose requests start without the services of the rooms. */
export const leanServer = (server: Server): Server => ({
  address: server.address,
  serve: ((app: never, middleware: never) =>
    Effect.updateContext(server.serve(app, middleware), (context: Context.Context<unknown>) =>
      without(context, isOfRoom)
    )) as Server["serve"]
})
