import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { OperatorEvents } from "../../src/account/OperatorEvents.ts"
import { SpendLimits } from "../../src/operator/SpendLimits.ts"
import { layer as database } from "../support/Database.ts"

const rooms = SpendLimits.layer.pipe(Layer.provideMerge(OperatorEvents.layer), Layer.provideMerge(database))

const known = (provider: string) => provider === "openai"

describe("limits on provider cost", () => {
  it.live("replace the previous limit, and record each change in the operators' audit log", () =>
    Effect.gen(function* () {
      const limits = yield* SpendLimits
      yield* limits.set({ provider: "openai", limit: 5n, known }, { id: "key" })
      yield* limits.set({ provider: "openai", limit: 7n, known }, { id: "key" })
      assert.deepStrictEqual(yield* limits.lines, [{ provider: "openai", limit_nano: 7n, settled: 0n, reserved: 0n }])
      yield* limits.set({ provider: "openai", limit: null, known }, { id: "key" })
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

  it.live("refuse an unknown provider, but remove its bound, and record no change that is none", () =>
    Effect.gen(function* () {
      const limits = yield* SpendLimits
      const actor = { id: "key" }
      const set = (limit: bigint | null, isKnown: boolean) =>
        limits.set({ provider: "gone", limit, known: () => isKnown }, actor)
      assert.strictEqual((yield* Effect.flip(set(5n, false)))._tag, "Failure")
      assert.strictEqual((yield* Effect.flip(set(null, false)))._tag, "Failure")
      yield* set(5n, true)
      yield* set(5n, true)
      yield* set(null, false)
      yield* set(null, true)
      assert.deepStrictEqual(yield* limits.lines, [])
      assert.lengthOf(yield* (yield* OperatorEvents).list({ after: null, limit: 10 }), 2)
    }).pipe(Effect.provide(rooms))
  )
})
