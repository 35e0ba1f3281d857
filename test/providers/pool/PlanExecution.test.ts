/** The order of attempts under breakers, retry budgets, pauses and the total clock, on the test clock. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Metric, Random } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { TestClock } from "effect/testing"
import { rules } from "../../../src/providers/pool/Breaker.ts"
import type { PoolCall } from "../../../src/providers/pool/CallKind.ts"
import type { Provider } from "../../../src/providers/Provider.ts"
import type { ProviderFault } from "../../../src/providers/ProviderError.ts"
import { makeSandbox } from "../../../src/providers/sandbox/Sandbox.ts"
import { candidate, clocks } from "../calls.ts"
import { double, failing, outcomes, poolCall, pooled } from "../pools.ts"

const [a, b] = [candidate("a"), candidate("b")]

const server: ProviderFault = { _tag: "ServerError", status: 500, detail: "X" }
const unreachable: ProviderFault = { _tag: "Unreachable", detail: "X" }
const limited = (seconds: number): ProviderFault => ({ _tag: "RateLimited", retryAfterSeconds: seconds })

/** A provider that records the test clock's time of each call. */
const counted = (provider: Provider) => {
  const calls: Array<number> = []
  const noted = TestClock.testClockWith((clock) => Effect.sync(() => calls.push(clock.currentTimeMillisUnsafe())))
  const chat: Provider["chat"] = (call) => Effect.andThen(noted, provider.chat(call))
  return { provider: { ...provider, chat }, calls }
}

const times = (count: number, fault: ProviderFault) => Array.from({ length: count }, () => fault)

type Pooled = Effect.Success<ReturnType<typeof pooled>>

/** The outcome of a request: the attempts, and the reason that the caller gets. */
const tried = ({ pool }: Pooled, call: PoolCall) =>
  Effect.match(pool.chat(call), {
    onSuccess: ({ attempts }) => ({ attempts: outcomes(attempts), reason: undefined }),
    onFailure: ({ attempts, reason }) => ({ attempts: outcomes(attempts), reason })
  })

/** The same while the test clock advances by `time` milliseconds. */
const triedWithin = (pooled: Pooled, call: PoolCall, time: number) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(tried(pooled, call), { startImmediately: true })
    yield* TestClock.adjust(time)
    return yield* Fiber.join(fiber)
  })

const metric = ({ metrics }: Pooled, line: string) =>
  PrometheusMetrics.formatUnsafe(Context.make(Metric.MetricRegistry, metrics.registry))
    .split("\n")
    .find((one) => one.startsWith(`${line} `))
    ?.slice(line.length + 1)

const resting = (seconds: number) => ({
  _tag: "NoProviderAvailable",
  detail: "The circuit breakers of all providers for this request are open because of recent failures; try again later",
  retryAfterSeconds: seconds
})

describe("a candidate that was planned for the sandbox", () => {
  it.effect("never reaches a real host, even if the host got a key after the plan", () =>
    Effect.gen(function* () {
      const { steerable: _, ...host } = makeSandbox("a")
      const real = counted(host)
      const planned = { ...a, offer: { ...a.offer, simulated: true as const } }
      const all = yield* pooled(real.provider, makeSandbox("b"))
      assert.deepStrictEqual((yield* tried(all, poolCall([planned, b]))).attempts, ["a failed_over", "b served"])
      assert.strictEqual((yield* tried(all, poolCall([planned]))).reason?._tag, "UpstreamError")
      assert.deepStrictEqual(real.calls, [])
      assert.deepStrictEqual((yield* tried(all, poolCall([a]))).attempts, ["a served"])
    })
  )
})

