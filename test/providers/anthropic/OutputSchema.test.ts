import { assert, describe, it } from "@effect/vitest"
import { outputSchemaOf } from "../../../src/providers/anthropic/OutputSchema.ts"

describe("outputSchemaOf", () => {
  it("leaves a schema that the host accepts unchanged", () => {
    const schema = {
      type: "object",
      description: "a thing",
      properties: {
        kind: { type: "string", enum: ["a", "b"], default: "a" },
        when: { type: "string", format: "date-time" },
        like: { type: "string", pattern: "^a" },
        parts: { type: "array", items: { $ref: "#/$defs/part" } },
        choice: { anyOf: [{ type: "null" }, { const: { minimum: 1 } }] }
      },
      required: ["kind"],
      additionalProperties: false,
      $defs: { part: { type: "object", properties: {}, additionalProperties: false } }
    }
    assert.deepStrictEqual(outputSchemaOf(schema), schema)
  })

  it("closes every object, at every depth", () => {
    const object = { type: "object" }
    const closed = { type: "object", additionalProperties: false }
    assert.deepStrictEqual(
      outputSchemaOf({
        properties: { a: { type: ["object", "null"], additionalProperties: true }, b: { items: object } },
        $defs: { c: object },
        definitions: { d: object },
        allOf: [object],
        oneOf: [object, true]
      }),
      {
        properties: {
          a: { type: ["object", "null"], additionalProperties: false },
          b: { items: closed }
        },
        $defs: { c: closed },
        definitions: { d: closed },
        allOf: [closed],
        anyOf: [closed, true],
        additionalProperties: false
      }
    )
  })

  it("moves unsupported limits into the description", () => {
    assert.deepStrictEqual(outputSchemaOf({ type: "integer", minimum: 1, maximum: 5, description: "a grade" }), {
      type: "integer",
      description: "a grade (minimum: 1, maximum: 5)"
    })
    assert.deepStrictEqual(outputSchemaOf({ type: "string", format: "phone", maxLength: 9 }), {
      type: "string",
      description: '(format: "phone", maxLength: 9)'
    })
  })

  it("reads a property with the name of a limit as a property", () => {
    const properties = { minimum: { type: "number" }, format: { type: "string" }, properties: { type: "string" } }
    assert.deepStrictEqual(outputSchemaOf({ properties }), { properties, additionalProperties: false })
  })
})
