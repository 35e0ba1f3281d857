import { assert, describe, it } from "@effect/vitest"
import { speechHeaders, speechType } from "../../../src/dialects/speech/SpeechEncode.ts"

describe("the answer to a speech request", () => {
  it("has its cost and a balance warning in headers", () => {
    assert.deepStrictEqual(speechHeaders({ cost: 75_000n, balanceWarning: undefined }), { "x-cost-usd": "0.000075" })
    assert.deepStrictEqual(
      speechHeaders({ cost: 1_230_000_000n, balanceWarning: "Your balance is $1.00, below $5.00" }),
      {
        "x-cost-usd": "1.23",
        "x-balance-warning": "Your balance is $1.00, below $5.00"
      }
    )
  })

  it("has the media type of its format", () => {
    const types = (["mp3", "opus", "aac", "flac", "wav", "pcm"] as const).map(speechType)
    assert.deepStrictEqual(types, ["audio/mpeg", "audio/opus", "audio/aac", "audio/flac", "audio/wav", "audio/pcm"])
  })
})
