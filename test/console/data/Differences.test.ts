import { assert, describe, it } from "@effect/vitest"
import { auditDifferences, differences } from "../../../src/console/data/Differences.ts"

describe("the differences of two configs", () => {
  it("name each changed, added or removed field, and no other", () =>
    assert.deepStrictEqual(differences({ model: "b", top_p: 1, seed: 3 }, { model: "a", seed: 3, max_tokens: 9 }), [
      { field: "model", before: '"a"', after: '"b"' },
      { field: "max_tokens", before: "9", after: undefined },
      { field: "top_p", before: undefined, after: "1" }
    ]))

  it("name the fields of nested records by their path, and lists as a whole", () =>
    assert.deepStrictEqual(
      differences(
        { provider: { only: ["a", "b"], order: ["a"] }, stop: "." },
        { provider: { only: ["a"], order: ["a"] }, stop: null }
      ),
      [
        { field: "provider.only", before: '["a"]', after: '["a","b"]' },
        { field: "stop", before: "null", after: '"."' }
      ]
    ))

  it("are all fields of the first version", () => {
    assert.deepStrictEqual(differences({ model: "a" }, undefined), [
      { field: "model", before: undefined, after: '"a"' }
    ])
    assert.deepStrictEqual(differences({ model: "a" }, { model: "a" }), [])
  })
})

describe("the changes of an audit event", () => {
  it("have the values before and after when both are recorded, and otherwise only the value after", () =>
    assert.deepStrictEqual(
      auditDifferences({
        name: { from: "a", to: "b" },
        budget_cents: { from: null, to: 500 },
        routing: { strategy: "cost" },
        last2: "67"
      }),
      [
        { field: "name", before: '"a"', after: '"b"' },
        { field: "budget_cents", before: "null", after: "500" },
        { field: "routing.strategy", before: undefined, after: '"cost"' },
        { field: "last2", before: undefined, after: '"67"' }
      ]
    ))
})
