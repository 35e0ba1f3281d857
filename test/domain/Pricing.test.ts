import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { maximumCost, outputWithin, tokenCost, type TokenPrice, unitCost } from "../../src/domain/Pricing.ts"
import { promptTokens } from "../../src/domain/Usage.ts"

const tiered: TokenPrice = {
  unit: "token",
  perRequest: 5_000_000n,
  tiers: [
    {
      abovePromptTokens: 0,
      rates: { input: 1_250_000n, cached: 125_000n, cacheWrite: 1_600_000n, output: 10_000_000n }
    },
    {
      abovePromptTokens: 200_000,
      rates: { input: 2_500_000n, cached: 250_000n, cacheWrite: 3_200_000n, output: 15_000_000n }
    }
  ]
}
const count = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))

describe("Pricing", () => {
  it("chooses the tier by all prompt tokens, whatever their bucket, for the whole request", () => {
    const usage = { input: 150_000, cached: 50_000, cacheWrite: 0, output: 10, reasoning: 0 }
    assert.strictEqual(tokenCost(tiered, usage), 5_000n + 187_500_000n + 6_250_000n + 100_000n)
    const above = { ...usage, cacheWrite: 1 }
    assert.strictEqual(tokenCost(tiered, above), 5_000n + 375_000_000n + 12_500_000n + 3_200n + 150_000n)
  })
  it("prices units", () => {
    assert.strictEqual(unitCost({ unit: "image", perUnit: 40_000_000_000n }, 3), 120_000_000n)
  })
  it.prop(
    "holds at least what any usage within the bounds can cost",
    {
      input: count(150_000),
      cached: count(150_000),
      cacheWrite: count(150_000),
      output: count(50_000),
      slack: count(100)
    },
    ({ slack, ...buckets }) => {
      const usage = { ...buckets, reasoning: 0 }
      const most = maximumCost(tiered, promptTokens(usage) + slack, usage.output + slack)
      assert.isTrue(tokenCost(tiered, usage) <= most)
    }
  )
  it.prop(
    "finds the most output that a grant covers",
    { prompt: count(300_000), granted: count(2_000_000_000) },
    ({ granted, prompt }) => {
      const output = outputWithin(tiered, prompt, BigInt(granted))
      if (output > 0) assert.isTrue(maximumCost(tiered, prompt, output) <= BigInt(granted))
      assert.isTrue(maximumCost(tiered, prompt, output + 1) > BigInt(granted))
    }
  )
  it("finds no end of output where it is free", () => {
    const free: TokenPrice = {
      unit: "token",
      perRequest: 0n,
      tiers: [{ abovePromptTokens: 0, rates: { input: 0n, cached: 0n, cacheWrite: 0n, output: 0n } }]
    }
    assert.strictEqual(outputWithin(free, 1_000, 0n), Number.MAX_SAFE_INTEGER)
  })
})
