import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { OperatorEvents } from "../../src/account/OperatorEvents.ts"
import { SpendLimits } from "../../src/operator/SpendLimits.ts"
import { layer as database } from "../support/Database.ts"

const rooms = SpendLimits.layer.pipe(Layer.provideMerge(OperatorEvents.layer), Layer.provideMerge(database))

describe("limits on provider cost", () => {
  it.live("replace the previous limit, and record each change in the operators' audit log", () =>
    Effect.gen(function* () {
      const limits = yield* SpendLimits
      yield* limits.set("openai", 5n, { id: "key" })
      yield* limits.set("openai", 7n, { id: "key" })
      assert.deepStrictEqual(yield* limits.lines, [{ provider: "openai", limit_nano: 7n, settled: 0n, reserved: 0n }])
      yield* limits.set("openai", null, { id: "key" })
      assert.deepStrictEqual(yield* limits.lines, [])
      const events = yield* (yield* OperatorEvents).list({ after: null, limit: 10 })
      assert.deepStrictEqual(
        events.map(({ changes }) => changes),
        [
          { limit_nano: { from: "7", to: null } },
          { limit_nano: { from: "5", to: "7" } },
          { limit_nano: { from: null, to: "5" } }
        ]
      )
    }).pipe(Effect.provide(rooms))
  )
})
