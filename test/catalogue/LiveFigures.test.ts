import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { Observation } from "../../src/catalogue/Counts.ts"
import { LiveFigures, MAX_SERIES, THIN_BELOW_SAMPLES } from "../../src/catalogue/LiveFigures.ts"

const nothing = {
  samples: 0,
  successRate: null,
  p50Ms: null,
  p95Ms: null,
  medianTtftMs: null,
  p95TtftMs: null,
  thin: true
}

const seen = (observation: Partial<Observation>): Observation => ({
  model: "m",
  provider: "p",
  ok: true,
  durationMs: 1_000,
  firstTokenMs: undefined,
  ...observation
})

const near = (actual: number | null, expected: number) => {
  assert.isNotNull(actual)
  assert.approximately(actual, expected, expected * 0.1)
}

const run = <A>(effect: Effect.Effect<A, never, LiveFigures>) => effect.pipe(Effect.provide(LiveFigures.layerMemory))

describe("LiveFigures", () => {
  it.effect("knows nothing of what was never seen", () =>
    run(
      Effect.gen(function* () {
        const live = yield* LiveFigures
        live.record(seen({ model: "other" }))
        assert.deepStrictEqual(live.performance("m", "p"), nothing)
      })
    )
  )

  it.effect("tells rates and quantiles within a tenth", () =>
    run(
      Effect.gen(function* () {
        const live = yield* LiveFigures
        for (let ms = 1; ms <= 1_000; ms += 1) live.record(seen({ durationMs: ms * 10, firstTokenMs: ms }))
        for (let count = 0; count < 250; count += 1) live.record(seen({ ok: false, durationMs: 1 }))
        const { samples, successRate, p50Ms, p95Ms, medianTtftMs, thin } = live.performance("m", "p")
        assert.strictEqual(samples, 1_250)
        assert.strictEqual(successRate, 0.8)
        assert.isFalse(thin)
        near(p50Ms, 5_000)
        near(p95Ms, 9_500)
        near(medianTtftMs, 500)
      })
    )
  )

  it.effect("has no times where only failures were seen, and none to the first token where nothing streamed", () =>
    run(
      Effect.gen(function* () {
        const live = yield* LiveFigures
        live.record(seen({ ok: false }))
        assert.deepStrictEqual(live.performance("m", "p"), { ...nothing, samples: 1, successRate: 0 })
        live.record(seen({ durationMs: 0 }))
        live.record(seen({ durationMs: 1e9 }))
        const { medianTtftMs, p50Ms, p95Ms } = live.performance("m", "p")
        assert.isNull(medianTtftMs)
        assert.isAtLeast(p50Ms ?? -1, 0)
        assert.isAbove(p95Ms ?? 0, 1_000_000)
      })
    )
  )

  it.effect("is thin below 20 samples", () =>
    run(
      Effect.gen(function* () {
        const live = yield* LiveFigures
        for (let count = 1; count < THIN_BELOW_SAMPLES; count += 1) live.record(seen({}))
        assert.isTrue(live.performance("m", "p").thin)
        live.record(seen({}))
        assert.isFalse(live.performance("m", "p").thin)
      })
    )
  )

  it.effect("forgets what is older than 30 minutes, minute by minute", () =>
    run(
      Effect.gen(function* () {
        const live = yield* LiveFigures
        live.record(seen({ durationMs: 100, firstTokenMs: 10 }))
        yield* TestClock.adjust("10 minutes")
        live.record(seen({ durationMs: 10_000, firstTokenMs: 1_000 }))
        live.record(seen({ ok: false }))
        yield* TestClock.adjust("19 minutes")
        assert.strictEqual(live.performance("m", "p").samples, 3)
        yield* TestClock.adjust("1 minute")
        const later = live.performance("m", "p")
        assert.strictEqual(later.samples, 2)
        assert.strictEqual(later.successRate, 0.5)
        near(later.p50Ms, 10_000)
        near(later.medianTtftMs, 1_000)
        yield* TestClock.adjust("10 minutes")
        assert.deepStrictEqual(live.performance("m", "p"), nothing)
        live.record(seen({}))
        assert.strictEqual(live.performance("m", "p").samples, 1)
        yield* TestClock.adjust("3 days")
        assert.deepStrictEqual(live.performance("m", "p"), nothing)
      })
    )
  )

  it.effect("keeps a bounded number of series, the latest recorded", () =>
    run(
      Effect.gen(function* () {
        const live = yield* LiveFigures
        live.record(seen({ provider: "first" }))
        yield* TestClock.adjust("1 minute")
        for (let count = 1; count < MAX_SERIES; count += 1) live.record(seen({ provider: `p${count}` }))
        assert.strictEqual(live.performance("m", "first").samples, 1)
        live.record(seen({ provider: "last" }))
        assert.strictEqual(live.performance("m", "first").samples, 0)
        assert.strictEqual(live.performance("m", "last").samples, 1)
        assert.strictEqual(live.performance("m", "p1").samples, 1)
      })
    )
  )
})
