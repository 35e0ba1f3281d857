import { Context, Effect, Layer, Scope } from "effect"
import { Pool } from "undici"
import type { OutboundError, OutboundRequest, OutboundResponse, OutboundStream } from "./OutboundCall.ts"
import { WholeExchange } from "./OutboundExchange.ts"
import { StreamExchange } from "./OutboundStreamExchange.ts"

export interface OutboundOptions {
  /**
   * The maximum number of connections to one origin. Each carries one call at a time. Further calls wait, and their connect clock runs.
   */
  readonly connectionsPerOrigin: number
  /** How long an unused connection is kept, unless the server asks for less. */
  readonly keepAliveMs: number
  /** The time after which a connect attempt that no call waits for ends by itself; 10 seconds when absent. */
  readonly connectMs?: number | undefined
}

const CONNECT_MS = 10_000

/**
 * HTTP calls to providers, directly on connection pools: no redirects, no retries, no decompression, no trace headers. Origins come
 * from the configuration, never from a caller. Any status is a success. Interrupting a call, or closing the scope of a stream, drops
 * its connection at once.
 */
export class Outbound extends Context.Service<
  Outbound,
  {
    readonly send: (request: OutboundRequest) => Effect.Effect<OutboundResponse, OutboundError>
    readonly open: (request: OutboundRequest) => Effect.Effect<OutboundStream, OutboundError, Scope.Scope>
  }
>()("tollgate/platform/Outbound") {
  static readonly layerWith = (options: OutboundOptions) =>
    Layer.effect(
      Outbound,
      Effect.gen(function* () {
        const pools = new Map<string, Pool>()
        yield* Effect.addFinalizer(() => Effect.promise(() => Promise.all([...pools.values()].map((_) => _.destroy()))))
        const poolOf = (origin: string): Pool => {
          let pool = pools.get(origin)
          if (pool === undefined) pools.set(origin, (pool = makePool(origin, options)))
          return pool
        }
        return Outbound.of({
          send: (request) =>
            Effect.callback<OutboundResponse, OutboundError>((resume) => {
              const exchange = new WholeExchange(request, resume)
              exchange.dispatch(poolOf(request.origin))
              return Effect.sync(() => exchange.drop())
            }),
          open: (request) =>
            Effect.suspend(() => {
              const exchange = new StreamExchange(request)
              // Unlike `Effect.addFinalizer`, this finalizer does not keep and restore the context in which it was added.
              return Effect.andThen(
                Effect.flatMap(Effect.scope, (scope) =>
                  Scope.addFinalizer(
                    scope,
                    Effect.sync(() => exchange.close())
                  )
                ),
                Effect.callback<OutboundStream, OutboundError>((resume) => {
                  exchange.onOpen(resume)
                  exchange.dispatch(poolOf(request.origin))
                  return Effect.sync(() => exchange.drop())
                })
              )
            })
        })
      })
    )
  /** For pools where some calls wait a long time for a connection. */
  static readonly layerPatient = (connectMs: number) =>
    Outbound.layerWith({
      connectionsPerOrigin: 1024,
      keepAliveMs: 30_000,
      connectMs: Math.max(connectMs, CONNECT_MS)
    })

  static readonly layer = Outbound.layerPatient(CONNECT_MS)
}

const makePool = (origin: string, options: OutboundOptions) =>
  new Pool(origin, {
    connections: options.connectionsPerOrigin,
    pipelining: 1,
    // With HTTP/1.1, dropping a call closes exactly its own socket, which makes the provider stop.
    allowH2: false,
    keepAliveTimeout: options.keepAliveMs,
    headersTimeout: 0,
    bodyTimeout: 0,
    connectTimeout: options.connectMs ?? CONNECT_MS
  })
