import { assert, describe, it } from "@effect/vitest"
import { exactInputs, isShort, parseExact, parseWithin } from "../../src/domain/ExactJson.ts"

describe("exact JSON", () => {
  it("is written as it was read, however long its whole numbers", () => {
    const texts = [
      '{"id":1234567890123456789,"list":[-98765432109876543210,1],"text":"1234567890123456789"}',
      '{"id":9007199254740993}',
      "12345678901234567890",
      '{"a":[1,2.5,-0.1],"b":null}'
    ]
    for (const text of texts) assert.strictEqual(JSON.stringify(parseExact(text)), text)
  })

  it("has numbers where they are short, and broken ones where there is a point or a power", () => {
    assert.deepStrictEqual(parseExact('{"a":9007199254740991,"b":0.1234567890123456789,"c":1e21}'), {
      a: 9_007_199_254_740_991,
      b: 0.123_456_789_012_345_68,
      c: 1e21
    })
  })

  it("is refused in a text that is too deep or too large to be written again", () => {
    assert.strictEqual(JSON.stringify(parseWithin('{"id":1234567890123456789}')), '{"id":1234567890123456789}')
    for (const text of ['{"a":'.repeat(9_000) + "1" + "}".repeat(9_000), `[${"[],".repeat(300_000)}1]`]) {
      assert.throws(() => parseWithin(text), SyntaxError)
    }
  })

  it("tells whether all of it are numbers", () => {
    for (const text of ['{"id":1}', '{"id":"1234567890123456789"}', '{"id":9007199254740991}']) {
      assert.isTrue(isShort(text), text)
    }
    assert.isFalse(isShort('{"id":[1234567890123456789]}'))
  })

  it("is that of tool calls' inputs in a request, and of nothing else", () => {
    const call = (id: string) => `{"type":"tool_use","id":"a","name":"f","input":{"deep":[{"id":${id}}]}}`
    const text = `{"seed":1234567890123456789,"input":1234567890123456789,"messages":[{"content":[${call("1234567890123456789")}]}]}`
    const value = exactInputs(text, JSON.parse(text)) as { readonly seed: number; readonly messages: unknown }
    assert.strictEqual(typeof value.seed, "number")
    assert.strictEqual(JSON.stringify(value.messages), `[{"content":[${call("1234567890123456789")}]}]`)
    const plain = { type: "tool_use", input: { id: 1 } }
    assert.strictEqual(exactInputs(JSON.stringify(plain), plain), plain)
  })
})
