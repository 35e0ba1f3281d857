import { assert, describe, it } from "@effect/vitest"
import { isReasoningReference, itemTypes } from "../../../src/dialects/responses/ItemTypes.ts"

describe("isReasoningReference", () => {
  it("is true only for references to reasoning", () => {
    assert.isTrue(isReasoningReference({ type: "item_reference", id: "rs_1" }))
    for (const id of ["msg_1", "fc_1", 7, null]) assert.isFalse(isReasoningReference({ type: "item_reference", id }))
    for (const type of itemTypes) assert.isFalse(isReasoningReference({ type, id: "rs_1" }), type)
    assert.isFalse(isReasoningReference("rs_1"))
  })
})
