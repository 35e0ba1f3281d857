import { assert, describe, it } from "@effect/vitest"
import { differences } from "../../src/account/Differences.ts"

describe("differences", () => {
  it("contain the fields with changed values", () => {
    const before = { name: "a", routing: { strategy: "cost" }, budget: null, slug: "s" }
    assert.deepStrictEqual(differences(before, { ...before, routing: { strategy: "cost" } }), {})
    assert.deepStrictEqual(differences<object>(before, { ...before, name: "b", budget: 5, routing: null }), {
      name: { from: "a", to: "b" },
      routing: { from: { strategy: "cost" }, to: null },
      budget: { from: null, to: 5 }
    })
  })
})
