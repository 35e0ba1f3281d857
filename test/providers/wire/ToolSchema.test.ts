import { assert, describe, it } from "@effect/vitest"
import { objectSchema } from "../../../src/providers/wire/ToolSchema.ts"

const text = { type: "string" }

describe("a schema of arguments at the root of a tool", () => {
  it("stays unchanged when it describes an object, or cannot", () => {
    const plain = { $schema: "x", type: "object", properties: { a: { anyOf: [text, { type: "null" }] } } }
    assert.deepStrictEqual(objectSchema(plain), plain)
    assert.deepStrictEqual(objectSchema({ type: "array", items: text }), { type: "array", items: text })
    assert.deepStrictEqual(objectSchema({ properties: {} }), { type: "object", properties: {} })
    assert.deepStrictEqual(objectSchema({ type: ["object", "null"] }), { type: "object" })
    assert.deepStrictEqual(objectSchema({}), { type: "object" })
  })

  it("merges the properties of all choices, and requires only what each choice requires", () => {
    const schema = {
      $defs: {
        B: { properties: { kind: { const: "b" }, n: { $ref: "#/$defs/N" } }, required: ["kind", "n"] },
        N: text
      },
      description: "Draws.",
      oneOf: [
        { type: "object", properties: { kind: { const: "a" }, x: text }, required: ["kind", "x"] },
        { $ref: "#/$defs/B" }
      ]
    }
    assert.deepStrictEqual(objectSchema(schema), {
      $defs: schema.$defs,
      description: "Draws. Needs exactly one of: x; n.",
      type: "object",
      properties: { kind: { anyOf: [{ const: "a" }, { const: "b" }] }, x: text, n: { $ref: "#/$defs/N" } },
      required: ["kind"]
    })
  })

  it("states in the description which properties the choices require beside the object's own", () => {
    const choice = {
      type: "object",
      properties: { a: text, b: text },
      anyOf: [{ required: ["a"] }, { required: ["b"] }]
    }
    assert.deepStrictEqual(objectSchema(choice), {
      type: "object",
      description: "Needs at least one of: a; b.",
      properties: { a: text, b: text }
    })
  })

  it("merges the properties of all parts of an allOf", () => {
    const schema = {
      allOf: [{ properties: { a: text }, required: ["a"] }, { allOf: [{ properties: { b: text }, required: ["b"] }] }],
      not: { required: ["c"] }
    }
    assert.deepStrictEqual(objectSchema(schema), {
      type: "object",
      properties: { a: text, b: text },
      required: ["a", "b"]
    })
  })

  it("ends at circular references, and quickly with many choices", () => {
    const circle = { $defs: { A: { anyOf: [{ $ref: "#/$defs/A" }, { $ref: "#" }] } }, anyOf: [{ $ref: "#/$defs/A" }] }
    assert.deepInclude(objectSchema(circle), { type: "object", properties: {} })
    const names = Array.from({ length: 30 }, (_, at) => `D${at}`)
    const all = names.map((name) => ({ $ref: `#/$defs/${name}` }))
    const web = { $defs: Object.fromEntries(names.map((name) => [name, { anyOf: all }])), anyOf: all }
    assert.deepInclude(objectSchema(web), { type: "object" })
  })
})
