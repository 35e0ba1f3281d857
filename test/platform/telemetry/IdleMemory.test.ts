import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { layerWith } from "../../../src/platform/telemetry/IdleMemory.ts"
import { makeMetrics, Metrics } from "../../../src/platform/telemetry/Metrics.ts"
import { ended } from "../../support/Metrics.ts"

const scene = Effect.gen(function* () {
  const metrics = makeMetrics()
  const done: Array<string> = []
  const collector = { collect: () => void done.push("collect"), giveBack: () => void done.push("give back") }
  yield* Layer.build(layerWith(collector)).pipe(Effect.provideService(Metrics, metrics))
  return { http: metrics.http, done }
})

describe("an idle node", () => {
  it.effect(
    "collects garbage after a minute, returns memory to the system after another 90 seconds, and then stops",
    () =>
      Effect.gen(function* () {
        const { done } = yield* scene
        yield* TestClock.adjust("59 seconds")
        assert.deepStrictEqual(done, [])
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(done, ["collect"])
        yield* TestClock.adjust("89 seconds")
        assert.deepStrictEqual(done, ["collect"])
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(done, ["collect", "give back"])
        yield* TestClock.adjust("1 hour")
        assert.deepStrictEqual(done, ["collect", "give back"])
      }).pipe(Effect.scoped)
  )

  it.effect("repeats both after each burst, and never while a request runs", () =>
    Effect.gen(function* () {
      const { done, http } = yield* scene
      http.arrived()
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(done, [])
      http.left(ended(200))
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(done, ["collect", "give back"])
      http.arrived()
      http.left(ended(200))
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(done, ["collect", "give back", "collect", "give back"])
    }).pipe(Effect.scoped)
  )

  it.effect("with an occasional request only collects garbage", () =>
    Effect.gen(function* () {
      const { done, http } = yield* scene
      for (let count = 1; count <= 5; count++) {
        http.arrived()
        http.left(ended(200))
        yield* TestClock.adjust("100 seconds")
      }
      assert.deepStrictEqual(
        done,
        Array.from({ length: 5 }, () => "collect")
      )
    }).pipe(Effect.scoped)
  )
})
