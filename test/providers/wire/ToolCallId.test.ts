import { assert, describe, it } from "@effect/vitest"
import { toolCallId } from "../../../src/providers/wire/ToolCallId.ts"

describe("toolCallId", () => {
  it("returns the same id for the same request and index, and different ids otherwise", () => {
    assert.strictEqual(toolCallId("req_abc-123", 0), "call_reqabc123_0")
    assert.strictEqual(toolCallId("req_abc-123", 0), toolCallId("req_abc-123", 0))
    assert.notStrictEqual(toolCallId("req_abc-123", 1), toolCallId("req_abc-123", 0))
    assert.notStrictEqual(toolCallId("req_abc-124", 0), toolCallId("req_abc-123", 0))
  })

  it("returns an id of at most 40 characters, OpenAI's limit", () => {
    assert.isAtMost(toolCallId(`req_${"0123456789abcdef".repeat(4)}`, 127).length, 40)
  })
})
