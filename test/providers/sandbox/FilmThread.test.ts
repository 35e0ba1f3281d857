import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { clipOf } from "../../../src/providers/sandbox/FilmClip.ts"
import { clipInThread } from "../../../src/providers/sandbox/FilmThread.ts"
import type { Scene } from "../../../src/providers/sandbox/FilmTicket.ts"

const scene = (seed: number): Scene => ({
  width: 64,
  height: 48,
  seconds: 4,
  lines: [],
  seed,
  audio: false,
  picture: undefined
})

describe("clips in a thread", () => {
  it.live("are the same as without a thread, and made once", () =>
    Effect.gen(function* () {
      const both = yield* Effect.all([clipInThread(scene(1)), clipInThread(scene(1))], { concurrency: 2 })
      assert.strictEqual(both[0], both[1])
      const here = yield* Effect.promise(() => clipOf(scene(1)))
      assert.strictEqual(both[0].length, here.length)
    })
  )

  it.live("are made again after eviction", () =>
    Effect.gen(function* () {
      const first = yield* clipInThread(scene(10))
      for (let seed = 11; seed < 19; seed++) yield* clipInThread(scene(seed))
      assert.notStrictEqual(yield* clipInThread(scene(10)), first)
    })
  )

  it.live("free the thread when interrupted", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(clipInThread({ ...scene(20), width: 640, height: 360, seconds: 15 }))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      assert.isAbove((yield* clipInThread(scene(21))).length, 100)
    })
  )

  it.live("fail for an invalid scene", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(clipInThread({ ...scene(30), width: 0 }))
      assert.strictEqual(error._tag, "ClipError")
      assert.isAbove((yield* clipInThread(scene(31))).length, 100)
    })
  )
})
