import { assert, describe, it } from "@effect/vitest"
import { differences } from "../../../src/console/data/Differences.ts"

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
