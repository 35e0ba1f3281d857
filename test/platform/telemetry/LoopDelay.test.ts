import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { TestClock } from "effect/testing"
import { loopDelay, type Monitor } from "../../../src/platform/telemetry/LoopDelay.ts"
import { makeMetrics } from "../../../src/platform/telemetry/Metrics.ts"
import { ended } from "../../support/Metrics.ts"

const WINDOW = "10 seconds"

/** Monitors that see no delay except `lateMs`, by the intervals of their timers. */
const scene = Effect.gen(function* () {
  const metrics = makeMetrics()
  const running = new Set<number>()
  let lateMs = 0
  const monitorOf = (everyMs: number): Monitor => ({
    enable: () => void running.add(everyMs),
    disable: () => void running.delete(everyMs),
    reset: () => undefined,
    count: 1,
    get max() {
      return (everyMs + lateMs) * 1e6
    },
    percentile: () => everyMs * 1e6
  })
  yield* loopDelay(metrics, monitorOf)
  const context = Context.make(Metric.MetricRegistry, metrics.registry)
  const shown = (name: string) =>
    Number(
      new RegExp(`^nodejs_eventloop_delay_${name} (\\S+)$`, "m").exec(PrometheusMetrics.formatUnsafe(context))?.[1]
    )
  return { metrics, running, shown, late: (ms: number) => (lateMs = ms) }
})

describe("the delay of the event loop", () => {
  it.effect("is measured often while requests run, and rarely on an idle node", () =>
    Effect.gen(function* () {
      const { metrics, running } = yield* scene
      const every = () => [...running]
      assert.deepStrictEqual(every(), [20])
      yield* TestClock.adjust(WINDOW)
      assert.deepStrictEqual(every(), [500])
      metrics.http.arrived()
      yield* TestClock.adjust(WINDOW)
      assert.deepStrictEqual(every(), [20])
      yield* TestClock.adjust(WINDOW)
      assert.deepStrictEqual(every(), [20], "while the request is answered")
      metrics.http.left(ended(200))
      yield* TestClock.adjust(WINDOW)
      assert.deepStrictEqual(every(), [500])
    }).pipe(Effect.scoped)
  )

  it.effect("is the time in excess of the timer's interval", () =>
    Effect.gen(function* () {
      const { late, shown } = yield* scene
      late(30)
      yield* TestClock.adjust(WINDOW)
      assert.deepStrictEqual([shown("p99"), shown("max")], [0, 0.03])
      late(700)
      yield* TestClock.adjust(WINDOW)
      assert.deepStrictEqual([shown("p99"), shown("max")], [0, 0.7])
    }).pipe(Effect.scoped)
  )

  it.effect("shows how long something blocked the event loop", () =>
    Effect.gen(function* () {
      const metrics = makeMetrics()
      yield* loopDelay(metrics)
      const turn = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 50)))
      yield* turn
      const until = performance.now() + 200
      while (performance.now() < until);
      yield* turn
      yield* TestClock.adjust(WINDOW)
      const text = PrometheusMetrics.formatUnsafe(Context.make(Metric.MetricRegistry, metrics.registry))
      const max = Number(/^nodejs_eventloop_delay_max (\S+)$/m.exec(text)?.[1])
      assert.isAtLeast(max, 0.15)
    }).pipe(Effect.scoped)
  )
})
