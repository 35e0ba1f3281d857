import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ByteSize, Duration, Effect, Layer } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServer } from "effect/http"
import { createServer, type Server, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { failure, type Reason } from "../../domain/Failure.ts"
import { Config } from "../../platform/config/Config.ts"
import { newRequestId } from "../../platform/Ids.ts"
import { Metrics } from "../../platform/telemetry/Metrics.ts"
import { Tracing } from "../../platform/telemetry/Tracing.ts"
import { cannotListen, type StartError } from "../../platform/config/Variables.ts"
import { headersOfUncounted } from "../../ratelimit/Headers.ts"
import { subjectOf } from "../../ratelimit/Limits.ts"
import { RateLimiter } from "../../ratelimit/RateLimiter.ts"
import { makeAccessLog } from "./AccessLog.ts"
import { clientAddress } from "./Address.ts"
import { MAX_BODY_BYTES } from "./Body.ts"
import { layer as consolePages } from "../handlers/Console.ts"
import { type Dispatch, makeDispatcher } from "./Dispatcher.ts"
import { layer as documentation } from "../handlers/Documentation.ts"
import { bodyOf, headersOf } from "../Failures.ts"
import { table } from "../FailureRows.ts"
import { layer as files } from "../handlers/Files.ts"
import { withDispatcher, keepEarly } from "./Listener.ts"
import { MAX_PARAM_LENGTH } from "./Operations.ts"
import { layer as edge } from "./Pages.ts"
import { makeHandlers } from "../handlers/Handlers.ts"
import { layer as mcp } from "./Mcp.ts"
import { observe } from "./RequestObserver.ts"
import { endStalled } from "./StalledClients.ts"
import { type OrderedResponse, responsesUntil, Shutdown } from "./Shutdown.ts"

/** How long the server waits for slow clients, in milliseconds. */
export interface ClientTimeouts {
  /** For all headers of a request. */
  readonly headersMs: number
  /** For the whole request. */
  readonly requestMs: number
  /** The interval of checks for both. */
  readonly checkMs: number
  /**
   * For the next request on a connection. This exceeds the idle timeouts of common load balancers; otherwise they would reuse a
   * connection while it closes.
   */
  readonly keepAliveMs: number
  /** For a client to close a connection after a final error response, because a reset could destroy the response. */
  readonly lingerMs: number
  /** For the next request of a client with a response that began before shutdown, once its connection is idle. */
  readonly restMs: number
  /**
   * For a client to take any of the bytes written to it. A provider's silence does not count, because nothing waits to be taken then.
   */
  readonly stalledMs: number
}

export const clientTimeouts: ClientTimeouts = {
  headersMs: 15_000,
  requestMs: 120_000,
  checkMs: 5_000,
  keepAliveMs: 75_000,
  lingerMs: 1_000,
  restMs: 1_000,
  stalledMs: 60_000
}

/** The first line of a request, when only its method can be what Node's parser does not know. */
const REQUEST_LINE = /^([A-Za-z-]{1,32}) \S+ HTTP\/1\.[01]\r?\n/

/** An error of Node's HTTP parser with the bytes in which it stopped. */
interface ParserError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer
}

const malformed = (field: string, message: string): Reason => ({
  _tag: "ValidationError",
  problems: [{ field, message }]
})

const reasonOfSocket = ({ code, rawPacket }: ParserError): Reason => {
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { _tag: "RequestTimeout" }
    case "HPE_HEADER_OVERFLOW":
      return malformed("headers", "must be shorter")
    case "HPE_INVALID_METHOD": {
      const [, method] = REQUEST_LINE.exec(rawPacket?.toString("latin1", 0, 8_192) ?? "") ?? []
      if (method !== undefined)
        return malformed("method", `must be GET, HEAD, POST, PUT, PATCH or DELETE; got ${method}`)
    }
  }
  return malformed("request", "must be a well-formed HTTP request")
}

interface ClientSocket extends Socket {
  /** Node's internal reference to the response being written to a connection. */
  readonly _httpMessage?: ServerResponse | null
}

/** Whether a response would be read as the middle of another one. */
const isAnswering = ({ _httpMessage: response }: ClientSocket): boolean => response?.headersSent === true

