import { assert, describe, it } from "@effect/vitest"
import { isShort } from "../../../src/providers/pool/AnswerRoom.ts"
import { MAX_AUDIO_BYTES, mostAudioBytes } from "../../../src/providers/wire/AudioBytes.ts"
import type { AudioFormat } from "../../../src/providers/Work.ts"
import { audioFile } from "../../../src/providers/sandbox/AudioFiles.ts"
import { speech } from "../../../src/providers/sandbox/Voice.ts"

const formats: ReadonlyArray<AudioFormat> = ["mp3", "opus", "aac", "flac", "wav", "pcm"]

describe("the bytes of audio", () => {
  it("are no more than reckoned, in any format", async () => {
    const said = {
      input: "We read a hundred words or so in a minute, and nobody hurries us. ".repeat(20),
      voice: "sage"
    }
    for (const format of formats) {
      for (const speed of [0.5, 1]) {
        const { length } = await audioFile(format, speech({ ...said, speed }), new AbortController().signal)
        assert.isBelow(length, mostAudioBytes({ ...said, format, speed }), `${format} at ${speed}`)
      }
    }
  })

  it("grow with the text and its slowness, up to the most that is taken", () => {
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
