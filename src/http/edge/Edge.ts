/** Begins the exchange of every request, turns failures into responses, and adds headers to responses. */
import { Cause, Effect } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { IncomingMessage } from "node:http"
import { Failure, failure, invalid, type Reason } from "../../domain/Failure.ts"
import type { PresetUse } from "../../domain/Answer.ts"
import { newRequestId } from "../../platform/Ids.ts"
import { Config } from "../../platform/config/Config.ts"
import { headers as limitHeaders, headersOfUncounted } from "../../ratelimit/Headers.ts"
import { subjectOf } from "../../ratelimit/Limits.ts"
import { RateLimiter } from "../../ratelimit/RateLimiter.ts"
import { logFailure, respond } from "../Failures.ts"
import { lineOf } from "./AccessLog.ts"
import { cameByHttps, clientAddress } from "./Address.ts"
import type { Area } from "./Areas.ts"
import { bodyFailure } from "./Body.ts"
import type { Exchange } from "./Exchange.ts"
import { labelsOf, spanOf } from "./RequestObserver.ts"

/** Answers a request that no operation has counted. It is counted against the client's address. */
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

/** The failure behind a cause. Undefined when there is none, for example when the client disconnected. */
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

const missingHost = invalid("Host", "is required in HTTP/1.1")

/** The answer to requests that are still waiting when the shutdown grace period ends. */
const stoppingReason: Reason = {
  _tag: "ServiceUnavailable",
  detail: "The service is stopping; try again",
  retryAfterSeconds: 1
}

/** The method of a request, and what responses under its path have in common. */
export interface Target {
  readonly method: string
  readonly area: Area
}

/** The parts of a request from which its exchange is made. */
interface ExchangeSource {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly source: object
  readonly peer: () => string | undefined
}

const READS = new Set(["GET", "HEAD"])

const notRepeated = { "x-should-retry": "false" }

const none: Record<string, string> = {}

const presetHeaders = ({ slug, version }: PresetUse): Record<string, string> => ({
  "x-svc-preset": slug,
  "x-svc-preset-version": String(version)
})

/** Creates the functions that the edge applies to every request. */
export const makeEdge = Effect.gen(function* () {
  const config = yield* Config
  const limiter = yield* RateLimiter
  const refuse = yield* makeRefuse
  const sandbox: Record<string, string> = config.sandbox ? { "x-svc-sandbox": "true" } : {}

  const headersOf = (
    { area, method }: Target,
    { added, errors, preset, requestId }: Exchange,
    limits: Readonly<Record<string, string>>,
    status: number
  ): Readonly<Record<string, string>> => ({
    "x-request-id": requestId,
    // The header that Anthropic's clients read.
    ...(errors === "messages" ? { "request-id": requestId } : none),
    ...(area.writesOnce && status >= 400 && !READS.has(method) ? notRepeated : none),
    // A request that was rejected for its rate limit never started, so these override the headers above.
    ...limits,
    ...added,
    ...sandbox,
    ...(preset === undefined ? none : presetHeaders(preset)),
    ...area.headers
  })

  return {
    refuse,

    /** The response to a request without the `Host` header that HTTP/1.1 requires; undefined for any other. */
    missingHost: ({ headers, httpVersion }: IncomingMessage, exchange: Exchange) =>
      headers.host === undefined && httpVersion === "1.1" ? refuse(exchange, missingHost) : undefined,

    /** Creates the exchange with a new id. */
    begin: ({ headers, peer, source }: ExchangeSource): Exchange => {
      const { trustedProxies } = config.http
      const exchange: Exchange = {
        requestId: newRequestId(),
        arrivedAt: performance.now(),
        address: () => clientAddress(peer(), headers["x-forwarded-for"], trustedProxies),
        byHttps: () => cameByHttps(peer(), headers["x-forwarded-proto"], trustedProxies),
        verdict: undefined,
        preset: undefined,
        errors: "standard",
        added: undefined,
        span: spanOf(source),
        labels: labelsOf(source),
        line: lineOf(source)
      }
      if (exchange.line !== undefined) exchange.line.requestId = exchange.requestId
      exchange.span?.set({ "svc.request_id": exchange.requestId })
      return exchange
    },

    /** The headers that the edge adds to a response. */
    responseHeaders: (
      target: Target,
      exchange: Exchange,
      status: number
    ): Effect.Effect<Readonly<Record<string, string>>> =>
      exchange.verdict === undefined
        ? Effect.map(
            limiter.peek("default", subjectOf("default", undefined, exchange.address()), config.rateLimitScale),
            (verdict) => headersOf(target, exchange, headersOfUncounted(verdict), status)
          )
        : Effect.succeed(headersOf(target, exchange, limitHeaders(exchange.verdict), status)),

    /** The response to a failed request; undefined when its client has disconnected. */
    failed: (
      exchange: Exchange,
      cause: Cause.Cause<unknown>
    ): Effect.Effect<HttpServerResponse.HttpServerResponse> | undefined => {
      const failed = failureOf(cause)
      return failed === undefined ? undefined : Effect.as(logFailure(failed, exchange), respond(failed, exchange))
    },

    /** The response when the service stops before the request has another. */
    cutOff: (exchange: Exchange): HttpServerResponse.HttpServerResponse => respond(failure(stoppingReason), exchange)
  }
})
