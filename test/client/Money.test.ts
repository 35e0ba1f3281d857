import { assert, describe, it } from "@effect/vitest"
import { nanoFromUsd, usdFromNano } from "../../src/client/Money.ts"

describe("amounts in nano-dollars", () => {
  it("equal the amounts of the API to the last digit, and add up without rounding", () => {
    assert.strictEqual(nanoFromUsd(0.1) + nanoFromUsd(0.2), nanoFromUsd(0.3))
    for (const usd of [0, 0.000000001, 0.123456789, 25, 8_999_999.123456, -0.5]) {
      assert.strictEqual(usdFromNano(nanoFromUsd(usd)), usd)
    }
  })
})
