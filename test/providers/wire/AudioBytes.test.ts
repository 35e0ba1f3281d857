import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { isShort } from "../../../src/providers/pool/AnswerMemory.ts"
import { MAX_AUDIO_BYTES, mostAudioBytes } from "../../../src/providers/wire/AudioBytes.ts"
import type { AudioFormat } from "../../../src/domain/Work.ts"
import { speak } from "../../../src/providers/sandbox/Speech.ts"
import { workCall } from "../work.ts"

const formats: ReadonlyArray<AudioFormat> = ["mp3", "opus", "aac", "flac", "wav", "pcm"]

/** The text of the sandbox's recording, which takes 1.7 seconds. */
const RECORDED = "Hello from the sandbox."

describe("the limit on audio bytes", () => {
  it.live("is larger than a recording of the text in any format", () =>
    Effect.gen(function* () {
      for (const format of formats) {
        const work = { input: RECORDED, voice: "coral", format, speed: 1 }
        const { audio } = yield* speak("up", workCall(), work)
        assert.isBelow(audio.length, mostAudioBytes(work), format)
      }
    })
  )

  it("grows with the text and a lower speed, up to the largest accepted size", () => {
    const bytes = (characters: number, speed: number, format: AudioFormat = "wav") =>
      mostAudioBytes({ input: "a".repeat(characters), format, speed })
    assert.deepStrictEqual(
      [bytes(4, 1), bytes(8, 1), bytes(4, 0.25), bytes(4, 1, "mp3")],
      [48_000, 96_000, 192_000, 20_000]
    )
    assert.strictEqual(bytes(4_096, 0.25), MAX_AUDIO_BYTES)
    assert.isTrue(isShort(bytes(500, 1, "mp3")))
  })
})
