import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { audioFile } from "../../../src/providers/sandbox/AudioFiles.ts"
import type { AudioFormat } from "../../../src/providers/Work.ts"
import { decoded, decoderMissing } from "../../support/Media.ts"

const formats: ReadonlyArray<AudioFormat> = ["mp3", "opus", "aac", "flac", "wav", "pcm"]

/** A second and a bit of a tone, in pieces of no even length. */
const TONE = 440
const samples = Int16Array.from({ length: 25_001 }, (_, at) => 12_000 * Math.sin((2 * Math.PI * TONE * at) / 24_000))

const pieces = function* () {
  for (let at = 0; at < samples.length; at += 7_001) yield samples.subarray(at, at + 7_001)
}

const fileOf = (format: AudioFormat) => Effect.promise(() => audioFile(format, pieces(), new AbortController().signal))

const magic: Readonly<Record<AudioFormat, (bytes: Buffer) => boolean>> = {
  mp3: (bytes) => bytes.subarray(0, 3).toString() === "ID3" || (bytes[0] === 0xff && (bytes[1]! & 0xe0) === 0xe0),
  opus: (bytes) => bytes.subarray(0, 4).toString() === "OggS" && bytes.includes("OpusHead"),
  aac: (bytes) => bytes[0] === 0xff && (bytes[1]! & 0xf6) === 0xf0,
  flac: (bytes) => bytes.subarray(0, 4).toString() === "fLaC",
  wav: (bytes) => bytes.subarray(0, 4).toString() === "RIFF" && bytes.subarray(8, 12).toString() === "WAVE",
  pcm: (bytes) => bytes.length === 2 * samples.length
}

const codecs = {
  mp3: ["mp3", "mp3", 24_000],
  opus: ["opus", "ogg", 48_000],
  aac: ["aac", "aac", 24_000],
  flac: ["flac", "flac", 24_000],
  wav: ["pcm_s16le", "wav", 24_000],
  pcm: ["pcm_s16le", "s16le", 24_000]
} as const

/** How often a tone of samples goes up through zero in a second. */
const frequencyOf = (tone: Int16Array) => {
  const middle = tone.subarray(4_800, 19_200)
  let rises = 0
  for (let at = 1; at < middle.length; at++) if (middle[at - 1]! < 0 && middle[at]! >= 0) rises += 1
  return (rises * 24_000) / middle.length
}

describe("audio files", () => {
  it.live("begin as their formats do", () =>
    Effect.gen(function* () {
      for (const format of formats) assert.isTrue(magic[format](Buffer.from(yield* fileOf(format))), format)
    })
  )

  it.live("decode to the same samples, exactly for lossless formats", () =>
    Effect.gen(function* () {
      for (const format of ["pcm", "wav"] as const) {
        const bytes = new Uint8Array(yield* fileOf(format)).slice(format === "wav" ? 44 : 0)
        assert.deepStrictEqual(new Int16Array(bytes.buffer), samples)
      }
    })
  )

  it.live("are opened by other decoders", () =>
    Effect.gen(function* () {
      if (decoderMissing !== undefined) return console.warn(`not decoded: ${decoderMissing}`)
      for (const format of formats) {
        const found = yield* decoded(yield* fileOf(format), format)
        const [codec, container, sampleRate] = codecs[format]
        assert.deepInclude(found, { codec, container, sampleRate, channels: 1 }, format)
        assert.closeTo(found.seconds, samples.length / 24_000, 0.15, format)
        assert.closeTo(frequencyOf(found.samples), TONE, 5, format)
        if (format === "flac") assert.deepStrictEqual(found.samples, samples)
      }
    })
  )

  it.live("stop encoding when interrupted", () =>
    Effect.gen(function* () {
      for (const format of formats) {
        const controller = new AbortController()
        let made = 0
        const endless = function* () {
          for (;;) {
            if (++made === 3) controller.abort()
            yield samples
          }
        }
        const outcome = yield* Effect.promise(() =>
          audioFile(format, endless(), controller.signal).then(
            () => "made",
            (error: Error) => error.name
          )
        )
        assert.strictEqual(outcome, "AbortError", format)
        assert.isAtMost(made, 4)
      }
    })
  )
})
