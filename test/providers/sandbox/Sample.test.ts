import { assert, describe, it } from "@effect/vitest"
import { sampleOf } from "../../../src/providers/sandbox/Sample.ts"

describe("sampleOf", () => {
  const cases: ReadonlyArray<readonly [string, unknown, unknown]> = [
    ["a string", { type: "string" }, "sample value"],
    ["a long enough string", { type: "string", minLength: 15 }, "sample value..."],
    ["a short enough string", { type: "string", maxLength: 3 }, "sam"],
    ["a format", { type: "string", format: "date" }, "2026-01-15"],
    ["an integer", { type: "integer" }, 1],
    ["an integer with a minimum", { type: "integer", minimum: 7 }, 7],
    ["an integer with an exclusive minimum", { type: "integer", exclusiveMinimum: 7 }, 8],
    ["an integer with a maximum", { type: "integer", maximum: -3 }, -3],
    ["a multiple", { type: "integer", minimum: 7, multipleOf: 5 }, 10],
    ["a number in a narrow range", { type: "number", minimum: 0.2, maximum: 0.4 }, 0.4],
    ["a boolean", { type: "boolean" }, true],
    ["null", { type: "null" }, null],
    ["a constant", { const: { a: 1 } }, { a: 1 }],
    ["an enum value", { enum: ["x", "y"] }, "x"],
    ["a default", { type: "integer", default: 9 }, 9],
    ["a nullable integer", { type: ["null", "integer"] }, 1],
    ["a list", { type: "array", items: { type: "integer" } }, [1]],
    ["a list of a minimum length", { type: "array", items: { type: "boolean" }, minItems: 2 }, [true, true]],
    ["an empty list", { type: "array", items: { type: "boolean" }, maxItems: 0 }, []],
    ["a tuple", { prefixItems: [{ type: "integer" }, { type: "boolean" }] }, [1, true]],
    ["an option that is not null", { anyOf: [{ type: "null" }, { type: "integer" }] }, 1],
    [
      "an object",
      { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } }, required: ["city"] },
      { city: "sample city", days: 1 }
    ],
    ["a reference", { $defs: { "a/b": { type: "integer" } }, properties: { n: { $ref: "#/$defs/a~1b" } } }, { n: 1 }],
    [
      "an allOf of several schemas",
      {
        allOf: [{ $ref: "#/definitions/base" }, { properties: { b: { type: "boolean" } }, required: ["b"] }],
        definitions: { base: { type: "object", properties: { a: { type: "integer" } } } }
      },
      { a: 1, b: true }
    ],
    ["no schema", undefined, "sample value"]
  ]
  for (const [name, schema, value] of cases) {
    it(`makes ${name}`, () => assert.deepStrictEqual(sampleOf(schema), value))
  }

  it("ends at a recursive schema", () => {
    const tree = {
      type: "object",
      properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#" } }, next: { $ref: "#" } },
      required: ["name", "children"]
    }
    const made = JSON.stringify(sampleOf(tree))
    assert.match(made, /^\{"name":"sample name","children":\[\{/)
    assert.isBelow(made.length, 10_000)
    assert.deepStrictEqual(sampleOf({ $ref: "#" }), null)
  })
})