/** Answers connections without a valid request, because their input was too slow or not HTTP, with the same envelope and headers. */
const answerSocket = (server: Server, lingerMs: number) =>
  Effect.gen(function* () {
    const { http, rateLimitScale, sandbox } = yield* Config
    const limiter = yield* RateLimiter
    const run = Effect.runForkWith(yield* Effect.context())
    const answered = new WeakSet<ClientSocket>()
    server.on("clientError", (error: ParserError, stream: Duplex) => {
      const socket = stream as ClientSocket
      // Each further chunk of non-HTTP input raises an error of its own.
      if (answered.has(socket)) return
      const isLost = () => error.code === "ECONNRESET" || !socket.writable || isAnswering(socket)
      if (isLost()) return void socket.destroy()
      const failed = failure(reasonOfSocket(error))
      const address = clientAddress(socket.remoteAddress, undefined, http.trustedProxies)
      const seen = limiter.peek("default", subjectOf("default", undefined, address), rateLimitScale)
      const answer = Effect.map(seen, (verdict) => {
        if (isLost()) return void socket.destroy()
        answered.add(socket)
        const body = JSON.stringify(bodyOf(failed))
        const headers = {
          "content-type": "application/json",
          "content-length": String(Buffer.byteLength(body)),
          "x-request-id": newRequestId(),
          ...headersOfUncounted(verdict),
          ...(sandbox ? { "x-svc-sandbox": "true" } : {}),
          ...headersOf(failed),
          connection: "close"
        }
        const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
        socket.end(`HTTP/1.1 ${table[failed.reason._tag].status} \r\n${head.join("")}\r\n${body}`)
        // A client that keeps its side open would keep the connection for ever.
        const timer = setTimeout(() => socket.destroy(), lingerMs)
        socket.once("close", () => clearTimeout(timer))
      })
      run(answer)
    })
  })

/** Serves no operation. */
const noDispatcher: Effect.Effect<Dispatch | undefined> = Effect.undefined

/** Closes the connection of a response unless another request has arrived on it. */
const closeIdle = (response: OrderedResponse): void => {
  if (response.isNewest()) response.req.socket.destroy()
}

/**
 * Only the listening socket, with the given time limits, and a dispatcher of operations. The code that provides the router decides what
 * else it serves.
 */
export const layerListening = <R = never>(
  timeouts: ClientTimeouts,
  makeDispatch: Effect.Effect<Dispatch | undefined, never, R> = noDispatcher
) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { http, shutdownDelay, shutdownGrace } = yield* Config
      const stopping = yield* Shutdown
      const server = createServer({
        ServerResponse: responsesUntil(stopping),
        headersTimeout: timeouts.headersMs,
        requestTimeout: timeouts.requestMs,
        connectionsCheckingInterval: timeouts.checkMs,
        keepAliveTimeout: timeouts.keepAliveMs,
        // The server supports no other protocol. Node does not manage an upgraded connection any more: not when it is idle, not when
        // its client keeps its side open, and not at shutdown.
        shouldUpgradeCallback: () => false,
        // Node would answer without a body. The edge rejects the request with the error envelope.
        requireHostHeader: false
      })
      // Node would drop the headers after the first 2,000, and a proxy adds its own at the end. The size of all headers is limited.
      server.maxHeadersCount = 0
      server.on("connection", stopping.accepted)
      const restMs = Math.min(timeouts.restMs, Duration.toMillis(shutdownDelay))
      const beginLine = yield* makeAccessLog
      const closed = (response: ServerResponse) => {
        // A server that stops listening closes the connections that are idle at that time. Busy ones are closed after a short idle
        // time, because a client with a stream that began before shutdown does not know of it.
        if (!server.listening) setTimeout(closeIdle, restMs, response as OrderedResponse)
      }
      observe(server, yield* Metrics, yield* Tracing, closed, beginLine)
      const early = keepEarly(server)
      // An unknown expectation may be ignored. Node would answer 417 without a body.
      server.on("checkExpectation", (request, response) => server.emit("request", request, response))
      yield* answerSocket(server, timeouts.lingerMs)
      yield* endStalled(server, timeouts)
      const { host, port } = http
      const dispatch = yield* makeDispatch
      const listening = Layer.effect(
        HttpServer.HttpServer,
        Effect.map(HttpServer.HttpServer, (made) => withDispatcher(made, server, { dispatch, early }))
      ).pipe(
        Layer.provideMerge(NodeHttpServer.layer(() => server, { port, host, gracefulShutdownTimeout: shutdownGrace }))
      )
      type Provided = Layer.Success<typeof listening>
      return Layer.catchTag(listening, "ServeError", ({ cause }) =>
        Layer.effectContext<Provided, StartError, never>(
          Effect.fail(cannotListen("", http, (cause as NodeJS.ErrnoException | undefined)?.code))
        )
      )
    })
  )

const routes = Layer.mergeAll(files, consolePages, documentation, mcp, edge)

/** Accepts the waiting connections right before the server stops listening, because the system then resets those that still wait. */
const acceptBeforeClose = Layer.effectDiscard(
  Effect.flatMap(Shutdown, ({ untilAllAccepted }) => Effect.addFinalizer(() => untilAllAccepted))
)

/** The public server: everything in `Api`, behind the edge. Provides the address on which it listens. */
export const layer = acceptBeforeClose.pipe(
  Layer.provideMerge(
    HttpRouter.serve(routes, {
      disableLogger: true,
      disableListenLog: true,
      routerConfig: { maxParamLength: MAX_PARAM_LENGTH, caseSensitive: true }
    })
  ),
  Layer.provideMerge(layerListening(clientTimeouts, Effect.flatMap(makeHandlers, makeDispatcher))),
  Layer.provide(Layer.succeed(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(MAX_BODY_BYTES)))
)
