import { Effect, type Scope } from "effect"
import { monitorEventLoopDelay } from "node:perf_hooks"
import type { Metrics } from "./Metrics.ts"

/** The time window of the figures, in milliseconds. */
const WINDOW_MS = 10_000

/** How often the loop is timed while requests arrive. Each time wakes the process. */
const BUSY_MS = 20

/** How often the loop is timed on an idle node. At the usual interval, timing would take a large part of its processor time. */
const IDLE_MS = 500

/** What times the event loop. Times are in nanoseconds. */
export interface Monitor {
  readonly enable: () => void
  readonly disable: () => void
  readonly reset: () => void
  readonly count: number
  readonly max: number
  readonly percentile: (percent: number) => number
}

/** Node's own monitor, which measures from one timer to the next. */
const nodeMonitor = (everyMs: number): Monitor => monitorEventLoopDelay({ resolution: everyMs })

/** Registers how late the event loop runs what is due, until the scope closes. */
export const loopDelay = (
  metrics: Metrics,
  monitorOf: (everyMs: number) => Monitor = nodeMonitor
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const [busy, idle] = [BUSY_MS, IDLE_MS].map((everyMs) => ({ everyMs, monitor: monitorOf(everyMs) }))
    let running = busy!
    let delay = { p99: 0, max: 0 }
    let before = 0
    /** A loop without any delay has the interval of the timer. */
    const secondsOf = (nanos: number) => Math.max(0, nanos - running.everyMs * 1e6) / 1e9
    const look = Effect.sync(() => {
      const { monitor } = running
      if (monitor.count > 0) delay = { p99: secondsOf(monitor.percentile(99)), max: secondsOf(monitor.max) }
      monitor.reset()
      const { count, inFlight } = metrics.http.seen()
      const next = inFlight > 0 || count !== before ? busy! : idle!
      before = count
      if (next === running) return
      monitor.disable()
      running = next
      running.monitor.enable()
    })
    yield* Effect.acquireRelease(
      Effect.sync(() => running.monitor.enable()),
      () => Effect.sync(() => running.monitor.disable())
    )
    yield* Effect.forkScoped(Effect.forever(Effect.delay(look, WINDOW_MS)))
    const gauge = (name: string, description: string, read: () => number) =>
      metrics.gauge(`nodejs.eventloop.delay.${name}`, description, "s", read)
    gauge("p99", "99th percentile of the event loop's delay in the last 10 seconds", () => delay.p99)
    gauge("max", "Longest delay of the event loop in the last 10 seconds", () => delay.max)
  })
