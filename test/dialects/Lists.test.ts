import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { listCheck } from "../../src/dialects/Lists.ts"

const few = <S extends Schema.Top>(element: S, message?: string) =>
  Schema.Array(element).check(Schema.isMaxLength(2, message === undefined ? {} : { message }))

const check = (schema: Schema.Top, value: unknown) => listCheck(schema.ast)(value)

describe("listCheck", () => {
  const Word = Schema.Union([Schema.String, few(Schema.String, "two at most")])
  const Deep = Schema.Struct({
    a: Schema.optionalKey(Schema.NullOr(Schema.Struct({ words: few(Word) }))),
    b: Schema.optionalKey(Schema.NonEmptyArray(Schema.Int).check(Schema.isMinLength(1), Schema.isMaxLength(3))),
    free: Schema.optionalKey(Schema.Array(Schema.Unknown))
  })

  it("finds a list over its limit at any depth, and names it by its path", () => {
    assert.isUndefined(check(Deep, { a: { words: ["x", ["y", "z"]] }, b: [1, 2, 3], free: [1, 2, 3, 4] }))
    assert.deepStrictEqual(check(Deep, { a: { words: [1, 2, 3] } }), {
      field: "a.words",
      message: "must contain at most 2 items; got 3"
    })
    assert.deepStrictEqual(check(Deep, { a: { words: ["x", [1, 2, 3]] } }), {
      field: "a.words[1]",
      message: "two at most"
    })
    assert.strictEqual(check(Deep, { b: [1, 2, 3, 4] })?.field, "b")
    assert.strictEqual(check(few(Schema.Int), [1, 2, 3])?.field, "")
  })

  it("does not enumerate an array that is in the place of an object", () => {
    const list = new Proxy([1, 2, 3], { ownKeys: () => assert.fail("the check enumerated the array") })
    assert.isUndefined(check(Deep, { a: list }))
    assert.isUndefined(check(Deep, list))
  })

  it("ignores values that are not lists", () => {
    for (const value of [null, undefined, 1, "abcdef", { length: 9 }, { a: null, b: "abcdef" }, { a: { words: 1 } }]) {
      assert.isUndefined(check(Deep, value))
    }
  })

  it("accepts any length when the schema sets no limit", () => {
    assert.isUndefined(check(Schema.Struct({ a: Schema.String, b: Schema.Array(Schema.String) }), { b: Array(9) }))
  })
})
