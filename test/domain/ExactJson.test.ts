import { assert, describe, it } from "@effect/vitest"
import { exactInputs, isShort, parseExact, parseWithin } from "../../src/domain/ExactJson.ts"

describe("exact JSON", () => {
  it("writes whole numbers of any length as it read them", () => {
    const texts = [
      '{"id":1234567890123456789,"list":[-98765432109876543210,1],"text":"1234567890123456789"}',
      '{"id":9007199254740993}',
      "12345678901234567890",
      '{"a":[1,2.5,-0.1],"b":null}'
    ]
    for (const text of texts) assert.strictEqual(JSON.stringify(parseExact(text)), text)
  })

  it("reads short whole numbers as numbers, and fractions and powers as floats", () => {
    assert.deepStrictEqual(parseExact('{"a":9007199254740991,"b":0.1234567890123456789,"c":1e21}'), {
      a: 9_007_199_254_740_991,
      b: 0.123_456_789_012_345_68,
      c: 1e21
    })
  })

  it("rejects a text that is too deep or too large to be written again", () => {
    assert.strictEqual(JSON.stringify(parseWithin('{"id":1234567890123456789}')), '{"id":1234567890123456789}')
    for (const text of ['{"a":'.repeat(9_000) + "1" + "}".repeat(9_000), `[${"[],".repeat(300_000)}1]`]) {
      assert.throws(() => parseWithin(text), SyntaxError)
    }
  })

  it("isShort reports whether every number fits in a JavaScript number", () => {
    for (const text of ['{"id":1}', '{"id":"1234567890123456789"}', '{"id":9007199254740991}']) {
      assert.isTrue(isShort(text), text)
    }
    assert.isFalse(isShort('{"id":[1234567890123456789]}'))
  })

  it("is limited to the inputs of tool calls in a request", () => {
    const call = (id: string) => `{"type":"tool_use","id":"a","name":"f","input":{"deep":[{"id":${id}}]}}`
    const text = `{"seed":1234567890123456789,"input":1234567890123456789,"messages":[{"content":[${call("1234567890123456789")}]}]}`
    const value = exactInputs(text, JSON.parse(text)) as { readonly seed: number; readonly messages: unknown }
    assert.strictEqual(typeof value.seed, "number")
    assert.strictEqual(JSON.stringify(value.messages), `[{"content":[${call("1234567890123456789")}]}]`)
    const plain = { type: "tool_use", input: { id: 1 } }
    assert.strictEqual(exactInputs(JSON.stringify(plain), plain), plain)
  })
})
