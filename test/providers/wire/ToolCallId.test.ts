import { assert, describe, it } from "@effect/vitest"
import { toolCallId } from "../../../src/providers/wire/ToolCallId.ts"

describe("toolCallId", () => {
  it("is the same for the same request and place, and for no other", () => {
    assert.strictEqual(toolCallId("req_abc-123", 0), "call_reqabc123_0")
    assert.strictEqual(toolCallId("req_abc-123", 0), toolCallId("req_abc-123", 0))
    assert.notStrictEqual(toolCallId("req_abc-123", 1), toolCallId("req_abc-123", 0))
    assert.notStrictEqual(toolCallId("req_abc-124", 0), toolCallId("req_abc-123", 0))
  })

  it("keeps to the 40 characters of an OpenAI id", () => {
    assert.isAtMost(toolCallId(`req_${"0123456789abcdef".repeat(4)}`, 127).length, 40)
  })
})
