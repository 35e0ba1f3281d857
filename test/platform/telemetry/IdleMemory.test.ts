import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { layerWith } from "../../../src/platform/telemetry/IdleMemory.ts"
import { makeMetrics, Metrics } from "../../../src/platform/telemetry/Metrics.ts"
import { eventually } from "../../support/WebhookRooms.ts"

describe("an idle node", () => {
  it.live("collects garbage once after its start and once after each burst, and never beside a request", () =>
    Effect.gen(function* () {
      const metrics = makeMetrics()
      let collected = 0
      yield* Layer.build(layerWith(() => void collected++, 20)).pipe(Effect.provideService(Metrics, metrics))
      const times = (count: number) =>
        eventually(
          Effect.sync(() => collected),
          (now) => now === count
        )
      yield* times(1)
      yield* Effect.sleep("100 millis")
      assert.strictEqual(collected, 1)
      metrics.http.arrived()
      yield* Effect.sleep("100 millis")
      assert.strictEqual(collected, 1)
      metrics.http.left(200)
      yield* times(2)
      yield* Effect.sleep("100 millis")
      assert.strictEqual(collected, 2)
    }).pipe(Effect.scoped)
  )
})
