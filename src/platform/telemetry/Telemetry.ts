/** The service's telemetry: logs on the console always, metrics for scrapers, and all of it over OTLP when an endpoint is set. */
import {
  Context,
  Effect,
  Formatter,
  Layer,
  Logger,
  Metric,
  Option,
  Redacted,
  References,
  type Scope,
  type Tracer
} from "effect"
import { HttpClient, HttpClientError, type HttpClientRequest, HttpClientResponse } from "effect/http"
import { OtlpExporter, OtlpLogger, OtlpMetrics, OtlpResource, OtlpSerialization } from "effect/observability"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { Config, withoutEnvironment } from "../config/Config.ts"
import { inWords } from "./LogWords.ts"
import { makeMetrics, Metrics } from "./Metrics.ts"
import type { TelemetrySettings } from "./TelemetrySettings.ts"
import { makeTracing, type SpanRecord, Tracing } from "./Tracing.ts"

/** The maximum number of spans or log lines in one export. Encoding one takes a few milliseconds, in which nothing else runs. */
const MAX_BATCH = 512

/**
 * The maximum number of concurrent exports. Further ones are dropped. Together with the batch size this bounds the memory of telemetry
 * to about 4,000 spans.
 */
const MAX_UNDER_WAY = 8

/** A collector that has not answered by then counts as failed. */
const EXPORT_TIMEOUT_MS = 10_000

/** How long a stopping service waits for the last exports. */
const FLUSH_TIMEOUT = "3 seconds"

const SPANS_EVERY = "1 second"
const METRICS_EVERY = "10 seconds"

/** The schema of the attribute names for calls to models. */
const SCHEMA_URL = "https://opentelemetry.io/schemas/gen-ai/1.42.0"

// ---- logs

/** The span of a log entry. Effect's own spans are off, but Effect still provides one with a placeholder instead of ids. */
const spanAround = (entry: Logger.Options<unknown>): Tracer.AnySpan | undefined => {
  let span = entry.fiber.cache.span
  while (span?._tag === "Span" && span.traceId === "noop") span = Option.getOrUndefined(span.parent)
  return span
}

/**
 * Wraps a logger so that each entry carries the span it belongs to. A collector rejects a whole export when one entry has invalid ids.
 */
const withSpanAround = <Output>(logger: Logger.Logger<unknown, Output>): Logger.Logger<unknown, Output> =>
  Logger.make((entry) => {
    const { cache } = entry.fiber
    const span = spanAround(entry)
    if (span === cache.span) return logger.log(entry)
    const fiber: typeof entry.fiber = Object.create(entry.fiber, { cache: { value: { ...cache, span } } })
    return logger.log({ ...entry, fiber })
  })

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
    metrics.gauge("process.memory.usage", "Resident memory", "By", () => process.memoryUsage.rss())
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

// ---- export

const answered = (request: HttpClientRequest.HttpClientRequest, status: number) =>
  HttpClientResponse.fromWeb(request, new Response(null, { status }))

/**
 * When a collector answers 429, the exporter would buffer everything until the requested pause ends, which may be long. For other
 * failures it does not.
 */
const TOO_MANY = 429
const FAILS = 503

/** Sends exports with limits on their number and time. It logs once when a collector becomes unreachable, and once when it recovers. */
const makeClient = Effect.sync(() => {
  let underWay = 0
  let reachable = true
  const told = (now: boolean) => {
    if (now === reachable) return Effect.void
    reachable = now
    return now
      ? Effect.logInfo("telemetry is delivered again")
      : Effect.logWarning(
          "telemetry cannot be delivered; exports that exceed the buffer are dropped, and requests are not affected"
        )
  }
  return HttpClient.make((request, url, signal) =>
    Effect.suspend(() => {
      if (underWay >= MAX_UNDER_WAY) return Effect.succeed(answered(request, 200))
      underWay++
      return Effect.tryPromise({
        try: async () => {
          const response = await fetch(url, {
            method: request.method,
            headers: request.headers,
            body: request.body._tag === "Uint8Array" ? (request.body.body as Uint8Array<ArrayBuffer>) : null,
            // The headers may contain a key, which is meant for this address only.
            redirect: "error",
            signal: AbortSignal.any([signal, AbortSignal.timeout(EXPORT_TIMEOUT_MS)])
          })
          await response.arrayBuffer()
          return {
            taken: response.ok,
            answer: answered(request, response.status === TOO_MANY ? FAILS : response.status)
          }
        },
        catch: (cause) =>
          new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
      }).pipe(
        Effect.tapError(() => told(false)),
        Effect.flatMap(({ answer, taken }) => Effect.as(told(taken), answer)),
        Effect.ensuring(Effect.sync(() => underWay--))
      )
    })
  )
})

