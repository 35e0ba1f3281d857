import { assert, describe, it } from "@effect/vitest"
import { fixedPriceOf } from "../../src/domain/PlanPrice.ts"

const image = { unit: "image", perUnit: 1n } as const
const token = {
  unit: "token",
  tiers: [{ abovePromptTokens: 0, rates: { input: 1n, cached: 1n, cacheWrite: 1n, output: 1n } }],
  perRequest: 0n
} as const

describe("a fixed price", () => {
  it("has the rates of the plan, and the input rate for those that the plan leaves out", () => {
    const rates = { input_usd_per_million: 0.25, output_usd_per_million: 1, cached_input_usd_per_million: 0.1 }
    const made = fixedPriceOf({ model: "m", ...rates, per_request_usd: 0.001 }, token)
    const expected = { input: 250_000n, cached: 100_000n, cacheWrite: 250_000n, output: 1_000_000n }
    assert.deepStrictEqual(made, {
      unit: "token",
      tiers: [{ abovePromptTokens: 0, rates: expected }],
      perRequest: 1_000_000_000n
    })
  })

  it("applies only when the catalogue prices in the same unit", () => {
    assert.deepStrictEqual(fixedPriceOf({ model: "m", per_unit_usd: 0.5 }, image), {
      unit: "image",
      perUnit: 500_000_000_000n
    })
    assert.isUndefined(fixedPriceOf({ model: "m", per_unit_usd: 0.5 }, token))
    assert.isUndefined(fixedPriceOf({ model: "m", input_usd_per_million: 1, output_usd_per_million: 1 }, image))
  })
})
