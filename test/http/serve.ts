/** Routes behind the edge on a socket of their own, without the rest of the service. */
import { ByteSize, Cause, Effect, Layer, Logger } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServer } from "effect/http"
import type { Failure } from "../../src/domain/Failure.ts"
import { layer as edge } from "../../src/http/edge/Pages.ts"
import { layerListening, type ClientTimeouts, clientTimeouts } from "../../src/http/edge/Server.ts"
import { Shutdown } from "../../src/http/edge/Shutdown.ts"
import { Config } from "../../src/platform/config/Config.ts"
import { RateLimiter } from "../../src/ratelimit/RateLimiter.ts"

/** Serves these routes until the scope closes; answers the origin and everything that is logged. */
export const serve = <E = never>(
  routes: Layer.Layer<never, E, HttpRouter.HttpRouter | HttpRouter.Request<"Error", Failure> | Config | RateLimiter>,
  options: { readonly patience?: Partial<ClientTimeouts>; readonly env?: Readonly<Record<string, string>> } = {}
) =>
  Effect.gen(function* () {
    const logged: Array<string> = []
    const logger = Logger.make(({ cause, logLevel, message }) =>
      logged.push(`${logLevel} ${JSON.stringify(message)} ${JSON.stringify(Cause.pretty(cause))}`)
    )
    const settings = Config.layerFrom({
      LOG_LEVEL: "warn",
      HOST: "127.0.0.1",
      PORT: "0",
      SANDBOX: "on",
      SHUTDOWN_DELAY: "0",
      ...options.env
    })
    const server = HttpRouter.serve(Layer.mergeAll(routes, edge), { disableLogger: true, disableListenLog: true }).pipe(
      Layer.provideMerge(layerListening({ ...clientTimeouts, ...options.patience })),
      Layer.provide(Layer.mergeAll(RateLimiter.layerMemory, Shutdown.layer)),
      Layer.provide(settings),
      Layer.provide(Layer.succeed(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(1_024))),
      Layer.provide(Logger.layer([logger]))
    )
    const context = yield* Layer.build(server)
    const { address } = yield* Effect.provide(HttpServer.HttpServer, context)
    return { origin: `http://127.0.0.1:${"port" in address ? address.port : 0}`, logged }
  })
