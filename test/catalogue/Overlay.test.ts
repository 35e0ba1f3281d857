import { assert, describe, it } from "@effect/vitest"
import { type OverlayPrice, overlayPrice } from "../../src/catalogue/Overlay.ts"

const entry = {
  model: "m",
  provider: "p",
  source: "our contract",
  unit: "token",
  inputUsdPerMillion: 4,
  outputUsdPerMillion: 8
} satisfies OverlayPrice

const ratesOf = (more: Partial<OverlayPrice>) => {
  const price = overlayPrice({ ...entry, ...more } as OverlayPrice)
  return price.unit === "token" ? price.tiers.map(({ rates }) => rates) : []
}

describe("a price of the overlay", () => {
  it("charges the prompt cache at the input rate unless it has cache rates", () => {
    const plain = { input: 4_000_000n, cached: 4_000_000n, cacheWrite: 4_000_000n, output: 8_000_000n }
    assert.deepStrictEqual(ratesOf({}), [plain])
    assert.deepStrictEqual(ratesOf({ cachedUsdPerMillion: 1, cacheWriteUsdPerMillion: 5 }), [
      { ...plain, cached: 1_000_000n, cacheWrite: 5_000_000n }
    ])
  })
})
