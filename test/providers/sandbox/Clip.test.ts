import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { clipOf } from "../../../src/providers/sandbox/Clip.ts"
import type { ClipContent } from "../../../src/providers/sandbox/VideoTicket.ts"
import { decodedVideo, decoderMissing } from "../../support/Media.ts"

const scene: ClipContent = {
  width: 640,
  height: 360,
  seconds: 4,
  lines: ["seedance-2.0 · seed 7", "a red kite"],
  seed: 7
}

const clip = (more: Partial<ClipContent> = {}) => Effect.promise(() => clipOf({ ...scene, ...more }))

/** How many pixels of two frames of one size differ by more than the noise of compression. */
const differing = (a: Uint8Array, b: Uint8Array) => a.filter((byte, at) => Math.abs(byte - (b[at] ?? 0)) > 12).length

describe("the sandbox's clips", () => {
  it.live("are MP4 files of less than 3 MB", () =>
    Effect.gen(function* () {
      const file = Buffer.from(yield* clip({ seconds: 15, lines: ["x".repeat(2_000)] }))
      assert.strictEqual(file.toString("latin1", 4, 8), "ftyp")
      assert.isBelow(file.length, 3_000_000)
    })
  )

  it.live("have the requested size and length, move, and show their scene", () =>
    Effect.gen(function* () {
      if (decoderMissing !== undefined) return console.log(`not decoded: ${decoderMissing}`)
      const wide = yield* decodedVideo(yield* clip())
      assert.deepStrictEqual([wide.codecs, wide.width, wide.height], [["h264"], 640, 360])
      assert.closeTo(wide.seconds, 4, 0.01)
      assert.lengthOf(wide.frames, 4)
      for (const [at, frame] of wide.frames.slice(1).entries()) {
        assert.isAbove(differing(wide.frames[at]!, frame), 500)
      }
      const tall = yield* decodedVideo(yield* clip({ width: 360, height: 640, seconds: 5 }))
      assert.deepStrictEqual([tall.width, tall.height, tall.frames.length], [360, 640, 5])
      for (const more of [{ lines: [] }, { seed: 200 }]) {
        const other = yield* decodedVideo(yield* clip(more))
        assert.isAbove(differing(wide.frames[0]!, other.frames[0]!), 500, JSON.stringify(more))
      }
    })
  )
})
