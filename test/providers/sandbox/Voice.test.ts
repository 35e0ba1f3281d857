import { assert, describe, it } from "@effect/vitest"
import { SAMPLE_RATE, speech } from "../../../src/providers/sandbox/Voice.ts"

const wish = { input: "Hello there, world.", voice: "alloy", speed: 1 }

const samplesOf = (more: Partial<typeof wish> = {}): Int16Array => {
  const pieces = [...speech({ ...wish, ...more })]
  const all = new Int16Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    all.set(piece, at)
    at += piece.length
  }
  return all
}

const seconds = (more: Partial<typeof wish>) => samplesOf(more).length / SAMPLE_RATE

const loudness = (samples: Int16Array) =>
  Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length)

/** How often a buzz comes back, in hertz: where a sound is most like itself a little later. */
const pitchOf = (samples: Int16Array) => {
  const part = samples.subarray(2_400, 7_200)
  let best = { lag: 0, score: -Infinity }
  for (let lag = SAMPLE_RATE / 300; lag <= SAMPLE_RATE / 70; lag++) {
    let score = 0
    for (let at = 0; at + lag < part.length; at++) score += part[at]! * part[at + lag]!
    score /= part.length - lag
    if (score > best.score) best = { lag, score }
  }
  return SAMPLE_RATE / best.lag
}

describe("the sandbox's voice", () => {
  it("says the same the same way", () => {
    assert.deepStrictEqual(samplesOf(), samplesOf())
    assert.notDeepEqual(samplesOf(), samplesOf({ input: "Hello there, word." }))
  })

  it("is loud where there are words, and silent in a pause", () => {
    const words = samplesOf({ input: "aaaa. aaaa" })
    const length = (80 * SAMPLE_RATE) / 1_000
    assert.isAbove(loudness(words.subarray(length, 4 * length)), 2_000)
    const pause = words.subarray(4 * length + 2_000, 4 * length + 3_900)
    assert.isBelow(loudness(pause), 50)
  })

  it("takes longer for more letters and at less speed", () => {
    assert.closeTo(seconds({ input: "a".repeat(100) }), 8, 0.01)
    assert.closeTo(seconds({ input: "a".repeat(100), speed: 0.25 }), 32, 0.05)
    assert.closeTo(seconds({ input: "a".repeat(100), speed: 4 }), 2, 0.01)
  })

  it("has the pitch of its name", () => {
    const pitch = (voice: string) => pitchOf(samplesOf({ voice, input: "aaaaaaaa" }))
    assert.closeTo(pitch("onyx"), 88, 4)
    assert.closeTo(pitch("alloy"), 150, 6)
    assert.closeTo(pitch("nova"), 218, 9)
  })

  it("says something of any script, of digits, and of nothing but signs", () => {
    for (const input of ["Ελλάδα", "富士山", "42", "!", "😀", "\u0301"]) {
      assert.isAbove(loudness(samplesOf({ input })), 100, input)
    }
  })

  it("makes one pause of many", () => {
    assert.strictEqual(seconds({ input: "a. . .   a" }), seconds({ input: "a.a" }))
  })

  it("is never longer than twenty minutes", () => {
    const samples = [...speech({ input: ".a".repeat(2_048), voice: "echo", speed: 0.25 })]
    const length = samples.reduce((sum, piece) => sum + piece.length, 0)
    assert.closeTo(length / SAMPLE_RATE, 1_200, 1)
  })
})
