import { assert, describe, it } from "@effect/vitest"
import { effortOf } from "../../src/dialects/Effort.ts"

describe("an effort", () => {
  it("is the nearest known word for max, itself otherwise, and absent where the request says nothing", () => {
    assert.strictEqual(effortOf("max"), "xhigh")
    for (const word of ["none", "minimal", "low", "medium", "high", "xhigh"] as const) {
      assert.strictEqual(effortOf(word), word)
    }
    assert.isUndefined(effortOf(null))
    assert.isUndefined(effortOf(undefined))
  })
})
