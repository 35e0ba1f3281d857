import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeKeyedSemaphores } from "../../src/platform/KeyedSemaphores.ts"

describe("keyed semaphores", () => {
  it.effect("are shared by all users of a key, and separate for different keys", () =>
    Effect.gen(function* () {
      const semaphoreOf = makeKeyedSemaphores(2)
      const first = yield* semaphoreOf("a")
      assert.strictEqual(yield* semaphoreOf("a"), first)
      assert.notStrictEqual(yield* semaphoreOf("b"), first)
    }).pipe(Effect.scoped)
  )

  it.effect("are dropped when the last scope that uses them ends", () =>
    Effect.gen(function* () {
      const semaphoreOf = makeKeyedSemaphores(1)
      const first = yield* Effect.scoped(
        Effect.gen(function* () {
          const semaphore = yield* semaphoreOf("a")
          assert.strictEqual(yield* Effect.scoped(semaphoreOf("a")), semaphore)
          assert.strictEqual(yield* semaphoreOf("a"), semaphore)
          return semaphore
        })
      )
      assert.notStrictEqual(yield* Effect.scoped(semaphoreOf("a")), first)
    })
  )
})
