import { Context, Duration, Effect, Layer, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { SqlClient } from "effect/sql"
import { createServer, type ServerResponse } from "node:http"
import { isIPv6 } from "node:net"
import { setTimeout } from "node:timers/promises"
import { Catalogue } from "../../catalogue/Catalogue.ts"
import { Config } from "../../platform/config/Config.ts"
import { makeDatabaseHealth } from "../../platform/database/DatabaseHealth.ts"
import { Metrics } from "../../platform/telemetry/Metrics.ts"
import { UNANSWERED } from "../../platform/database/SqlCondition.ts"
import { cannotListen, type StartError } from "../../platform/config/Variables.ts"
import { Shutdown } from "../edge/Shutdown.ts"

/** How long a database check is cached: frequent probes do not cause more checks. */
const FOUND_FOR_MS = 1_000

/** Requests here are short. A connection that stays silent for longer is not a probe. */
const REQUEST_TIMEOUT_MS = 5_000

type Phase = "starting" | "serving" | "stopping"

/** The listening ops server. */
export interface OpsListener {
  /** In the form of a URL. */
  readonly host: string
  readonly port: number
  /** Sets the phase of the service. */
  readonly say: (phase: Phase) => void
  /** Adds a requirement of the service. `missing` describes what is missing, or returns undefined. */
  readonly needs: (missing: () => string | undefined) => void
  /** The requirements that are missing now. */
  readonly missing: () => ReadonlyArray<string>
}

/** Why the service accepts no requests now; empty when it does. */
const reasons = (phase: Phase, trouble: string | undefined, missing: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...(phase === "serving" ? [] : [`the service is ${phase}`]),
  ...(trouble === undefined ? [] : [trouble]),
  ...missing
]

/**
 * Runs the check at most once a second, and never twice at once. A check that has not finished after a second counts as failed. On a
 * hanging database it takes longer, because it ends with its connection.
 */
const remembered = (ask: () => Promise<string | undefined>): (() => Promise<string | undefined>) => {
  let askedAt = Number.NEGATIVE_INFINITY
  let isAsking = false
  let found: Promise<string | undefined> = Promise.resolve(UNANSWERED)
  return () => {
    const now = performance.now()
    if (isAsking || now - askedAt < FOUND_FOR_MS) return found
    askedAt = now
    isAsking = true
    const answer = ask().finally(() => (isAsking = false))
    found = Promise.race([answer, setTimeout(FOUND_FOR_MS, UNANSWERED, { ref: false })])
    return found
  }
}

const say = (response: ServerResponse, status: number, body: string, type = "text/plain; charset=utf-8"): void => {
  response.writeHead(status, { "content-type": type, "cache-control": "no-store" }).end(body)
}

const sayReadiness = (response: ServerResponse, reasons: ReadonlyArray<string>): void =>
  reasons.length === 0 ? say(response, 200, "ready\n") : say(response, 503, `${reasons.join("\n")}\n`)

/** Logs the database's condition when it changes, not at each probe, and returns it. */
const logChanges = (log: (line: Effect.Effect<void>) => void) => {
  let reported: string | undefined
  return (trouble: string | undefined): string | undefined => {
    if (trouble === reported) return trouble
    reported = trouble
    log(trouble === undefined ? Effect.logInfo("Ready again") : Effect.logWarning(`Not ready: ${trouble}`))
    return trouble
  }
}

const listen = Effect.gen(function* () {
  const { host, port } = (yield* Config).ops
  const metrics = yield* Metrics
  const context = Context.make(Metric.MetricRegistry, metrics.registry)
  const { look } = yield* makeDatabaseHealth(yield* SqlClient.SqlClient)
  const run = Effect.runPromiseWith(yield* Effect.context())
  const database = remembered(() => run(look))
  const log = logChanges((line) => void run(line))
  const required: Array<() => string | undefined> = []
  const missing = () => required.map((look) => look()).filter((what) => what !== undefined)
  let phase: Phase = "starting"
  let isReady = false
  metrics.gauge("svc.ready", "1 while this node can take requests, as /readyz says", "1", () => Number(isReady))
  const sayMetrics = (response: ServerResponse, trouble: string | undefined): void => {
    isReady = reasons(phase, trouble, missing()).length === 0
    const text = PrometheusMetrics.formatUnsafe(context, { metricNameMapper: metrics.prometheusName })
    say(response, 200, text, "text/plain; version=0.0.4; charset=utf-8")
  }
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    // Only the request line is read.
    request.resume()
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.setHeader("allow", "GET, HEAD")
      return say(response, 405, "use GET or HEAD\n")
    }
    switch (request.url?.split("?", 1)[0]) {
      case "/healthz":
        return say(response, 200, "up\n")
      case "/readyz":
        return void database().then((trouble) => sayReadiness(response, reasons(phase, log(trouble), missing())))
      case "/metrics":
        return void database().then((trouble) => sayMetrics(response, trouble))
      default:
        return say(response, 404, "not found; use /healthz, /readyz or /metrics\n")
    }
  })
  yield* Effect.acquireRelease(
    Effect.callback<void, StartError>((resume) => {
      server.once("error", ({ code }: NodeJS.ErrnoException) => {
        resume(Effect.fail(cannotListen("OPS_", { host, port }, code)))
      })
      server.listen(port, host, () => resume(Effect.void))
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )
  const address = server.address()
  return Ops.of({
    host: isIPv6(host) ? `[${host}]` : host,
    port: typeof address === "object" && address !== null ? address.port : port,
    say: (now) => void (phase = now),
    needs: (missing) => void required.push(missing),
    missing
  })
})

/**
 * The ops server on an address of its own. `/healthz` answers as long as the process serves. `/readyz` succeeds while the service
 * accepts requests, has a model to serve and can write to its database. `/metrics` uses the Prometheus text format.
 */
export class Ops extends Context.Service<Ops, OpsListener>()("tollgate/http/Ops") {
  /** Fails with a `StartError` when it cannot listen on the address. */
  static readonly layer = Layer.effect(Ops, listen)
}

/**
 * Reports the service as ready once everything it depends on is up. Shutdown starts here: `/readyz` answers 503 at once, and the
 * service continues for `SHUTDOWN_DELAY`, while load balancers notice and clients are asked to close their connections. Only then does
 * anything else stop.
 */
export const readiness = Layer.effectDiscard(
  Effect.gen(function* () {
    const { say } = yield* Ops
    const { begin } = yield* Shutdown
    const { shutdownDelay } = yield* Config
    const stop = Effect.gen(function* () {
      say("stopping")
      begin()
      if (!Duration.isZero(shutdownDelay)) {
        yield* Effect.logInfo(`Stopping: requests are served for another ${Duration.format(shutdownDelay)}`)
        yield* Effect.sleep(shutdownDelay)
      }
    })
    yield* Effect.acquireRelease(
      Effect.sync(() => say("serving")),
      () => stop
    )
  })
)

/** The message of a service without any provider. */
const NOTHING_SERVED =
  "no model can be served: set the key of a provider, such as OPENAI_API_KEY, or that of a host in PROVIDERS_FILE, or set SANDBOX=on for simulated providers"

/** A service without a model to serve is not ready, and says why. */
export const servable = Layer.effectDiscard(
  Effect.gen(function* () {
    const catalogue = yield* Catalogue
    const { needs } = yield* Ops
    const serves = () => catalogue.all.some((model) => !model.virtual && catalogue.isServable(model))
    needs(() => (serves() ? undefined : NOTHING_SERVED))
  })
)
