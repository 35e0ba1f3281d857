import { assert, describe, it } from "@effect/vitest"
import { logprobOf } from "../../../src/providers/sandbox/Logprobs.ts"

describe("logprobOf", () => {
  it("returns the same value for the same token, with its bytes", () => {
    assert.deepStrictEqual(logprobOf("hé ", 5), logprobOf("hé ", 5))
    assert.deepStrictEqual(logprobOf("hé ", 0).bytes, [0x68, 0xc3, 0xa9, 0x20])
    assert.deepStrictEqual(logprobOf("a", 0).top_logprobs, [])
  })

  it("returns the requested alternatives: the token first, in falling order, with probabilities of at most 1 together", () => {
    for (const token of ["a", "hello ", "日本", "\n", "zzzzzzzzzzzz"]) {
      for (const top of [1, 2, 20]) {
        const { logprob, top_logprobs } = logprobOf(token, top)
        assert.lengthOf(top_logprobs, top)
        assert.deepInclude(top_logprobs[0], { token, logprob })
        assert.isBelow(logprob, 0)
        assert.isAtMost(
          top_logprobs.reduce((sum, entry) => sum + Math.exp(entry.logprob), 0),
          1
        )
        for (const [place, entry] of top_logprobs.slice(1).entries()) {
          assert.isAtMost(entry.logprob, top_logprobs[place]!.logprob)
        }
      }
    }
  })
})
