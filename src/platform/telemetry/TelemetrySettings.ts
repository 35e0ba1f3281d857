import type { Redacted } from "effect"
import type { Values } from "../config/SettingsTable.ts"
import type { Sampler } from "./Tracing.ts"

/** What telemetry the service exports, and where to. */
export interface TelemetrySettings {
  /** The OTLP/HTTP base URL, to which `/v1/traces` and the like are appended. Absent: nothing is exported. */
  readonly endpoint: URL | undefined
  /** Headers of every export, which may contain a key. */
  readonly headers: Redacted.Redacted<Readonly<Record<string, string>>>
  readonly serviceName: string
  readonly resource: Readonly<Record<string, string>>
  readonly sampler: Sampler
  /** Ids of the providers that receive the trace context of their calls. */
  readonly contextTo: ReadonlyArray<string>
}

const samplerOf = (name: Values["OTEL_TRACES_SAMPLER"], ratio: number): Sampler => ({
  ratio: name.endsWith("traceidratio") ? ratio : name.endsWith("always_on") ? 1 : 0,
  followsParent: name.startsWith("parentbased_")
})

/** The settings that come from OpenTelemetry's variables and `TRACE_CONTEXT_PROVIDERS`. */
export const telemetryOf = (values: Values): TelemetrySettings => ({
  endpoint: values.OTEL_SDK_DISABLED ? undefined : values.OTEL_EXPORTER_OTLP_ENDPOINT,
  headers: values.OTEL_EXPORTER_OTLP_HEADERS,
  serviceName: values.OTEL_SERVICE_NAME ?? values.OTEL_RESOURCE_ATTRIBUTES["service.name"] ?? "tollgate",
  resource: values.OTEL_RESOURCE_ATTRIBUTES,
  sampler: samplerOf(values.OTEL_TRACES_SAMPLER, values.OTEL_TRACES_SAMPLER_ARG),
  contextTo: values.TRACE_CONTEXT_PROVIDERS
})
