import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Semaphore } from "effect"
import { isShort, takeRoom } from "../../src/providers/AnswerRoom.ts"

const MEBIBYTE = 1_048_576

it.effect("lets long answers wait for room until others have gone", () =>
  Effect.gen(function* () {
    const room = Semaphore.makeUnsafe(512)
    const release = yield* Deferred.make<void>()
    const begun: Array<string> = []
    const ask = (name: string, bytes: number) =>
      Effect.forkChild(
        Effect.scoped(
          takeRoom(room, bytes).pipe(
            Effect.andThen(Effect.sync(() => begun.push(name))),
            Effect.andThen(Deferred.await(release))
          )
        ),
        { startImmediately: true }
      )
    // The longest there may be takes all of it, and no more than there is.
    const fibers = [yield* ask("first", 10_000 * MEBIBYTE), yield* ask("second", 100 * MEBIBYTE)]
    assert.deepStrictEqual(begun, ["first"])
    yield* Deferred.succeed(release, undefined)
    for (const fiber of fibers) yield* Fiber.join(fiber)
    assert.deepStrictEqual(begun, ["first", "second"])
  })
)

it("needs none for short ones", () => {
  assert.deepStrictEqual([MEBIBYTE, 4 * MEBIBYTE, 4 * MEBIBYTE + 1].map(isShort), [true, true, false])
})
