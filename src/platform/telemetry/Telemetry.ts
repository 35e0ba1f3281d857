/** The service's telemetry: logs on the console always, metrics for scrapers, and all of it over OTLP when an endpoint is set. */
import { Context, Effect, Formatter, Layer, Logger, Metric, References, type Scope } from "effect"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { getHeapSpaceStatistics } from "node:v8"
import { Config } from "../config/Config.ts"
import { VERSION } from "../config/Version.ts"
import { spanAround } from "./LogSpan.ts"
import { inWords } from "./LogWords.ts"
import { makeMetrics, Metrics } from "./Metrics.ts"
import type { TelemetrySettings } from "./TelemetrySettings.ts"

// ---- logs

/** Writes one line of JSON: time, level, message, and what is known of the request, such as its id and its trace. */
const jsonLine = Logger.make<unknown, string>((entry) => {
  const { annotations, cause, level, message, timestamp } = Logger.formatStructured.log(entry)
  const span = spanAround(entry)
  return Formatter.formatJson({
    ...annotations,
    timestamp,
    level,
    message,
    ...(span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId }),
    ...(cause === undefined ? {} : { cause })
  })
})

/** Writes logs to the console in the operator's format, from the operator's level upwards. */
export const logging = Layer.unwrap(
  Effect.map(Config, ({ log }) =>
    Layer.mergeAll(
      Logger.layer([inWords(log.format === "json" ? Logger.withConsoleLog(jsonLine) : Logger.consolePretty())]),
      Layer.succeed(References.MinimumLogLevel, log.level)
    )
  )
)

// ---- metrics

/** The time window of the event loop's figures, in milliseconds. */
const LOOP_WINDOW_MS = 10_000

/** Registers the figures of this process until the scope closes. */
const processFigures = (metrics: Metrics): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    let delay = { p99: 0, max: 0 }
    const monitor = monitorEventLoopDelay({ resolution: 20 })
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        monitor.enable()
        return setInterval(() => {
          delay = { p99: monitor.percentile(99) / 1e9, max: monitor.max / 1e9 }
          monitor.reset()
        }, LOOP_WINDOW_MS).unref()
      }),
      (timer) =>
        Effect.sync(() => {
          clearInterval(timer)
          monitor.disable()
        })
    )
    metrics.gauge(
      "nodejs.eventloop.delay.p99",
      "99th percentile of the event loop's delay in the last 10 seconds",
      "s",
      () => delay.p99
    )
    metrics.gauge(
      "nodejs.eventloop.delay.max",
      "Longest delay of the event loop in the last 10 seconds",
      "s",
      () => delay.max
    )
    metrics.gauge("svc.build.info", "Always 1; the version of this node is a label", "1", () => 1, { version: VERSION })
    metrics.gauge("process.memory.usage", "Resident memory", "By", () => process.memoryUsage.rss())
    for (const { space_name: space } of getHeapSpaceStatistics()) {
      const used = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === space)?.space_used_size ?? 0
      const labels = { "v8js.heap.space.name": space }
      metrics.gauge("v8js.memory.heap.used", "Heap memory in use, by space of V8", "By", used, labels)
    }
    metrics.gauge("process.cpu.time", "Since the start", "s", () => {
      const { system, user } = process.cpuUsage()
      return (system + user) / 1e6
    })
  })

const counting = Layer.effectContext(
  Effect.gen(function* () {
    const metrics = makeMetrics()
    yield* processFigures(metrics)
    return Context.make(Metrics, metrics).pipe(Context.add(Metric.MetricRegistry, metrics.registry))
  })
)

/** Loads the OpenTelemetry SDK when it is needed: it takes more memory than the rest of an idle service's telemetry by far. */
const exporting = (settings: TelemetrySettings, endpoint: URL) =>
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("./Export.ts")),
      ({ exportTo }) => exportTo(settings, endpoint)
    )
  )

/**
 * Collects metrics always; exports traces, metrics and logs over OTLP when an endpoint is set. It is the outermost layer, so it starts
 * first and ends last, after it has exported what is left. A slow or missing collector does not slow requests down and uses bounded
 * memory. Effect's own spans are off: `Tracing` makes the spans of the request path.
 */
export const layer = Layer.unwrap(
  Effect.map(Config, ({ telemetry }) =>
    telemetry.endpoint === undefined ? Layer.empty : exporting(telemetry, telemetry.endpoint)
  )
).pipe(Layer.provideMerge(counting), Layer.provideMerge(Layer.succeed(References.TracerEnabled, false)))
