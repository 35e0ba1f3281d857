import { assert, describe, it } from "@effect/vitest"
import { Context, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { family, Instruments } from "../../../src/platform/telemetry/Instruments.ts"

const make = () => {
  const registry: Metric.MetricRegistry = new Map()
  const instruments = new Instruments(registry)
  const lines = () =>
    PrometheusMetrics.formatUnsafe(Context.make(Metric.MetricRegistry, registry), {
      metricNameMapper: (name) => instruments.prometheusName(name)
    }).split("\n")
  return { instruments, lines }
}

describe("instruments", () => {
  it("end their names in the unit, and counters in _total", () => {
    const { instruments, lines } = make()
    instruments.counter("a.spent", "Spent", "{nano_usd}", { by: "x" })(3)
    instruments.counter("a.calls", "Calls", "{call}")(2)
    instruments.gauge("a.memory", "Memory", "By", () => 7)
    instruments.histogram("a.duration", "Duration", "s", [1, 2])(1.5)
    for (const line of [
      "# TYPE a_spent_nano_usd_total counter",
      'a_spent_nano_usd_total{by="x"} 3',
      "a_calls_total 2",
      "a_memory_bytes 7",
      'a_duration_seconds_bucket{le="1"} 0',
      'a_duration_seconds_bucket{le="2"} 1',
      'a_duration_seconds_bucket{le="+Inf"} 1',
      "a_duration_seconds_sum 1.5"
    ]) {
      assert.include(lines(), line)
    }
  })

  it("count an observation on a boundary in the bucket below it, and one beyond all boundaries in the last bucket", () => {
    const { instruments, lines } = make()
    const observe = instruments.histogram("a.duration", "Duration", "s", [1, 2])
    for (const value of [1, 2, 3]) observe(value)
    for (const line of ['{le="1"} 1', '{le="2"} 2', '{le="+Inf"} 3']) {
      assert.include(lines(), `a_duration_seconds_bucket${line}`)
    }
  })

  it("of a family are created once for the same labels", () => {
    const made: Array<string> = []
    const of = family((a, b) => ({ id: made.push(`${a} ${b}`) }))
    assert.strictEqual(of("x", "y"), of("x", "y"))
    assert.notStrictEqual(of("x", "y"), of("y", "x"))
    assert.deepStrictEqual(made, ["x y", "y x"])
  })
})
