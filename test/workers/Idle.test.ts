import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeMetrics, Metrics } from "../../src/platform/telemetry/Metrics.ts"
import { seldomWhenIdle } from "../../src/workers/Idle.ts"
import { ended } from "../support/Metrics.ts"

const scene = Effect.gen(function* () {
  const metrics = makeMetrics()
  let runs = 0
  const round = yield* seldomWhenIdle(Effect.sync(() => runs++)).pipe(Effect.provideService(Metrics, metrics))
  /** How many of so many rounds ran. */
  const ran = (rounds: number) =>
    Effect.gen(function* () {
      const before = runs
      for (let count = 0; count < rounds; count++) yield* round
      return runs - before
    })
  return { ...metrics, ran }
})

describe("a round of background work", () => {
  it.effect("runs at the start, and on an idle node then one time in six", () =>
    Effect.gen(function* () {
      const { ran } = yield* scene
      assert.strictEqual(yield* ran(1), 1)
      yield* ran(1)
      assert.strictEqual(yield* ran(5), 0)
      assert.strictEqual(yield* ran(1), 1)
      assert.strictEqual(yield* ran(60), 10)
    })
  )

  it.effect("runs each time while requests run, and once more after them", () =>
    Effect.gen(function* () {
      const { http, ran } = yield* scene
      yield* ran(12)
      http.arrived()
      assert.strictEqual(yield* ran(10), 10)
      http.left(ended(200))
      assert.strictEqual(yield* ran(6), 1)
    })
  )

  it.effect("runs after a transfer without a request, such as one of a batch or a video", () =>
    Effect.gen(function* () {
      const { ledger, ran } = yield* scene
      yield* ran(12)
      ledger.committed(3, 1)
      assert.strictEqual(yield* ran(2), 2)
      assert.strictEqual(yield* ran(5), 0)
    })
  )
})
