import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { clipOf } from "../../../src/providers/sandbox/Clip.ts"
import { drawPng } from "../../../src/providers/sandbox/Drawing.ts"
import { drawFiles } from "../../../src/providers/sandbox/DrawingThread.ts"

const scene = { width: 64, height: 48, seconds: 4, lines: [], seed: 1 }
const drawing = { width: 16, height: 16, lines: [], seed: 1 }

describe("the sandbox's drawing threads", () => {
  it.live("make the same files as the drawing functions without a thread", () =>
    Effect.gen(function* () {
      const drawings = [drawing, { ...drawing, seed: 200 }]
      const here = yield* Effect.promise(() => Promise.all(drawings.map(drawPng)))
      assert.deepStrictEqual((yield* drawFiles({ drawings })).map(Buffer.from), here.map(Buffer.from))
      const [clip] = yield* drawFiles({ scene })
      assert.strictEqual(clip!.length, (yield* Effect.promise(() => clipOf(scene))).length)
    })
  )

  it.live("end when interrupted, and free their slots", () =>
    Effect.gen(function* () {
      const large = Array.from({ length: 50 }, (_, seed) => ({ width: 3000, height: 2000, lines: [], seed }))
      const long = { ...scene, width: 640, height: 360, seconds: 15 }
      const waiting = yield* Effect.forEach([{ drawings: large }, { scene: long }], (work) =>
        Effect.forkChild(drawFiles(work))
      )
      yield* Effect.yieldNow
      yield* Fiber.interruptAll(waiting)
      assert.lengthOf(yield* drawFiles({ drawings: [drawing] }), 1)
    })
  )

  it.live("fail for a scene without a size", () =>
    Effect.gen(function* () {
      assert.isNotEmpty((yield* Effect.flip(drawFiles({ scene: { ...scene, width: 0 } }))).detail)
    })
  )
})
