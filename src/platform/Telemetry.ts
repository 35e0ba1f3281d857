/** What the service tells of itself: logs on the console always, metrics for who asks, and all of it over OTLP when told to. */
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
import { Config, withoutEnvironment } from "./Config.ts"
import { inWords } from "./LogWords.ts"
import { makeMetrics, Metrics } from "./Metrics.ts"
import type { TelemetrySettings } from "./TelemetrySettings.ts"
import { makeTracing, type SpanRecord, Tracing } from "./Tracing.ts"

/** Spans or log lines in one export. Encoding one takes a few milliseconds, in which nothing else runs. */
const MAX_BATCH = 512

/** Exports under way at once; what finds no room is dropped. With the batch this bounds the memory telemetry takes: about 4,000
 * spans. */
const MAX_UNDER_WAY = 8

/** A collector that has not answered for so long will not. */
const EXPORT_TIMEOUT_MS = 10_000

/** How long a stop waits for what has not been exported yet. */
const FLUSH_TIMEOUT = "3 seconds"

const SPANS_EVERY = "1 second"
const METRICS_EVERY = "10 seconds"

/** The schema whose names are used for what is asked of models. */
const SCHEMA_URL = "https://opentelemetry.io/schemas/gen-ai/1.42.0"

// ---- logs

/** The span that an entry belongs to. Effect's own, which are off, stand there all the same, with a word in place of their ids. */
const spanAround = (entry: Logger.Options<unknown>): Tracer.AnySpan | undefined => {
  let span = entry.fiber.cache.span
  while (span?._tag === "Span" && span.traceId === "noop") span = Option.getOrUndefined(span.parent)
  return span
}

/** The same logger, for which an entry is of the span it belongs to: a collector refuses all it is sent with ids that are none. */
const withSpanAround = <Output>(logger: Logger.Logger<unknown, Output>): Logger.Logger<unknown, Output> =>
  Logger.make((entry) => {
    const { cache } = entry.fiber
    const span = spanAround(entry)
    if (span === cache.span) return logger.log(entry)
    const fiber: typeof entry.fiber = Object.create(entry.fiber, { cache: { value: { ...cache, span } } })
    return logger.log({ ...entry, fiber })
  })

/** One line of JSON: time, level, message, and whatever is known of the request, such as its id and its trace. */
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

/** Writes logs to the console in the operator's format, from the operator's level on. */
export const logging = Layer.unwrap(
  Effect.map(Config, ({ log }) =>
    Layer.mergeAll(
      Logger.layer([inWords(log.format === "json" ? Logger.withConsoleLog(jsonLine) : Logger.consolePretty())]),
      Layer.succeed(References.MinimumLogLevel, log.level)
    )
  )
)

// ---- metrics

/** Figures of the event loop cover so long. */
const LOOP_WINDOW_MS = 10_000

/** Figures of this process, for as long as the scope is open. */
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
    metrics.gauge("nodejs.eventloop.delay.p99", "Of the last ten seconds", "s", () => delay.p99)
    metrics.gauge("nodejs.eventloop.delay.max", "Of the last ten seconds", "s", () => delay.max)
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

/** For a collector that asks for a pause the exporter would keep all that comes until its end, which may be far; for one that fails, not. */
const TOO_MANY = 429
const FAILS = 503

/** Posts exports, bounded in number and time, and says once when a collector cannot be reached, and once when it can again. */
const makeClient = Effect.sync(() => {
  let underWay = 0
  let reachable = true
  const told = (now: boolean) => {
    if (now === reachable) return Effect.void
    reachable = now
    return now
      ? Effect.logInfo("telemetry is delivered again")
      : Effect.logWarning("telemetry cannot be delivered; what finds no room is dropped, and requests go on as ever")
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
            // The headers may hold a key, which is for this address alone.
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

/** A span as OTLP's JSON has it. */
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
          // Effect's own spans have members that these leave out; on the wire both are the same.
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
  // Side by side, so that a stop waits for all three together.
  return Layer.mergeAll(Layer.provide(Layer.mergeAll(traces, logs), OtlpExporter.layerFlusher), metrics).pipe(
    Layer.provide([OtlpSerialization.layerJson, Layer.effect(HttpClient.HttpClient, makeClient), withoutEnvironment])
  )
}

/**
 * Metrics always; traces, metrics and logs over OTLP when there is an endpoint. It is given outermost, so that it starts first and
 * ends last, with what had not been exported. A collector that is slow or away costs requests nothing, and bounded memory.
 * Effect's own spans are off: the spans of the request path are those of `Tracing`.
 */
export const layer = Layer.unwrap(
  Effect.map(Config, ({ telemetry }) =>
    telemetry.endpoint === undefined ? Layer.empty : exportTo(telemetry, telemetry.endpoint)
  )
).pipe(Layer.provideMerge(counting), Layer.provideMerge(Layer.succeed(References.TracerEnabled, false)))
