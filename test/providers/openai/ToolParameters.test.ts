import { assert, describe, it } from "@effect/vitest"
import { parametersFor } from "../../../src/providers/openai/ToolParameters.ts"
import { candidate } from "../calls.ts"

const of = (vendor: string) => candidate("p", { model: { vendor } })
const text = { type: "string" }

describe("a tool's parameters on OpenAI's wire", () => {
  it("are an object with properties for every vendor's model", () => {
    for (const vendor of ["openai", "qwen"]) {
      assert.deepStrictEqual(parametersFor({}, of(vendor)), { type: "object", properties: {} })
      assert.deepStrictEqual(parametersFor({ type: "object" }, of(vendor)), { type: "object", properties: {} })
      const whole = { type: "object", properties: { a: text }, encrypted: true }
      assert.deepStrictEqual(parametersFor(whole, of(vendor)), whole)
    }
  })

  it("contain no choice at the root for OpenAI's models, and keep it for others", () => {
    const choice = { oneOf: [{ properties: { a: text }, required: ["a"] }, { properties: { b: text } }] }
    assert.deepStrictEqual(parametersFor(choice, of("qwen")), choice)
    assert.deepStrictEqual(parametersFor(choice, of("openai")), {
      type: "object",
      description: "Needs exactly one of: a; none of these.",
      properties: { a: text, b: text }
    })
  })

  it("declare the items of every array for OpenAI's models", () => {
    const lists = {
      type: "object",
      properties: { a: { type: "array" }, items: { type: ["array", "null"], items: text } }
    }
    assert.deepStrictEqual(parametersFor(lists, of("openai")), {
      type: "object",
      properties: { a: { type: "array", items: {} }, items: { type: ["array", "null"], items: text } }
    })
    assert.deepStrictEqual(parametersFor(lists, of("qwen")), lists)
  })
})
