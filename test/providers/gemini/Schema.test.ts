import { assert, describe, it } from "@effect/vitest"
import { answerSchema, argumentsSchema } from "../../../src/providers/gemini/Schema.ts"

const text = { type: "string" }
const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more })
const member = (schema: object) => (argumentsSchema(object({ a: schema }))["properties"] as { readonly a: object }).a

describe("a schema for Gemini", () => {
  it("stays unchanged when the host accepts all of it", () => {
    const schema = object(
      {
        name: { ...text, description: "A name.", enum: ["a", "b"] },
        count: { type: "integer", minimum: 1, maximum: 9 },
        when: { type: ["string", "null"], format: "date-time" },
        pair: { type: "array", prefixItems: [text, { type: "number" }], minItems: 2, maxItems: 2 },
        map: { type: "object", additionalProperties: { type: "boolean" } },
        either: { description: "Two kinds.", anyOf: [text, { type: "number" }] },
        anything: { description: "Any value." }
      },
      { required: ["name"], additionalProperties: false, propertyOrdering: ["name", "count"] }
    )
    assert.deepStrictEqual(argumentsSchema(schema), schema)
    assert.deepStrictEqual(answerSchema(schema), schema)
  })

  it("drops keywords that the host does not know at every depth, but keeps properties of the same name", () => {
    const schema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $id: "x",
      ...object({
        $ref: text,
        const: { type: "array", items: { ...text, encrypted: true, "x-order": 1 } },
        additionalProperties: object({ encrypted: { type: "boolean", encrypted: true, $comment: "no" } })
      }),
      required: ["$ref", "const", "elsewhere"]
    }
    assert.deepStrictEqual(argumentsSchema(schema), {
      type: "object",
      properties: {
        $ref: text,
        const: { type: "array", items: text },
        additionalProperties: object({ encrypted: { type: "boolean" } })
      },
      required: ["$ref", "const"]
    })
  })

  it("moves constraints that it cannot express into the description", () => {
    assert.deepStrictEqual(
      member({ ...text, description: "A code.", pattern: "^[a-z]+$", maxLength: 5, default: "x" }),
      {
        ...text,
        description: 'A code. (pattern: "^[a-z]+$", maxLength: 5, default: "x")'
      }
    )
    assert.deepStrictEqual(member({ ...text, format: "uri" }), { ...text, description: '(format: "uri")' })
    assert.deepStrictEqual(member({ type: "number", exclusiveMinimum: 0 }), {
      type: "number",
      description: "(exclusiveMinimum: 0)"
    })
    assert.deepStrictEqual(member({ ...text, pattern: "a".repeat(500) }), text)
  })

  it("has inclusive bounds in place of exclusive ones for integers", () => {
    const open = { type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 10 }
    assert.deepStrictEqual(member(open), { type: "integer", minimum: 1, maximum: 9 })
  })

  it("writes constants and enums in the form that the host accepts", () => {
    assert.deepStrictEqual(member({ const: "x" }), { type: "string", enum: ["x"] })
    assert.deepStrictEqual(member({ type: "integer", const: 3 }), { type: "integer", enum: [3] })
    assert.deepStrictEqual(member({ enum: ["a", "", "b", "a"] }), { type: "string", enum: ["a", "b"] })
    assert.deepStrictEqual(member({ type: ["string", "null"], enum: ["a", null] }), {
      anyOf: [{ type: "string", enum: ["a"] }, { type: "null" }]
    })
    assert.deepStrictEqual(member({ enum: ["a", 1] }), {
      anyOf: [
        { type: "string", enum: ["a"] },
        { type: "number", enum: [1] }
      ]
    })
    assert.deepStrictEqual(member({ type: "boolean", const: true }), {
      type: "boolean",
      description: "(const: [true])"
    })
    assert.deepStrictEqual(member({ ...text, nullable: true }), { type: ["string", "null"] })
  })

  it("merges the parts of an allOf into one schema", () => {
    const parts = {
      allOf: [
        object({ a: { type: ["string", "number"] }, n: { type: "integer", minimum: 1 } }, { required: ["a"] }),
        object({ a: { ...text, description: "Both." }, n: { minimum: 3 } }, { required: ["n"] })
      ]
    }
    assert.deepStrictEqual(argumentsSchema(object({ inner: parts })), {
      type: "object",
      properties: {
        inner: object(
          { a: { type: "string", description: "Both." }, n: { type: "integer", minimum: 3 } },
          { required: ["a", "n"] }
        )
      }
    })
  })

  it("writes every choice as anyOf, with only a description and title beside it", () => {
    const choice = { ...text, description: "One.", oneOf: [{ const: "x", title: "X" }, { pattern: "^y" }] }
    assert.deepStrictEqual(member(choice), {
      description: "One.",
      anyOf: [
        { type: "string", title: "X", enum: ["x"] },
        { type: "string", description: '(pattern: "^y")' }
      ]
    })
    assert.deepStrictEqual(member({ anyOf: [text], description: "Only." }), { ...text, description: "Only." })
    const optional = { ...object({ a: text, b: text }), anyOf: [{ required: ["a"] }, { required: ["b"] }] }
    assert.deepStrictEqual(member(optional), {
      ...object({ a: text, b: text }),
      description: "Needs at least one of: a; b."
    })
  })

  it("is one object at the root of a tool, and keeps a choice at the root of an answer", () => {
    const schema = {
      $defs: { A: object({ kind: { const: "a" } }, { required: ["kind"] }), B: object({ kind: { const: "b" } }) },
      oneOf: [{ $ref: "#/$defs/A" }, { $ref: "#/$defs/B" }]
    }
    const kind = (value: string) => ({ type: "string", enum: [value] })
    assert.deepStrictEqual(argumentsSchema(schema), {
      type: "object",
      description: "Needs exactly one of: kind; none of these.",
      properties: { kind: { anyOf: [kind("a"), kind("b")] } }
    })
    assert.deepStrictEqual(answerSchema(schema), {
      anyOf: [object({ kind: kind("a") }, { required: ["kind"] }), object({ kind: kind("b") })]
    })
    assert.deepStrictEqual(argumentsSchema({}), { type: "object" })
  })

  it("accepts item lists of older drafts, and schemas that are true or false", () => {
    assert.deepStrictEqual(member({ type: "array", items: [text, true] }), { type: "array", prefixItems: [text, {}] })
    assert.deepStrictEqual(argumentsSchema(object({ a: true, b: false })), object({ a: {} }))
  })

  it("does not grow beyond the size that is counted for the prompt", () => {
    const choices = Array.from({ length: 200 }, (_, at) => object({ kind: { const: `k${at}` }, [`m${at}`]: text }))
    const wide = { ...object({ base: { ...text, description: "b".repeat(1_000) } }), anyOf: choices }
    assert.isBelow(JSON.stringify(argumentsSchema(wide)).length, JSON.stringify(wide).length * 1.1)
  })
})
