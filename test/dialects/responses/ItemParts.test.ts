import { assert, describe, it } from "@effect/vitest"
import { itemId, outputText } from "../../../src/dialects/responses/ItemParts.ts"

describe("the parts of an item", () => {
  it("have an id made of the item's type, its request and its index", () => {
    assert.strictEqual(itemId("custom_tool_call", "req_01ARZ3", 2), "ctc_01ARZ3_2")
    assert.strictEqual(itemId("tool_search_call", "req_01ARZ3", 0), "tsc_01ARZ3_0")
  })

  it("contain text with empty annotations", () => {
    assert.deepStrictEqual(outputText("so"), { type: "output_text", text: "so", annotations: [] })
  })
})
