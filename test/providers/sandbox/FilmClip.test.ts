import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { BufferSource, EncodedPacketSink, Input, MP4 } from "mediabunny"
import { drawPng } from "../../../src/providers/sandbox/Drawing.ts"
import { clipOf } from "../../../src/providers/sandbox/FilmClip.ts"
import type { Scene } from "../../../src/providers/sandbox/FilmTicket.ts"
import { decodedVideo, decoderMissing } from "../../support/Media.ts"

const scene: Scene = {
  width: 640,
  height: 360,
  seconds: 4,
  lines: ["seedance-2.0 · seed 7", "a red kite"],
  seed: 7,
  audio: false,
  picture: undefined
}

const clip = (more: Partial<Scene> = {}) => Effect.promise(() => clipOf({ ...scene, ...more }))

/** What a reader of the container finds: nothing is decoded. */
const read = (file: Uint8Array) =>
  Effect.promise(async () => {
    const input = new Input({ formats: [MP4], source: new BufferSource(file) })
    const video = (await input.getPrimaryVideoTrack())!
    const packets = []
    for await (const packet of new EncodedPacketSink(video).packets()) packets.push(packet)
    return {
      packets,
      size: [video.displayWidth, video.displayHeight],
      codec: await video.getCodecParameterString(),
      seconds: await video.computeDuration(),
      audio: await (await input.getPrimaryAudioTrack())?.computeDuration()
    }
  })

/** How many pixels differ more than by the noise of compression between two frames of one size. */
const differing = (a: Uint8Array, b: Uint8Array) => a.filter((byte, at) => Math.abs(byte - (b[at] ?? 0)) > 12).length

describe("the sandbox's clips", () => {
  it.live("have the pictures of their time, in order, a key frame every second", () =>
    Effect.gen(function* () {
      for (const [more, size, seconds] of [
        [{}, [640, 360], 4],
        [{ width: 360, height: 640, seconds: 5 }, [360, 640], 5]
      ] as const) {
        const found = yield* read(yield* clip(more))
        assert.deepStrictEqual(found.size, [...size])
        assert.match(found.codec ?? "", /^avc1\.42/)
        assert.approximately(found.seconds, seconds, 1e-3)
        assert.isUndefined(found.audio)
        assert.lengthOf(found.packets, seconds * 12)
        for (const [at, { data, timestamp, type }] of found.packets.entries()) {
          assert.approximately(timestamp, at / 12, 1e-3)
          assert.strictEqual(type, at % 12 === 0 ? "key" : "delta")
          // One unit of the network abstraction layer after the other, each behind its length (ISO/IEC 14496-15).
          let end = 0
          while (end + 4 <= data.length) end += 4 + Buffer.from(data).readUInt32BE(end)
          assert.strictEqual(end, data.length)
        }
      }
    })
  )

  it.live("have sound of the same length on request", () =>
    Effect.gen(function* () {
      const { audio, packets, seconds } = yield* read(yield* clip({ audio: true }))
      assert.lengthOf(packets, 48)
      assert.approximately(seconds, 4, 1e-3)
      assert.approximately(audio!, 4, 0.1)
    })
  )

  it.live("begin with the player's metadata", () =>
    Effect.gen(function* () {
      const file = Buffer.from(yield* clip({ audio: true }))
      assert.strictEqual(file.toString("latin1", 4, 8), "ftyp")
      assert.isAbove(file.indexOf("moov"), 0)
      assert.isBelow(file.indexOf("moov"), file.indexOf("mdat"))
    })
  )

  it.live("are small", () =>
    Effect.gen(function* () {
      const file = yield* clip({ seconds: 15, lines: ["x".repeat(2_000)] })
      assert.isBelow(file.length, 2_000_000)
    })
  )

  it.live("move, and show their scene", () =>
    Effect.gen(function* () {
      if (decoderMissing !== undefined) return console.log(`not decoded: ${decoderMissing}`)
      const { codecs, frames, height, seconds, width } = yield* decodedVideo(yield* clip())
      assert.deepStrictEqual([codecs, width, height, seconds], [["h264"], 640, 360, 4])
      assert.lengthOf(frames, 4)
      for (const [at, frame] of frames.slice(1).entries()) assert.isAbove(differing(frames[at]!, frame), 500)
      const picture = Buffer.from(yield* Effect.promise(() => drawPng({ width: 96, height: 90, lines: [], seed: 240 })))
      for (const more of [{ lines: [] }, { seed: 200 }, { picture: picture.toString("base64") }]) {
        const other = yield* decodedVideo(yield* clip(more))
        assert.isAbove(differing(frames[0]!, other.frames[0]!), 500, JSON.stringify(more).slice(0, 40))
      }
    })
  )

  it.live("sound, decoded to the end", () =>
    Effect.gen(function* () {
      if (decoderMissing !== undefined) return console.log(`not decoded: ${decoderMissing}`)
      const { codecs, frames } = yield* decodedVideo(yield* clip({ audio: true, width: 360, height: 640 }))
      assert.deepStrictEqual(codecs, ["h264", "aac"])
      assert.lengthOf(frames, 4)
    })
  )
})
