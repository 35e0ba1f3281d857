import { assert, describe, it } from "@effect/vitest"
import { limitsOf, priceProblem } from "../../src/account/PlanFacts.ts"

const before = { requests_per_minute: 10, running_videos: 2, running_batches: null, daily_spend: 1_000_000_000n }

describe("limits of a plan", () => {
  it("stay when a change omits them, and are removed when it sets them to null", () => {
    assert.deepStrictEqual(limitsOf({}, before), before)
    const changed = limitsOf({ requests_per_minute: null, running_batches: 4, daily_spend_usd: 2.5 }, before)
    assert.deepStrictEqual(changed, {
      ...before,
      requests_per_minute: null,
      running_batches: 4,
      daily_spend: 2_500_000_000n
    })
    assert.isNull(limitsOf({ daily_spend_usd: null }, before).daily_spend)
  })
})

describe("a price list", () => {
  it("may name a model without a price in the catalogue, in both of its forms", () => {
    const unitOf = () => "none"
    assert.isUndefined(priceProblem([{ model: "m", per_unit_usd: 1 }], unitOf))
    assert.isUndefined(priceProblem([{ model: "m", input_usd_per_million: 1, output_usd_per_million: 1 }], unitOf))
  })
})