describe("a candidate that fails", () => {
  it.effect("is skipped without an attempt while its breaker is open, and probed afterwards", () =>
    Effect.gen(function* () {
      const bad = counted(failing("a", ...times(rules.consecutive, server)))
      const all = yield* pooled(bad.provider, makeSandbox("b"))
      for (let request = 0; request < rules.consecutive; request++) {
        assert.deepStrictEqual((yield* tried(all, poolCall([a, b]))).attempts, ["a failed_over", "b served"])
      }
      for (let request = 0; request < 3; request++) {
        assert.deepStrictEqual((yield* tried(all, poolCall([a, b]))).attempts, ["b served"])
      }
      assert.lengthOf(bad.calls, rules.consecutive)
      assert.strictEqual(metric(all, 'svc_provider_passed_over{gen_ai_provider_name="a"}'), "3")
      yield* TestClock.adjust(rules.firstOpenMs)
      assert.deepStrictEqual((yield* tried(all, poolCall([a, b]))).attempts, ["a served"])
    })
  )

  it.effect("is skipped only for the failing model", () =>
    Effect.gen(function* () {
      const all = yield* pooled(failing("a", ...times(rules.consecutive, server)), makeSandbox("b"))
      for (let request = 0; request < rules.consecutive; request++) yield* tried(all, poolCall([a, b]))
      const other = candidate("a", { model: { id: "model-2" } })
      assert.deepStrictEqual((yield* tried(all, poolCall([other, b]))).attempts, ["a served"])
    })
  )

  it.effect("and has no alternatives is probed once a second; other requests get the wait", () =>
    Effect.gen(function* () {
      const bad = counted(failing("a", ...times(rules.consecutive + 2, server)))
      const all = yield* pooled(bad.provider)
      for (let request = 0; request < rules.consecutive; request++) yield* tried(all, poolCall([a]))
      const refused = { attempts: [], reason: resting(1) }
      assert.deepStrictEqual<unknown>(yield* tried(all, poolCall([a])), refused)
      for (let second = 1; second <= 2; second++) {
        yield* TestClock.adjust(rules.earlyProbeMs)
        assert.deepStrictEqual((yield* tried(all, poolCall([a]))).attempts, ["a failed"])
        assert.deepStrictEqual<unknown>(yield* tried(all, poolCall([a])), refused)
      }
      yield* TestClock.adjust(rules.earlyProbeMs)
      assert.deepStrictEqual((yield* tried(all, poolCall([a]))).attempts, ["a served"])
    })
  )

  it.effect("is probed when all others have failed this request", () =>
    Effect.gen(function* () {
      const all = yield* pooled(failing("a", ...times(rules.consecutive, server)), failing("b", ...times(99, server)))
      for (let request = 0; request < rules.consecutive; request++) yield* tried(all, poolCall([a]))
      yield* TestClock.adjust(rules.earlyProbeMs)
      assert.deepStrictEqual((yield* tried(all, poolCall([a, b]))).attempts, ["b failed_over", "a served"])
    })
  )

  it.effect("because a sandbox client requested it does not open its breaker", () =>
    Effect.gen(function* () {
      const all = yield* pooled(makeSandbox("a"))
      for (let request = 0; request < 50; request++) {
        const { attempts } = yield* tried(all, poolCall([a], {}, { steering: "fault=error" }))
        assert.deepStrictEqual(attempts, ["a failed"])
      }
      assert.deepStrictEqual((yield* tried(all, poolCall([a]))).attempts, ["a served"])
    })
  )

  it.effect("opens its breaker despite a steering header when it is not a sandbox provider", () =>
    Effect.gen(function* () {
      const all = yield* pooled({ ...failing("a", ...times(rules.consecutive, server)), steerable: false })
      const call = poolCall([a], {}, { steering: "provider=b,fault=error" })
      for (let request = 0; request < rules.consecutive; request++) yield* tried(all, call)
      assert.deepStrictEqual<unknown>(yield* tried(all, call), { attempts: [], reason: resting(1) })
    })
  )

  it.effect("with an empty answer ends the request when it is the second empty answer", () =>
    Effect.gen(function* () {
      const served = counted(makeSandbox("d"))
      const [c, d] = [candidate("c"), candidate("d")]
      const all = yield* pooled(
        double("a", "fault=empty"),
        failing("b", server),
        double("c", "fault=empty"),
        served.provider
      )
      assert.deepStrictEqual<unknown>(yield* tried(all, poolCall([a, b, c, d])), {
        attempts: ["a failed_over", "b failed_over", "c failed"],
        reason: { _tag: "EmptyCompletion" }
      })
      assert.lengthOf(served.calls, 0)
      assert.deepStrictEqual((yield* tried(all, poolCall([a, d]))).attempts, ["a failed_over", "d served"])
    })
  )

  it.effect("with empty answers is not skipped, and records no samples", () =>
    Effect.gen(function* () {
      const all = yield* pooled(double("a", "fault=empty"))
      for (let request = 0; request < 50; request++) {
        assert.deepStrictEqual((yield* tried(all, poolCall([a]))).attempts, ["a failed"])
      }
      assert.deepStrictEqual(all.samples, [])
    })
  )

  it.effect("because of the caller's limits or invalid requests is not skipped", () =>
    Effect.gen(function* () {
      const late: ProviderFault = { _tag: "TimedOut", clock: "total" }
      const refused: ProviderFault = { _tag: "Refused", status: 400, detail: "X" }
      const off: ProviderFault = { _tag: "OffSchema", detail: "#: type" }
      const all = yield* pooled(failing("a", ...times(50, late), ...times(50, refused), ...times(50, off)))
      for (let request = 0; request < 150; request++) {
        yield* tried(all, poolCall([a], { timeouts: request < 50 ? { totalMs: clocks.totalMs - 1 } : {} }))
      }
      assert.deepStrictEqual(all.samples, [])
      assert.deepStrictEqual((yield* tried(all, poolCall([a]))).attempts, ["a served"])
    })
  )
})

