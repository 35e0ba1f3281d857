import { assert, describe, it } from "@effect/vitest"
import { costLines } from "../../../../src/console/pages/receipt/Lines.ts"

const price = {
  unit: "token",
  input: 1e-6,
  cached_input: 1e-7,
  cache_write: 2e-6,
  output: 4e-6,
  per_request: 0
} as const

describe("the lines of a bill", () => {
  it("multiply each kind of token by its price, and omit unused kinds", () => {
    const usage = {
      input_tokens: 100,
      cached_tokens: 50,
      cache_creation_tokens: 0,
      output_tokens: 10,
      reasoning_tokens: 4
    }
    const lines = costLines(usage, price)
    assert.deepStrictEqual(
      lines.map(({ many, price, what }) => [many, what, price]),
      [
        [100, "input tokens", "$1.00 per million"],
        [50, "cached input tokens", "$0.10 per million"],
        [10, "output tokens", "$4.00 per million"]
      ]
    )
    assert.closeTo(
      lines.reduce((sum, { cost }) => sum + cost, 0),
      0.000_145,
      1e-12
    )
  })

  it("list tokens that are cached for an hour separately, at their own price", () => {
    const usage = {
      input_tokens: 0,
      cached_tokens: 0,
      output_tokens: 0,
      reasoning_tokens: 0,
      cache_creation_tokens: 30,
      cache_creation_1h_tokens: 10
    }
    const lines = costLines(usage, { ...price, cache_write_1h: 3e-6, per_request: 0.01 })
    assert.deepStrictEqual(
      lines.map(({ many, what }) => [many, what]),
      [
        [20, "tokens written to the cache"],
        [10, "tokens written to the cache for an hour"],
        [1, "request"]
      ]
    )
    assert.closeTo(
      lines.reduce((sum, { cost }) => sum + cost, 0),
      0.010_07,
      1e-12
    )
  })

  it("count units when the price is per unit", () => {
    const lines = costLines({ units: 2, unit: "image" }, { unit: "image", per_unit: 0.25 })
    assert.deepStrictEqual(lines, [{ what: "images", many: 2, price: "$0.25 per image", cost: 0.5 }])
  })
})
