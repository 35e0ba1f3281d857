import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { makeBatchRoom } from "../../src/batches/BatchRoom.ts"

describe("the output space of a batch", () => {
  it.effect("is reserved before an answer is made, and a line waits while others may free some", () =>
    Effect.gen(function* () {
      const room = makeBatchRoom(100, 20)
      assert.isTrue(yield* room.begin(60))
      const waiting = yield* Effect.forkChild(room.begin(40), { startImmediately: true })
      assert.isUndefined(waiting.pollUnsafe())
      room.written(30)
      room.end(60)
      assert.isTrue(yield* Fiber.join(waiting))
      room.end(40)
    })
  )

  it.effect("is refused when no running line could free enough", () =>
    Effect.gen(function* () {
      const room = makeBatchRoom(100, 20)
      assert.isFalse(yield* room.begin(81))
      assert.isTrue(yield* room.begin(80))
      const waiting = yield* Effect.forkChild(room.begin(1), { startImmediately: true })
      room.written(100)
      room.end(80)
      assert.isFalse(yield* Fiber.join(waiting))
    })
  )
})
