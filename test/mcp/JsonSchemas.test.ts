import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { inputSchemaOf, outputSchemaOf } from "../../src/mcp/JsonSchemas.ts"

describe("inputSchemaOf", () => {
  it("puts descriptions at their members, omits null, and forbids other members", () => {
    const schema = Schema.Struct({
      model: Schema.String.check(Schema.isMaxLength(3)).annotateKey({ description: "The model." }),
      n: Schema.optionalKey(Schema.NullOr(Schema.Boolean)).annotateKey({ description: "How many." })
    })
    const { properties, required, type, ...rest } = inputSchemaOf(schema) as Record<string, unknown>
    assert.deepStrictEqual(properties, {
      model: { type: "string", maxLength: 3, description: "The model." },
      n: { type: "boolean", description: "How many." }
    })
    assert.deepStrictEqual([type, required, rest["additionalProperties"]], ["object", ["model"], false])
  })
})

describe("outputSchemaOf", () => {
  it("has an object at its root, and named schemas in `$defs`", () => {
    const Part = Schema.Struct({ text: Schema.String }).annotate({ identifier: "Part" })
    const Whole = Schema.Struct({ parts: Schema.Array(Part), first: Part }).annotate({ identifier: "Whole" })
    const { $defs, properties, type } = outputSchemaOf(Whole) as Record<string, unknown>
    assert.strictEqual(type, "object")
    assert.deepStrictEqual((properties as Record<string, unknown>)["first"], { $ref: "#/$defs/Part" })
    assert.hasAllKeys($defs, ["Part"])
  })
})
