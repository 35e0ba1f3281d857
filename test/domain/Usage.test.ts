import { assert, describe, it } from "@effect/vitest"
import { noTokens, promptTokens, totalTokens } from "../../src/domain/Usage.ts"

describe("Usage", () => {
  it("adds disjoint buckets, and reasoning to none", () => {
    const usage = { input: 1, cached: 20, cacheWrite: 300, output: 4_000, reasoning: 999 }
    assert.strictEqual(promptTokens(usage), 321)
    assert.strictEqual(totalTokens(usage), 4_321)
    assert.strictEqual(totalTokens(noTokens), 0)
  })
})
