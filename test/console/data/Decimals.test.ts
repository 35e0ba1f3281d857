import { assert, describe, it } from "@effect/vitest"
import { decimalIn } from "../../../src/console/data/Decimals.ts"

describe("a typed decimal", () => {
  it("may have spaces around it, a minus and digits after the point", () =>
    assert.deepStrictEqual(["7", " 12.50 ", "-0.5"].map(decimalIn), [7, 12.5, -0.5]))

  it("is undefined for other texts that JavaScript reads as a number, and for anything else", () => {
    for (const text of ["", " ", "1e3", "0x10", "1,000", ".5", "5.", "abc", "Infinity"]) {
      assert.isUndefined(decimalIn(text), text)
    }
  })
})