const KINDS = { internal: 1, server: 2, client: 3 } as const

/** Encodes a span as OTLP's JSON. */
const encodeSpan = (span: SpanRecord) => ({
  traceId: span.context.traceId,
  spanId: span.context.spanId,
  parentSpanId: span.parentSpanId,
  traceState: span.context.state,
  name: span.name,
  kind: KINDS[span.kind],
  startTimeUnixNano: span.startTime,
  endTimeUnixNano: span.endTime,
  attributes: OtlpResource.entriesToAttributes(span.attributes),
  status: { code: span.failed ? 2 : 0 }
})

const resourceOf = ({ resource, serviceName }: TelemetrySettings) => ({ serviceName, attributes: { ...resource } })

const tracing = (settings: TelemetrySettings, url: string, headers: Readonly<Record<string, string>>) =>
  Layer.effect(
    Tracing,
    Effect.gen(function* () {
      const serialization = yield* OtlpSerialization.OtlpSerialization
      const resource = OtlpResource.make(resourceOf(settings))
      const exporter = yield* OtlpExporter.make({
        label: "spans",
        url,
        headers,
        exportInterval: SPANS_EVERY,
        maxBatchSize: MAX_BATCH,
        shutdownTimeout: FLUSH_TIMEOUT,
        body: (spans: Array<SpanRecord>) => {
          const scopeSpans = [{ scope: { name: "tollgate" }, schemaUrl: SCHEMA_URL, spans: spans.map(encodeSpan) }]
          // Effect's spans have additional members, which these omit. On the wire both are the same.
          return [serialization.traces({ resourceSpans: [{ resource, scopeSpans }] } as never), Effect.void]
        }
      })
      return makeTracing(settings.sampler, exporter.push)
    })
  )

const exportTo = (settings: TelemetrySettings, endpoint: URL) => {
  const base = endpoint.href.replace(/\/*$/, "")
  const headers = Redacted.value(settings.headers)
  const common = { resource: resourceOf(settings), headers, shutdownTimeout: FLUSH_TIMEOUT } as const
  const logger = OtlpLogger.make({
    ...common,
    url: `${base}/v1/logs`,
    exportInterval: SPANS_EVERY,
    maxBatchSize: MAX_BATCH,
    excludeLogSpans: true
  })
  const logs = Logger.layer([Effect.map(logger, (lines) => withSpanAround(inWords(lines)))], {
    mergeWithExisting: true
  })
  const metrics = OtlpMetrics.layer({ ...common, url: `${base}/v1/metrics`, exportInterval: METRICS_EVERY })
  const traces = tracing(settings, `${base}/v1/traces`, headers)
  // In parallel, so that a stop waits for all three together.
  return Layer.mergeAll(Layer.provide(Layer.mergeAll(traces, logs), OtlpExporter.layerFlusher), metrics).pipe(
    Layer.provide([OtlpSerialization.layerJson, Layer.effect(HttpClient.HttpClient, makeClient), withoutEnvironment])
  )
}

/**
 * Collects metrics always; exports traces, metrics and logs over OTLP when an endpoint is set. It is the outermost layer, so it starts
 * first and ends last, after it has exported what is left. A slow or missing collector does not slow requests down and uses bounded
 * memory. Effect's own spans are off: `Tracing` makes the spans of the request path.
 */
export const layer = Layer.unwrap(
  Effect.map(Config, ({ telemetry }) =>
    telemetry.endpoint === undefined ? Layer.empty : exportTo(telemetry, telemetry.endpoint)
  )
).pipe(Layer.provideMerge(counting), Layer.provideMerge(Layer.succeed(References.TracerEnabled, false)))
