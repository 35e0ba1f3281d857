/** The service's telemetry: logs on the console always, metrics for scrapers, and all of it over OTLP when an endpoint is set. */
import { Context, Effect, Formatter, Layer, Logger, Metric, References, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import { getHeapSpaceStatistics } from "node:v8"
import { Config } from "../config/Config.ts"
import { VERSION } from "../config/Version.ts"
import { spanAround } from "./LogSpan.ts"
import { inWords } from "./LogWords.ts"
import { loopDelay } from "./LoopDelay.ts"
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
export const logLayer = Layer.unwrap(
  Effect.map(Config, ({ log }) =>
    Layer.mergeAll(
      Logger.layer([inWords(log.format === "json" ? Logger.withConsoleLog(jsonLine) : Logger.consolePretty())]),
      Layer.succeed(References.MinimumLogLevel, log.level)
    )
  )
)

// ---- metrics

/** The attribute that tells processes of the service apart. */
const INSTANCE = "service.instance.id"

/** Registers the figures of this process until the scope closes. */
const processFigures = (metrics: Metrics, instance: string): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    yield* loopDelay(metrics)
    metrics.gauge(
      "svc.build.info",
      "Always 1; the version of this node and the id of its process are labels",
      "1",
      () => 1,
      { version: VERSION, [INSTANCE]: instance }
    )
    metrics.gauge("process.memory.usage", "Resident memory", "By", () => process.memoryUsage.rss())
    for (const { space_name: space } of getHeapSpaceStatistics()) {
      const used = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === space)?.space_used_size ?? 0
      const labels = { "v8js.heap.space.name": space }
      metrics.gauge("v8js.memory.heap.used", "Heap memory in use, by space of V8", "By", used, labels)
    }
    metrics.total("process.cpu.time", "Processor time since the start", "s", () => {
      const { system, user } = process.cpuUsage()
      return (system + user) / 1e6
    })
  })

const counting = (instance: string) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const metrics = makeMetrics()
      yield* processFigures(metrics, instance)
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
  Effect.map(Config, ({ telemetry }) => {
    const { endpoint, resource } = telemetry
    const instance = resource[INSTANCE] ?? randomUUID()
    // Metrics that were scraped and what was exported name the same process.
    const settings = { ...telemetry, resource: { ...resource, [INSTANCE]: instance } }
    return Layer.provideMerge(endpoint === undefined ? Layer.empty : exporting(settings, endpoint), counting(instance))
  })
).pipe(Layer.provideMerge(Layer.succeed(References.TracerEnabled, false)))