describe("a host that names a pause", () => {
  it.effect("is not called before the pause ends; another provider serves, or the client gets the wait", () =>
    Effect.gen(function* () {
      const busy = counted(failing("a", limited(30)))
      const all = yield* pooled(busy.provider, makeSandbox("b"))
      const told = yield* tried(all, poolCall([a]))
      assert.deepStrictEqual<unknown>(told, {
        attempts: ["a failed"],
        reason: { _tag: "UpstreamRateLimited", retryAfterSeconds: 30 }
      })
      yield* TestClock.adjust(29_500)
      assert.deepStrictEqual<unknown>(yield* tried(all, poolCall([a])), { attempts: [], reason: resting(1) })
      assert.deepStrictEqual((yield* tried(all, poolCall([a, b]))).attempts, ["b served"])
      assert.lengthOf(busy.calls, 1)
      yield* TestClock.adjust(500)
      assert.deepStrictEqual((yield* tried(all, poolCall([a, b]))).attempts, ["a served"])
    })
  )

  it.effect("is retried after a short pause when no other provider serves", () =>
    Effect.gen(function* () {
      const outage: ProviderFault = { _tag: "ServerError", status: 503, detail: "X", retryAfterSeconds: 2 }
      for (const fault of [limited(2), outage]) {
        const busy = counted(failing("a", fault))
        const all = yield* pooled(busy.provider)
        const { attempts } = yield* triedWithin(all, poolCall([a]), 2_200)
        assert.deepStrictEqual(attempts, ["a failed_over", "a served"])
        const [first = 0, second = 0] = busy.calls
        assert.isAtLeast(second - first, 2_000)
        assert.strictEqual(metric(all, 'svc_provider_retries{gen_ai_provider_name="a"}'), "1")
      }
    })
  )

  it.effect("is not retried after a pause longer than the total limit", () =>
    Effect.gen(function* () {
      const all = yield* pooled(failing("a", limited(2)))
      const { attempts } = yield* tried(all, poolCall([a], { timeouts: { totalMs: 1_999 } }))
      assert.deepStrictEqual(attempts, ["a failed"])
    })
  )
})

describe("a host that cannot be reached", () => {
  it.effect("is retried at once, then twice after a backoff, and then no more", () =>
    Effect.gen(function* () {
      const gone = counted(failing("a", ...times(9, unreachable)))
      const all = yield* pooled(gone.provider)
      const { attempts } = yield* triedWithin(all, poolCall([a]), 1_000)
      assert.deepStrictEqual(attempts, ["a failed_over", "a failed_over", "a failed_over", "a failed"])
      const [first, again, second = 0, third = 0] = gone.calls
      assert.strictEqual(again, first)
      assert.isAtMost(second, 200)
      assert.isAtMost(third - second, 400)
    }).pipe(Random.withSeed("backoff"))
  )

  it.effect("is retried within the retry budget only", () =>
    Effect.gen(function* () {
      const all = yield* pooled(failing("a", ...times(1_000, unreachable)))
      // Each request is for its own model, so that no breaker opens.
      const models = Array.from({ length: 30 }, (_, index) => candidate("a", { model: { id: `model-${index}` } }))
      const fibers = yield* Effect.forEach(models, (model) => Effect.forkChild(tried(all, poolCall([model]))))
      yield* TestClock.adjust(1_000)
      for (const fiber of fibers) yield* Fiber.join(fiber)
      // One immediate retry for each, the ten that every budget has, one for ten requests, and what refills meanwhile.
      const retries = Number(metric(all, 'svc_provider_retries{gen_ai_provider_name="a"}'))
      assert.isTrue(retries >= 30 + 10 && retries <= 30 + 10 + 3 + 1, `${retries} retries`)
    })
  )
})

describe("the total time limit", () => {
  it.effect("covers all attempts together", () =>
    Effect.gen(function* () {
      const bad = failing("a", server, server)
      const slow: Provider = { ...bad, chat: (call) => Effect.andThen(Effect.sleep(700), bad.chat(call)) }
      const left: Array<number> = []
      const second: Provider = {
        ...makeSandbox("b"),
        chat: (call) => {
          left.push(call.clocks.totalMs)
          return makeSandbox("b").chat(call)
        }
      }
      const all = yield* pooled(slow, second)
      const call = poolCall([a, b], { timeouts: { totalMs: 1_000 } })
      assert.deepStrictEqual((yield* triedWithin(all, call, 700)).attempts, ["a failed_over", "b served"])
      assert.deepStrictEqual(left, [300])
      const late = poolCall([a, b], { timeouts: { totalMs: 700 } })
      assert.deepStrictEqual((yield* triedWithin(all, late, 700)).attempts, ["a failed"])
    })
  )
})
