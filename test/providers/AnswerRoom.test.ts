import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Semaphore } from "effect"
import { inRoom } from "../../src/providers/AnswerRoom.ts"

const MEBIBYTE = 1_048_576

it.effect("lets long answers wait for room, and short ones go by", () =>
  Effect.gen(function* () {
    const room = Semaphore.makeUnsafe(512)
    const release = yield* Deferred.make<void>()
    const begun: Array<string> = []
    const ask = (name: string, bytes: number) =>
      Effect.forkChild(
        inRoom(
          room,
          bytes
        )(
          Effect.andThen(
            Effect.sync(() => begun.push(name)),
            Deferred.await(release)
          )
        ),
        { startImmediately: true }
      )
    const fibers = [
      // The longest there may be takes all of it, and no more than there is.
      yield* ask("first", 10_000 * MEBIBYTE),
      yield* ask("second", 100 * MEBIBYTE),
      yield* ask("short", MEBIBYTE)
    ]
    assert.deepStrictEqual(begun, ["first", "short"])
    yield* Deferred.succeed(release, undefined)
    for (const fiber of fibers) yield* Fiber.join(fiber)
    assert.deepStrictEqual(begun, ["first", "short", "second"])
  })
)
