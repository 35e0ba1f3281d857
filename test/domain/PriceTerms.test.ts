import { assert, describe, it } from "@effect/vitest"
import type { PriceTerms } from "../../schemas/Access.ts"
import { isFixed, priceFor, ruleFor } from "../../src/domain/PriceTerms.ts"
import type { TokenPrice } from "../../src/domain/Pricing.ts"

const rates = { input: 1_000n, cached: 500n, cacheWrite: 1_250n, output: 4_000n }
const price: TokenPrice = { unit: "token", tiers: [{ abovePromptTokens: 0, rates }], perRequest: 0n }
const image = { unit: "image", perUnit: 1_000_000n } as const
const fixed = {
  "gpt-4o-mini": { model: "gpt-4o-mini", input_usd_per_million: 2, output_usd_per_million: 8 },
  "flux-dev": { model: "flux-dev", per_unit_usd: 0.5 }
}
const terms: PriceTerms = { plan: "gold", markupBasisPoints: 1_000, markupOf: "plan", fixed }

describe("the price for an account", () => {
  it('is the catalogue\'s without terms, and for a model name like "constructor"', () => {
    assert.strictEqual(priceFor(undefined, "gpt-4o-mini", price), price)
    assert.strictEqual(priceFor({ ...terms, markupBasisPoints: 0 }, "constructor", price), price)
  })

  it("is the plan's fixed price without a markup, cached, and only in the catalogue's unit", () => {
    const own = priceFor(terms, "gpt-4o-mini", price)
    assert.deepStrictEqual(own.tiers[0].rates, {
      input: 2_000_000n,
      cached: 2_000_000n,
      cacheWrite: 2_000_000n,
      output: 8_000_000n
    })
    assert.strictEqual(priceFor(terms, "gpt-4o-mini", price), own)
    assert.deepStrictEqual(priceFor(terms, "flux-dev", image), { unit: "image", perUnit: 500_000_000_000n })
    assert.isFalse(isFixed(terms, "flux-dev", price))
    assert.strictEqual(priceFor(terms, "flux-dev", price).tiers[0].rates.input, 1_100n)
  })

  it("comes with the name of its rule", () => {
    assert.isUndefined(ruleFor(undefined, "gpt-4o", price))
    assert.deepStrictEqual(ruleFor(terms, "gpt-4o-mini", price), { by: "plan_price", plan: "gold" })
    assert.deepStrictEqual(ruleFor(terms, "gpt-4o", price), { by: "plan", plan: "gold", markup: 1_000 })
    const own: PriceTerms = { markupBasisPoints: 500, markupOf: "account" }
    assert.deepStrictEqual(ruleFor(own, "gpt-4o", price), { by: "account", markup: 500 })
  })
})
