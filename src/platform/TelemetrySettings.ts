import { Effect, Redacted } from "effect"
import type { Sampler } from "./Tracing.ts"
import { BASE, flag, type Parse, parseBase, read, readOr, type StartError, words } from "./Variables.ts"

/** What is told of the running service, and to whom. */
export interface TelemetrySettings {
  /** Where OTLP over HTTP is taken, `/v1/traces` and the like beneath it. Absent: nothing is exported. */
  readonly endpoint: URL | undefined
  /** Sent with every export; they may hold a key. */
  readonly headers: Redacted.Redacted<Readonly<Record<string, string>>>
  readonly serviceName: string
  readonly resource: Readonly<Record<string, string>>
  readonly sampler: Sampler
  /** Ids of the providers that are told of the trace a call belongs to. */
  readonly contextTo: ReadonlyArray<string>
}

/** `key=value` pairs as OpenTelemetry writes them: comma-separated, percent-encoded, spaces around them ignored. */
const pairs =
  (key: RegExp, value: RegExp): Parse<Readonly<Record<string, string>>> =>
  (text) => {
    const found: Record<string, string> = {}
    for (const pair of text.split(",").map((one) => one.trim())) {
      if (pair === "") continue
      const at = pair.indexOf("=")
      const name = pair.slice(0, at).trim()
      const said = decodedComponent(pair.slice(at + 1).trim())
      if (at < 1 || !key.test(name) || said === undefined || !value.test(said)) return undefined
      found[name] = said
    }
    return found
  }

const decodedComponent = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const exportHeaders: Parse<Redacted.Redacted<Readonly<Record<string, string>>>> = (text) => {
  const found = pairs(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, /^[\x20-\x7e]*$/)(text)
  return found === undefined ? undefined : Redacted.make(found)
}

const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio"
] as const

const sampler: Effect.Effect<Sampler, StartError> = Effect.gen(function* () {
  const name = yield* words("OTEL_TRACES_SAMPLER", "parentbased_always_on", samplers)
  const ratio = yield* readOr("OTEL_TRACES_SAMPLER_ARG", 1, "a number from 0 to 1", (text) => {
    const value = /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN
    return value >= 0 && value <= 1 ? value : undefined
  })
  const root = name.endsWith("traceidratio") ? ratio : name.endsWith("always_on") ? 1 : 0
  return { ratio: root, followsParent: name.startsWith("parentbased_") }
})

/** Read from the variables of OpenTelemetry, and `TRACE_CONTEXT_PROVIDERS`. */
export const telemetry: Effect.Effect<TelemetrySettings, StartError> = Effect.gen(function* () {
  const endpoint = yield* read("OTEL_EXPORTER_OTLP_ENDPOINT", `${BASE}, such as http://localhost:4318`, parseBase)
  const disabled = yield* flag("OTEL_SDK_DISABLED")
  const named = yield* read("OTEL_SERVICE_NAME", "a name", (text) => text)
  const resource = yield* readOr(
    "OTEL_RESOURCE_ATTRIBUTES",
    {},
    "a comma-separated list of key=value, percent-encoded",
    pairs(/^[\x21-\x7e]+$/, /^/)
  )
  return {
    endpoint: disabled ? undefined : endpoint,
    headers: yield* readOr(
      "OTEL_EXPORTER_OTLP_HEADERS",
      Redacted.make({}),
      "a comma-separated list of name=value, percent-encoded",
      exportHeaders
    ),
    serviceName: named ?? resource["service.name"] ?? "tollgate",
    resource,
    sampler: yield* sampler,
    contextTo: yield* readOr("TRACE_CONTEXT_PROVIDERS", [], "a comma-separated list of providers' ids", (text) => {
      const ids = text.split(",").map((id) => id.trim())
      return ids.every((id) => /^[A-Za-z0-9._-]+$/.test(id)) ? ids : undefined
    })
  }
})
