import { assert, describe, it } from "@effect/vitest"
import { linesOf } from "../../../src/console/charts/Scale.ts"

describe("an axis", () => {
  it("has round lines up to the first at or above the largest value", () => {
    assert.deepStrictEqual(linesOf(2.03, 4), [0, 1, 2, 3])
    assert.deepStrictEqual(linesOf(4, 4), [0, 1, 2, 3, 4])
    assert.deepStrictEqual(linesOf(0.000_71, 4), [0, 0.0002, 0.0004, 0.0006, 0.0008])
  })

  it("continues below zero as far as the smallest value", () => {
    assert.deepStrictEqual(linesOf(3.2, 4, -1.1), [-2, 0, 2, 4])
    assert.deepStrictEqual(linesOf(0, 4, -0.9), [-1, -0.75, -0.5, -0.25, 0])
  })

  it("has one step when every value is zero", () => assert.deepStrictEqual(linesOf(0, 4), [0, 1]))
})
