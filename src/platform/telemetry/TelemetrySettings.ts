import type { Redacted } from "effect"
import type { Values } from "../config/SettingsTable.ts"

/** What telemetry the service exports, and where to. */
export interface TelemetrySettings {
  /** The OTLP/HTTP base URL, to which `/v1/traces` and the like are appended. Absent: nothing is exported. */
  readonly endpoint: URL | undefined
  readonly protocol: Values["OTEL_EXPORTER_OTLP_PROTOCOL"]
  /** Headers of every export, which may contain a key. */
  readonly headers: Redacted.Redacted<Readonly<Record<string, string>>>
  readonly serviceName: string
  readonly resource: Readonly<Record<string, string>>
  readonly sampler: Values["OTEL_TRACES_SAMPLER"]
  /** The share of traces that a sampler by ratio records, from 0 to 1. */
  readonly sampledRatio: number
  /** Between two exports of metrics. */
  readonly metricIntervalMs: number
  /** Ids of the providers that receive the trace context of their calls. */
  readonly contextTo: ReadonlyArray<string>
}

/** The settings that come from OpenTelemetry's variables and `TRACE_CONTEXT_PROVIDERS`. */
export const telemetryOf = (values: Values): TelemetrySettings => ({
  endpoint: values.OTEL_SDK_DISABLED ? undefined : values.OTEL_EXPORTER_OTLP_ENDPOINT,
  headers: values.OTEL_EXPORTER_OTLP_HEADERS,
  serviceName: values.OTEL_SERVICE_NAME ?? values.OTEL_RESOURCE_ATTRIBUTES["service.name"] ?? "tollgate",
  resource: values.OTEL_RESOURCE_ATTRIBUTES,
  protocol: values.OTEL_EXPORTER_OTLP_PROTOCOL,
  sampler: values.OTEL_TRACES_SAMPLER,
  sampledRatio: values.OTEL_TRACES_SAMPLER_ARG,
  metricIntervalMs: values.OTEL_METRIC_EXPORT_INTERVAL,
  contextTo: values.TRACE_CONTEXT_PROVIDERS
})
