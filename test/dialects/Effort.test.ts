import { assert, describe, it } from "@effect/vitest"
import { effortOf } from "../../src/dialects/Effort.ts"

describe("effortOf", () => {
  it("maps `max` to `xhigh`, keeps every other effort, and returns undefined when the request sets none", () => {
    assert.strictEqual(effortOf("max"), "xhigh")
    for (const word of ["none", "minimal", "low", "medium", "high", "xhigh"] as const) {
      assert.strictEqual(effortOf(word), word)
    }
    assert.isUndefined(effortOf(null))
    assert.isUndefined(effortOf(undefined))
  })
})
