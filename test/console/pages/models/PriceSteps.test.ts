import { assert, describe, it } from "@effect/vitest"
import { priceSteps } from "../../../../src/console/pages/models/PriceSteps.ts"

describe("the steps of a price", () => {
  it("are the price changes in the history, per million tokens or per unit", () =>
    assert.deepStrictEqual(
      priceSteps({
        history: [
          { event: "released", date: "2025-01-01" },
          { event: "price_changed", date: "2025-06-01", meteredCompletionPerToken: 0.000002 },
          { event: "price_changed", date: "2026-01-01", perUnitUsd: 0.04 }
        ]
      }),
      [
        { date: "2025-06-01", usd: 2 },
        { date: "2026-01-01", usd: 0.04 }
      ]
    ))
})
