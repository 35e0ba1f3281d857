import { assert, describe, it } from "@effect/vitest"
import { laterUsage, noTokens, promptTokens, totalTokens } from "../../src/domain/Usage.ts"

describe("Usage", () => {
  it("adds disjoint counts, and does not add reasoning tokens to them", () => {
    const usage = { input: 1, cached: 20, cacheWrite: 300, output: 4_000, reasoning: 999 }
    assert.strictEqual(promptTokens(usage), 321)
    assert.strictEqual(totalTokens(usage), 4_321)
    assert.strictEqual(totalTokens(noTokens), 0)
  })

  it("keeps cache writes for an hour when a later report contains only the output", () => {
    const before = { ...noTokens, input: 5, cacheWrite: 300, cacheWriteLong: 200 }
    assert.deepStrictEqual(laterUsage(before, { ...noTokens, output: 9 }), { ...before, output: 9 })
    assert.deepStrictEqual(laterUsage({ ...noTokens, input: 5 }, { ...before, output: 9 }), { ...before, output: 9 })
  })
})
