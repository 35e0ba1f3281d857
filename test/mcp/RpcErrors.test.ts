import { assert, describe, it } from "@effect/vitest"
import { describe as described } from "../../src/http/Failures.ts"
import { failureOfRpc, rpcErrorIn } from "../../src/mcp/RpcErrors.ts"

const messageOf = (code: number, message: string, about: unknown = undefined) =>
  described(failureOfRpc({ code, message, data: undefined }, about)).message

describe("rpcErrorIn", () => {
  it("finds an error without the envelope, and only that", () => {
    const error = { code: -32_600, message: "Invalid Request" }
    assert.deepStrictEqual(rpcErrorIn(JSON.stringify({ error })), { ...error, data: undefined })
    assert.isUndefined(rpcErrorIn(JSON.stringify({ error: { ...error, data: { error: {} } } })))
    assert.isUndefined(rpcErrorIn('{"result":{"error":{}}}'))
  })
})

describe("failureOfRpc", () => {
  it("names the header or the part of the message that is wrong", () => {
    for (const [code, message, expected] of [
      [-32_600, "Invalid Request", "`body` must be a JSON-RPC 2.0 message."],
      [-32_700, "Parse error", "`body` must be JSON."],
      [-32_601, "Method not found: nothing", "`method` must be a method that this server supports."],
      [-32_602, "Prompt 'nothing' not found", "There is no prompt nothing."],
      [-32_002, "Resource 'a://b' not found", "There is no resource a://b."],
      [
        -32_020,
        "Mcp-Method header does not match request method",
        "`Mcp-Method` must match the method of the message."
      ],
      [-32_020, "MCP-Protocol-Version header is required", "`MCP-Protocol-Version` is required."],
      [-32_602, "Something\n  else", "`body`: Something else."]
    ] as const) {
      assert.strictEqual(messageOf(code, message), expected)
    }
  })

  it("names the parameter of a method that is missing or wrong", () => {
    const invalid = "Invalid method parameters"
    assert.strictEqual(messageOf(-32_602, invalid, { method: "resources/read" }), "`uri` is required.")
    const call = { method: "tools/call", params: { name: "chat", arguments: 5 } }
    assert.strictEqual(messageOf(-32_602, invalid, call), "`arguments` must be an object; got 5.")
    assert.strictEqual(messageOf(-32_602, invalid, { method: "ping" }), "`params` must be valid for this method.")
  })
})
