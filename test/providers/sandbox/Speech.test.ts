import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { speak } from "../../../src/providers/sandbox/Speech.ts"
import { decoded, decoderMissing } from "../../support/Media.ts"
import { workCall } from "../work.ts"

const work = { input: "Hello", voice: "nova", format: "pcm", speed: 1 } as const

const spoken = (more: Partial<Parameters<typeof speak>[2]> = {}, steering?: string) =>
  Effect.map(speak("up", workCall({ steering }), { ...work, ...more }), ({ audio }) => audio)

const codecs = { mp3: "mp3", opus: "opus", aac: "aac", flac: "flac", wav: "pcm_s16le", pcm: "pcm_s16le" } as const

describe("the sandbox's speech", () => {
  it.live("is a recording of 1.7 seconds in every format", () =>
    Effect.gen(function* () {
      for (const format of Object.keys(codecs) as ReadonlyArray<keyof typeof codecs>) {
        const audio = yield* spoken({ format })
        assert.isAbove(audio.length, 1_000, format)
        if (decoderMissing !== undefined) continue
        const { channels, codec, samples, seconds } = yield* decoded(audio, format)
        assert.deepStrictEqual([codec, channels], [codecs[format], 1], format)
        assert.closeTo(seconds, 1.7, 0.1, format)
        assert.isAbove(Math.max(...samples), 3_000, `${format} can be heard`)
      }
    })
  )

  it.live("is empty, or fails, when steered so", () =>
    Effect.gen(function* () {
      assert.lengthOf(yield* spoken({}, "fault=empty"), 0)
      assert.strictEqual((yield* Effect.flip(spoken({}, "fault=error"))).fault._tag, "ServerError")
    })
  )
})
