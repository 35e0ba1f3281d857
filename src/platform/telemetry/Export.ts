/** Exports traces, metrics and logs over OTLP, by the OpenTelemetry SDK. */
import { OtelLogger, OtelMetrics, OtelTracer, Resource } from "@effect/opentelemetry"
import * as NodeSdk from "@effect/opentelemetry/NodeSdk"
import { type ExportResult, ExportResultCode } from "@opentelemetry/core"
import { OTLPLogExporter as LogsAsJson } from "@opentelemetry/exporter-logs-otlp-http"
import { OTLPLogExporter as LogsAsProtobuf } from "@opentelemetry/exporter-logs-otlp-proto"
import { OTLPMetricExporter as MetricsAsJson } from "@opentelemetry/exporter-metrics-otlp-http"
import { OTLPMetricExporter as MetricsAsProtobuf } from "@opentelemetry/exporter-metrics-otlp-proto"
import { OTLPTraceExporter as TracesAsJson } from "@opentelemetry/exporter-trace-otlp-http"
import { OTLPTraceExporter as TracesAsProtobuf } from "@opentelemetry/exporter-trace-otlp-proto"
import { detectResources, hostDetector, osDetector, resourceFromAttributes } from "@opentelemetry/resources"
import { BatchLogRecordProcessor } from "@opentelemetry/sdk-logs"
import { PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics"
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler
} from "@opentelemetry/sdk-trace-base"
import { Context, Effect, Layer, Logger, Redacted, Tracer } from "effect"
import { VERSION } from "../config/Version.ts"
import { inWords } from "./LogWords.ts"
import { spanAround } from "./LogSpan.ts"
import type { TelemetrySettings } from "./TelemetrySettings.ts"
import { makeTracing, Tracing } from "./Tracing.ts"

/** The maximum number of concurrent exports of one kind. The SDK drops further ones, so a silent collector costs bounded memory. */
const MAX_UNDER_WAY = 8

/** How long a stopping service waits for the last exports. */
const FLUSH_TIMEOUT = "3 seconds"

/** The schema of the attribute names for calls to models. */
const SCHEMA_URL = "https://opentelemetry.io/schemas/gen-ai/1.42.0"

/**
 * Wraps a logger so that each entry carries the span it belongs to. A collector rejects a whole export when one entry has invalid ids.
 */
const withSpanAround = <Output>(logger: Logger.Logger<unknown, Output>): Logger.Logger<unknown, Output> =>
  Logger.make((entry) => {
    const span = spanAround(entry)
    const { context } = entry.fiber
    const within =
      span === undefined ? Context.omit(Tracer.ParentSpan)(context) : Context.add(context, Tracer.ParentSpan, span)
    const fiber: typeof entry.fiber = Object.create(entry.fiber, { context: { value: within } })
    return logger.log({ ...entry, fiber })
  })

/** Builds the sampler of OpenTelemetry's name. */
const samplerOf = ({ sampledRatio, sampler }: TelemetrySettings): Sampler => {
  const root = sampler.endsWith("traceidratio")
    ? new TraceIdRatioBasedSampler(sampledRatio)
    : sampler.endsWith("always_on")
      ? new AlwaysOnSampler()
      : new AlwaysOffSampler()
  return sampler.startsWith("parentbased_") ? new ParentBasedSampler({ root }) : root
}

const resourceOf = ({ resource, serviceName }: TelemetrySettings) =>
  detectResources({ detectors: [hostDetector, osDetector] }).merge(
    resourceFromAttributes(Resource.configToAttributes({ serviceName, serviceVersion: VERSION, attributes: resource }))
  )

/** Logs once when a collector becomes unreachable, and once when it recovers. */
const makeDeliveryLog = Effect.map(Effect.context(), (context) => {
  const run = Effect.runForkWith(context)
  let reachable = true
  return (now: boolean): void => {
    if (now === reachable) return
    reachable = now
    run(
      now
        ? Effect.logInfo("telemetry is delivered again")
        : Effect.logWarning(
            "telemetry cannot be delivered; exports that exceed the buffer are dropped, and requests are not affected"
          )
    )
  }
})

interface Exporter<Item> {
  export: (items: Item, done: (result: ExportResult) => void) => void
}

/** An exporter that reports each outcome to the delivery log. */
const withDeliveryLog = <Item, E extends Exporter<Item>>(
  exporter: E & Exporter<Item>,
  log: (delivered: boolean) => void
): E => {
  const send = exporter.export.bind(exporter)
  const sendAndLog: Exporter<Item>["export"] = (items, done) =>
    send(items, (result) => {
      log(result.code === ExportResultCode.SUCCESS)
      done(result)
    })
  exporter.export = sendAndLog
  return exporter
}

const tracing = Layer.effect(
  Tracing,
  Effect.map(OtelTracer.OtelTracerProvider, (provider) =>
    makeTracing(provider.getTracer("tollgate", VERSION, { schemaUrl: SCHEMA_URL }))
  )
)

const logs = Logger.layer([Effect.map(OtelLogger.make, (logger) => withSpanAround(inWords(logger)))], {
  mergeWithExisting: true
})

/**
 * Exports everything to the collector at `endpoint`. Limits, batches and time limits are those of the SDK, which reads the standard
 * variables for them.
 */
export const exportTo = (settings: TelemetrySettings, endpoint: URL) =>
  Layer.unwrap(
    Effect.map(makeDeliveryLog, (log) => {
      const base = endpoint.href.replace(/\/*$/, "")
      const to = (kind: "traces" | "metrics" | "logs") => ({
        url: `${base}/v1/${kind}`,
        headers: Redacted.value(settings.headers),
        concurrencyLimit: MAX_UNDER_WAY
      })
      const isJson = settings.protocol === "http/json"
      const spans = isJson ? new TracesAsJson(to("traces")) : new TracesAsProtobuf(to("traces"))
      const metrics = isJson ? new MetricsAsJson(to("metrics")) : new MetricsAsProtobuf(to("metrics"))
      const lines = isJson ? new LogsAsJson(to("logs")) : new LogsAsProtobuf(to("logs"))
      const reader = new PeriodicExportingMetricReader({
        exporter: withDeliveryLog(metrics, log),
        exportIntervalMillis: settings.metricIntervalMs,
        exportTimeoutMillis: Math.min(settings.metricIntervalMs, 10_000)
      })
      const providers = [
        NodeSdk.layerTracerProvider(new BatchSpanProcessor(withDeliveryLog(spans, log)), {
          sampler: samplerOf(settings),
          shutdownTimeout: FLUSH_TIMEOUT
        }),
        OtelLogger.layerLoggerProvider(new BatchLogRecordProcessor({ exporter: withDeliveryLog(lines, log) }), {
          shutdownTimeout: FLUSH_TIMEOUT
        })
      ] as const
      return Layer.mergeAll(
        Layer.provide(tracing, providers[0]),
        Layer.provide(logs, providers[1]),
        OtelMetrics.layer(() => reader, { shutdownTimeout: FLUSH_TIMEOUT })
      ).pipe(Layer.provide(Layer.succeed(Resource.Resource, resourceOf(settings))))
    })
  )
