import { assert, describe, it } from "@effect/vitest"
import { checkablePattern, schemaProblem } from "../../../src/providers/structured/StructuredSchema.ts"

describe("the problem of a schema", () => {
  const wrong: ReadonlyArray<readonly [object, string]> = [
    [{ not: {} }, "`not` must not exclude every answer"],
    [{ not: true }, "`not` must not exclude every answer"],
    [{ type: "strng" }, "`type` must be a type of JSON Schema"],
    [{ type: ["string", "nul"] }, "`type` must be a type of JSON Schema"],
    [{ type: [] }, "`type` must be a type of JSON Schema"],
    [{ properties: { a: { type: "int" } } }, "`properties.a.type` must be a type of JSON Schema"],
    [{ items: [{}, { type: 1 }] }, "`items.1.type` must be a type of JSON Schema"],
    [{ items: "string" }, "`items` must be a schema"],
    [{ $defs: { a: { anyOf: [{ minLength: -1 }] } } }, "`$defs.a.anyOf.0.minLength` must be an integer of at least 0"],
    [{ properties: ["a"] }, "`properties` must be an object of schemas"],
    [{ properties: { a: "string" } }, "`properties.a` must be a schema"],
    [{ allOf: {} }, "`allOf` must be a list of schemas"],
    [{ required: "a" }, "`required` must be a list of names"],
    [{ enum: [] }, "`enum` must be a list of at least one value"],
    [{ multipleOf: 0 }, "`multipleOf` must be a number above 0"],
    [{ minimum: "1" }, "`minimum` must be a number"],
    [{ pattern: {} }, "`pattern` must be a string"],
    [{ minItems: 3, maxItems: 2 }, "`minItems` must not be greater than `maxItems`"]
  ]
  for (const [schema, problem] of wrong) {
    it(`is ${problem}`, () => assert.strictEqual(schemaProblem({ ...schema }), problem))
  }

  it("is undefined for a schema that some answer can meet, and for data that are not schemas", () => {
    const right: ReadonlyArray<object> = [
      {},
      { type: ["object", "null"], properties: { type: { type: "integer" }, not: {}, enum: { enum: [1] } } },
      { properties: { a: true, b: { not: {} } }, additionalProperties: false },
      { const: { type: "no" }, default: { type: 1 }, examples: [{ required: 1 }], "x-type": { type: "widget" } },
      { $schema: "http://json-schema.org/draft-04/schema#", minimum: 1, exclusiveMinimum: true },
      { minimum: 1, maximum: 1 }
    ]
    for (const schema of right) assert.isUndefined(schemaProblem({ ...schema }), JSON.stringify(schema))
  })

  it("has a path of limited length, at a limited depth", () => {
    const far = schemaProblem({ properties: { ["k".repeat(500)]: { type: "no" } } })
    assert.isTrue(far !== undefined && far.length < 220 && far.endsWith("…` must be a type of JSON Schema"))
    let deep: object = {}
    for (let level = 0; level < 400; level++) deep = { not: deep }
    assert.match(schemaProblem({ items: deep }) ?? "", /must be nested less deeply$/)
  })
})

describe("a schema's pattern", () => {
  it("is rewritten into a form that the check can compile, if it is a regular expression", () => {
    const of: ReadonlyArray<readonly [string, string | null | undefined]> = [
      ["^a+$", "^a+$"],
      [String.raw`^[a-z\_]+$`, "^[a-z_]+$"],
      [String.raw`\'\"\@\.\\\_`, String.raw`'"@\.\\_`],
      [String.raw`[\w\-]`, String.raw`[\w\-]`],
      [String.raw`a\-b`, null],
      ["(", undefined]
    ]
    for (const [pattern, made] of of) assert.strictEqual(checkablePattern(pattern), made, pattern)
  })
})
