import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeSpeech } from "../../../src/dialects/speech/SpeechDecode.ts"

const hello = { model: "tts-1", input: "Hello", voice: "nova" }

const problemsOf = (body: unknown) => {
  const decoded = decodeSpeech(body)
  if (Result.isSuccess(decoded) || decoded.failure.reason._tag !== "ValidationError")
    throw new Error("the decoder accepted it")
  return decoded.failure.reason.problems.map(({ field, message }) => `${field}: ${message}`)
}

describe("a speech request", () => {
  it("has defaults, and keeps every field", () => {
    assert.deepStrictEqual(
      decodeSpeech(hello),
      Result.succeed({
        model: "tts-1",
        work: { input: "Hello", voice: "nova", format: "mp3", speed: 1 },
        characters: 5
      })
    )
    assert.deepStrictEqual(
      decodeSpeech({ ...hello, response_format: "pcm", speed: 0.25 }),
      Result.succeed({
        model: "tts-1",
        work: { input: "Hello", voice: "nova", format: "pcm", speed: 0.25 },
        characters: 5
      })
    )
  })

  it("treats null like an absent field", () => {
    assert.deepStrictEqual(decodeSpeech({ ...hello, response_format: null, speed: null }), decodeSpeech(hello))
  })

  it("counts characters in code points, not in UTF-16 units", () => {
    const decoded = decodeSpeech({ ...hello, input: "𝒜é😀\n" })
    assert.strictEqual(Result.getOrThrow(decoded).characters, 4)
    assert.isTrue(Result.isSuccess(decodeSpeech({ ...hello, input: "😀".repeat(4096) })))
    assert.isTrue(Result.isSuccess(decodeSpeech({ ...hello, input: "x".repeat(4096) })))
    for (const [input, count] of [
      ["", "0"],
      ["x".repeat(4097), "4,097"],
      ["😀".repeat(4097), "4,097"]
    ] as const) {
      const message = `input: must have 1 to 4,096 characters; got ${count}`
      assert.deepStrictEqual(problemsOf({ ...hello, input }), [message])
    }
  })

  it("is rejected with the names of all invalid fields", () => {
    assert.deepStrictEqual(problemsOf([]).length, 1)
    const fields = problemsOf({ voice: "nobody", response_format: "ogg", speed: 5, instructions: "shout" }).map(
      (problem) => problem.split(":")[0]
    )
    assert.sameMembers(fields, ["model", "input", "voice", "response_format", "speed", "instructions"])
    assert.deepStrictEqual(problemsOf({ ...hello, speed: 0.2 }), ["speed: must be a number from 0.25 to 4; got 0.2"])
    assert.match(problemsOf({ ...hello, stream_format: "sse" })[0] ?? "", /^stream_format: /)
  })
})
