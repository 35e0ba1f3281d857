import { assert, describe, it } from "@effect/vitest"
import { differences } from "../../src/account/Differences.ts"

describe("the differences of a thing", () => {
  it("are of the members whose values are others", () => {
    const before = { name: "a", routing: { strategy: "cost" }, budget: null, slug: "s" }
    assert.deepStrictEqual(differences(before, { ...before, routing: { strategy: "cost" } }), {})
    assert.deepStrictEqual(differences<object>(before, { ...before, name: "b", budget: 5, routing: null }), {
      name: { from: "a", to: "b" },
      routing: { from: { strategy: "cost" }, to: null },
      budget: { from: null, to: 5 }
    })
  })
})
