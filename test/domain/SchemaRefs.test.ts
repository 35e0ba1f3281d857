import { assert, describe, it } from "@effect/vitest"
import { inlineRefs, isRecursive } from "../../src/domain/SchemaRefs.ts"

const text = { type: "string" }
const depthOf = (value: unknown): number =>
  typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0

describe("inlineRefs", () => {
  it("replaces each reference by its target, and keeps the description beside it", () => {
    const schema = {
      type: "object",
      properties: {
        a: { $ref: "#/$defs/Name", description: "its own" },
        b: { type: "array", items: { $ref: "#/definitions/of~1two" } },
        c: { $ref: "#/$defs/Name", minLength: 2 },
        d: { $ref: "https://example.com/other.json", description: "elsewhere" },
        e: { $ref: "#/$defs/None" }
      },
      $defs: { Name: { ...text, description: "a name" } },
      definitions: { "of/two": { anyOf: [{ $ref: "#/$defs/Name" }, { type: "null" }] } }
    }
    assert.deepStrictEqual(inlineRefs(schema), {
      type: "object",
      properties: {
        a: { ...text, description: "its own" },
        b: { type: "array", items: { anyOf: [{ ...text, description: "a name" }, { type: "null" }] } },
        c: { allOf: [{ ...text, description: "a name" }, { minLength: 2 }] },
        d: { description: "elsewhere" },
        e: {}
      }
    })
  })

  it("keeps properties and values that look like keywords", () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"$ref":{"type":"string"},"$defs":{"type":"object","properties":{}},"__proto__":{"type":"string"}},' +
        '"required":["$ref"],"enum":[{"$ref":"#/x"}],"default":{"$ref":"#/x"}}'
    )
    assert.strictEqual(JSON.stringify(inlineRefs(schema)), JSON.stringify(schema))
  })

  it("ends a recursive definition with an open object", () => {
    const node = { type: "object", properties: { value: text, next: { $ref: "#/$defs/Node" } } }
    const once = (next: object) => ({ type: "object", properties: { value: text, next } })
    assert.deepStrictEqual(
      inlineRefs({ $ref: "#/$defs/Node", $defs: { Node: node } }),
      once(once(once({ type: "object" })))
    )
    const itself = { type: "object", properties: { me: { $ref: "#" } } }
    assert.isBelow(depthOf(inlineRefs(itself)), 20)
  })

  it("returns a schema of bounded size however its definitions multiply", () => {
    const levels = Array.from({ length: 40 }, (_, level) => {
      const next = { $ref: `#/$defs/D${level + 1}` }
      return [`D${level}`, { type: "object", properties: { a: next, b: next, c: next } }] as const
    })
    const bomb = { $ref: "#/$defs/D0", $defs: Object.fromEntries(levels) }
    assert.isBelow(JSON.stringify(inlineRefs(bomb)).length, 40_000)
    const many = {
      type: "object",
      properties: Object.fromEntries([..."abcdefghij"].map((name) => [name, { $ref: "#" }]))
    }
    assert.isBelow(JSON.stringify(inlineRefs(many)).length, 40_000)
  })

  it("cuts off schemas that are nested too deeply", () => {
    let deep: object = text
    for (let level = 0; level < 120; level++) deep = { type: "array", items: deep }
    assert.isBelow(depthOf(inlineRefs(deep as Readonly<Record<string, unknown>>)), 70)
  })
})

describe("isRecursive", () => {
  it("is true for a schema that contains itself, in any number of steps", () => {
    const through = (reference: string) => ({ type: "object", properties: { a: { items: { $ref: reference } } } })
    assert.isTrue(isRecursive(through("#")))
    assert.isTrue(isRecursive({ $ref: "#/$defs/A", $defs: { A: through("#/$defs/B"), B: through("#/$defs/A") } }))
    const twice = {
      type: "object",
      properties: { a: { $ref: "#/$defs/T" }, b: { $ref: "#/$defs/T" } },
      $defs: { T: text }
    }
    for (const schema of [twice, { ...through("#/$defs/None"), default: { $ref: "#" } }, text]) {
      assert.isFalse(isRecursive(schema))
    }
    const levels = Array.from({ length: 60 }, (_, at) => {
      const next = { $ref: `#/$defs/D${at + 1}` }
      return [`D${at}`, { anyOf: [next, next, next] }] as const
    })
    assert.isFalse(isRecursive({ $ref: "#/$defs/D0", $defs: Object.fromEntries(levels) }))
  })
})
