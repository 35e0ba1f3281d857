import { assert, describe, it } from "@effect/vitest"
import { canonicalJson } from "../../src/domain/CanonicalJson.ts"

describe("canonical JSON", () => {
  it("is the same text for the same value, in any order of members", () => {
    const one = { b: [1, { d: null, c: "x" }], a: true }
    const other = { a: true, b: [1, { c: "x", d: null }] }
    assert.strictEqual(canonicalJson(one), canonicalJson(other))
    assert.strictEqual(canonicalJson(one), '{"a":true,"b":[1,{"c":"x","d":null}]}')
  })

  it("is a different text for every other value", () => {
    const values = [{ a: 1 }, { a: "1" }, { a: [1] }, { a: 1, b: 2 }, [{ a: 1 }], null, "null", 0, "", [], {}, [[]]]
    assert.strictEqual(new Set(values.map(canonicalJson)).size, values.length)
    assert.notStrictEqual(canonicalJson([1, 2]), canonicalJson([2, 1]))
    assert.notStrictEqual(canonicalJson({ 'a":1,"b': 2 }), canonicalJson({ a: 1, b: 2 }))
  })

  it("writes a member without a value as null", () => {
    assert.strictEqual(canonicalJson({ a: undefined }), '{"a":null}')
  })
})
