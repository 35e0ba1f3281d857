import { NodeHttpServer } from "@effect/platform-node"
import { ByteSize, type Context, Effect, Layer } from "effect"
import { HttpIncomingMessage, HttpRouter } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { createServer, type Server } from "node:http"
import type { Duplex } from "node:stream"
import { Api } from "../../schemas/Api.ts"
import { failure, type Reason } from "../domain/Failure.ts"
import { Config, StartError } from "../platform/Config.ts"
import { newRequestId } from "../platform/Ids.ts"
import { headers as limitHeaders } from "../ratelimit/Headers.ts"
import { subjectOf } from "../ratelimit/Limits.ts"
import { RateLimiter } from "../ratelimit/RateLimiter.ts"
import { layer as access } from "./Access.ts"
import { clientAddress } from "./Address.ts"
import { MAX_BODY_BYTES } from "./Body.ts"
import { layer as chat } from "./Chat.ts"
import { API_PREFIX, layer as edge } from "./Edge.ts"
import { bodyOf, headersOf, table } from "./Failures.ts"
import { layer as models } from "./Models.ts"
import { layer as requests } from "./Requests.ts"

/** A client has so long to send its headers, and so long to send all of its request. */
const HEADERS_TIMEOUT_MS = 15_000
const REQUEST_TIMEOUT_MS = 120_000
const TIMEOUT_CHECK_MS = 5_000

/** Longer than the idle timeouts of common load balancers, which would else reuse a connection as it closes. */
const KEEP_ALIVE_MS = 75_000

/** A model id in a path has at most 160 characters, three times that when escaped. */
const MAX_PARAM_LENGTH = 512

const reasonOfSocket = (code: string | undefined): Reason => {
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { _tag: "RequestTimeout" }
    case "HPE_HEADER_OVERFLOW":
      return { _tag: "ValidationError", problems: [{ field: "headers", message: "too long" }] }
    default:
      return { _tag: "ValidationError", problems: [{ field: "request", message: "not a well-formed HTTP request" }] }
  }
}

/** Answers what never became a request, too slow or not HTTP, in the same envelope and with the same headers. */
const answerSocket = (server: Server) =>
  Effect.gen(function* () {
    const { http, rateLimitScale } = yield* Config
    const limiter = yield* RateLimiter
    const run = Effect.runForkWith(yield* Effect.context())
    server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex & { readonly remoteAddress?: string }) => {
      if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy()
      const failed = failure(reasonOfSocket(error.code))
      const { status } = table[failed.reason._tag]
      const subject = subjectOf(
        "default",
        undefined,
        clientAddress(socket.remoteAddress, undefined, http.trustedProxies)
      )
      const answer = Effect.map(limiter.peek("default", subject, rateLimitScale), (verdict) => {
        const body = JSON.stringify(bodyOf(failed))
        const headers = {
          "content-type": "application/json",
          "content-length": String(Buffer.byteLength(body)),
          connection: "close",
          "x-request-id": newRequestId(),
          ...limitHeaders(verdict),
          ...headersOf(failed)
        }
        const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
        socket.end(`HTTP/1.1 ${status} \r\n${head.join("")}\r\n${body}`)
      })
      run(answer)
    })
  })

const nodeServer = Layer.unwrap(
  Effect.gen(function* () {
    const { http, shutdownGrace } = yield* Config
    const server = createServer({
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_MS
    })
    yield* answerSocket(server)
    const { host, port } = http
    const listening = NodeHttpServer.layer(() => server, { port, host, gracefulShutdownTimeout: shutdownGrace })
    type Provided = Layer.Success<typeof listening>
    return Layer.catchTag(listening, "ServeError", ({ cause }) =>
      Layer.effectContext(cannotListen<Context.Context<Provided>>(port, cause))
    )
  })
)

const cannotListen = <A>(port: number, cause: unknown): Effect.Effect<A, StartError> => {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? "unknown error"
  const message = code === "EADDRINUSE" ? `PORT ${port} is in use` : `PORT ${port} cannot be listened on (${code})`
  return Effect.fail(new StartError({ message }))
}

const routes = Layer.mergeAll(
  HttpApiBuilder.layer(Api, { openapiPath: `${API_PREFIX}/openapi.json` }).pipe(
    Layer.provide(Layer.mergeAll(chat, requests, models)),
    Layer.provide(access)
  ),
  edge
)

/** The public address: everything of `Api`, behind the edge. Provides the address it listens on. */
export const layer = HttpRouter.serve(routes, {
  disableLogger: true,
  disableListenLog: true,
  routerConfig: { maxParamLength: MAX_PARAM_LENGTH, caseSensitive: true }
}).pipe(
  Layer.provideMerge(nodeServer),
  Layer.provide(Layer.succeed(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(MAX_BODY_BYTES)))
)
