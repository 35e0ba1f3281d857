import { Context, Duration, Effect, Layer, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { SqlClient } from "effect/sql"
import { createServer, type ServerResponse } from "node:http"
import { isIPv6 } from "node:net"
import { setTimeout } from "node:timers/promises"
import { Catalogue } from "../catalogue/Catalogue.ts"
import { Config } from "../platform/Config.ts"
import { makeDatabaseHealth } from "../platform/DatabaseHealth.ts"
import { Metrics } from "../platform/Metrics.ts"
import { UNANSWERED } from "../platform/SqlCondition.ts"
import { cannotListen, type StartError } from "../platform/Variables.ts"
import { Stopping } from "./Stopping.ts"

/** What was found of the database stands so long: probing more often asks it no more often. */
const FOUND_FOR_MS = 1_000

/** Requests here are short; what waits longer is no probe. */
const REQUEST_TIMEOUT_MS = 5_000

type Phase = "starting" | "serving" | "stopping"

/** The address for operators. */
export interface Listening {
  /** As in a URL. */
  readonly host: string
  readonly port: number
  /** What it says of the service from now on. */
  readonly say: (phase: Phase) => void
  /** Adds what the service cannot do without: `missing` says in words what that is, or nothing when it is there. */
  readonly needs: (missing: () => string | undefined) => void
  /** What is missing now of that. */
  readonly missing: () => ReadonlyArray<string>
}

/** Why a service takes no requests now; nothing when it does. */
const reasons = (phase: Phase, trouble: string | undefined, missing: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...(phase === "serving" ? [] : [`the service is ${phase}`]),
  ...(trouble === undefined ? [] : [trouble]),
  ...missing
]

/**
 * Asks at most once a second, and never twice at once. What has not answered after a second does not: a question to a database that
 * hangs takes longer, because it ends with the connection that it was asked over.
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

/** Logs what is wrong with the database when that changes, and not at each probe; answers it. */
const logChanges = (log: (line: Effect.Effect<void>) => void) => {
  let told: string | undefined
  return (trouble: string | undefined): string | undefined => {
    if (trouble === told) return trouble
    told = trouble
    log(trouble === undefined ? Effect.logInfo("Ready again") : Effect.logWarning(`Not ready: ${trouble}`))
    return trouble
  }
}

const listen = Effect.gen(function* () {
  const { host, port } = (yield* Config).ops
  const context = Context.make(Metric.MetricRegistry, (yield* Metrics).registry)
  const { look } = yield* makeDatabaseHealth(yield* SqlClient.SqlClient)
  const run = Effect.runPromiseWith(yield* Effect.context())
  const database = remembered(() => run(look))
  const log = logChanges((line) => void run(line))
  const required: Array<() => string | undefined> = []
  const missing = () => required.map((look) => look()).filter((what) => what !== undefined)
  let phase: Phase = "starting"
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    // Nothing is read from a request but its line.
    request.resume()
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.setHeader("allow", "GET, HEAD")
      return say(response, 405, "only GET and HEAD are answered here\n")
    }
    switch (request.url?.split("?", 1)[0]) {
      case "/healthz":
        return say(response, 200, "up\n")
      case "/readyz":
        return void database().then((trouble) => sayReadiness(response, reasons(phase, log(trouble), missing())))
      case "/metrics":
        return say(response, 200, PrometheusMetrics.formatUnsafe(context), "text/plain; version=0.0.4; charset=utf-8")
      default:
        return say(response, 404, "there are /healthz, /readyz and /metrics\n")
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
 * The address for operators, apart from the public one: `/healthz` is answered for as long as the process serves, `/readyz` while
 * it takes requests, has a model to serve and can write to its database, `/metrics` in Prometheus' text format.
 */
export class Ops extends Context.Service<Ops, Listening>()("tollgate/http/Ops") {
  /** Fails with a `StartError` when the address cannot be listened on. */
  static readonly layer = Layer.effect(Ops, listen)
}

/**
 * Says that the service is ready from when all that it is built upon is up. A stop begins here: `/readyz` answers 503 at once, the
 * service goes on for `SHUTDOWN_DELAY` while load balancers notice and clients are asked to close their connections, and only
 * then anything else stops.
 */
export const readiness = Layer.effectDiscard(
  Effect.gen(function* () {
    const { say } = yield* Ops
    const { begin } = yield* Stopping
    const { shutdownDelay } = yield* Config
    const stop = Effect.gen(function* () {
      say("stopping")
      begin()
      if (Duration.isZero(shutdownDelay)) return
      yield* Effect.logInfo(`Stopping: requests are served for another ${Duration.format(shutdownDelay)}`)
      yield* Effect.sleep(shutdownDelay)
    })
    yield* Effect.acquireRelease(
      Effect.sync(() => say("serving")),
      () => stop
    )
  })
)

/** What is missing of a service without any provider. */
const NOTHING_SERVED =
  "no model can be served: set the key of a provider, such as OPENAI_API_KEY, or that of a host in PROVIDERS_FILE, or set SANDBOX=on for simulated providers"

/** A service that has no model to serve is not ready, and says why. */
export const servable = Layer.effectDiscard(
  Effect.gen(function* () {
    const catalogue = yield* Catalogue
    const { needs } = yield* Ops
    const serves = () => catalogue.all.some((model) => !model.virtual && catalogue.isServable(model))
    needs(() => (serves() ? undefined : NOTHING_SERVED))
  })
)
