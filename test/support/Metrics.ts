/** Figures for metrics, and readers of Prometheus' text format. */
import { Context, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import type { HttpFigures } from "../../src/platform/telemetry/HttpMetrics.ts"
import type { Metrics } from "../../src/platform/telemetry/Metrics.ts"

/** The figures of a request that ended with this status. */
export const ended = (status: number): HttpFigures => ({
  method: "GET",
  route: "/api/v1/models",
  status,
  error: undefined,
  durationMs: 1
})

/** The metrics as Prometheus' text, with names that lack their units. */
export const textOf = (metrics: Metrics) =>
  PrometheusMetrics.formatUnsafe(Context.make(Metric.MetricRegistry, metrics.registry))

/** The value of the series with this name and these labels; undefined without one. */
export const valueOf = (metrics: Metrics, line: string): number | undefined => {
  const found = textOf(metrics)
    .split("\n")
    .find((one) => one.startsWith(`${line} `))
  return found === undefined ? undefined : Number(found.slice(line.length + 1))
}

/** A family of metrics in Prometheus' text. */
export interface Family {
  readonly type: string
  readonly series: ReadonlyArray<{
    readonly name: string
    readonly labels: Readonly<Record<string, string>>
    readonly value: number
  }>
}

/** Reads Prometheus' text into its families, by their names. */
export const familiesOf = (text: string): ReadonlyMap<string, Family> => {
  const families = new Map<string, { type: string; series: Array<Family["series"][number]> }>()
  let current: { type: string; series: Array<Family["series"][number]> } | undefined
  for (const line of text.split("\n")) {
    const [, family, type = ""] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? []
    if (family !== undefined) {
      current = families.get(family) ?? { type, series: [] }
      families.set(family, current)
      continue
    }
    const [, name, labels = "", value] = /^([a-z0-9_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    if (name === undefined) continue
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = "", text = ""]) => [key, text])
    current?.series.push({ name, labels: Object.fromEntries(pairs), value: Number(value) })
  }
  return families
}
