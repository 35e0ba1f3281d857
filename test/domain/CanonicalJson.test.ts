import { assert, describe, it } from "@effect/vitest"
import { canonicalJson } from "../../src/domain/CanonicalJson.ts"

describe("canonical JSON", () => {
  it("is one text for one value, in whatever order its members stand", () => {
    const one = { b: [1, { d: null, c: "x" }], a: true }
    const other = { a: true, b: [1, { c: "x", d: null }] }
    assert.strictEqual(canonicalJson(one), canonicalJson(other))
    assert.strictEqual(canonicalJson(one), '{"a":true,"b":[1,{"c":"x","d":null}]}')
  })

  it("is another text for another value", () => {
    const values = [{ a: 1 }, { a: "1" }, { a: [1] }, { a: 1, b: 2 }, [{ a: 1 }], null, "null", 0, "", [], {}, [[]]]
    assert.strictEqual(new Set(values.map(canonicalJson)).size, values.length)
    assert.notStrictEqual(canonicalJson([1, 2]), canonicalJson([2, 1]))
    assert.notStrictEqual(canonicalJson({ 'a":1,"b': 2 }), canonicalJson({ a: 1, b: 2 }))
  })

  it("takes a member without a value for null", () => {
    assert.strictEqual(canonicalJson({ a: undefined }), '{"a":null}')
  })
})
