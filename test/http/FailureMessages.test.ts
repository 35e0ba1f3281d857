import { assert, describe, it } from "@effect/vitest"
import { invalid } from "../../src/domain/Failure.ts"
import { sentenceOfField } from "../../src/http/FailureMessages.ts"
import { messageOf } from "../../src/http/FailureRows.ts"

describe("the message of a failure", () => {
  it("has one sentence for each invalid field", () => {
    const { reason } = invalid("limit", "must be an integer from 1 to 100; got 101", {
      field: "model",
      message: "is required"
    })
    assert.strictEqual(messageOf(reason), "`limit` must be an integer from 1 to 100; got 101. `model` is required.")
  })

  it("puts a colon when the text does not continue from the field, and one full stop", () => {
    assert.strictEqual(sentenceOfField({ field: "body", message: "a text." }), "`body`: a text.")
    assert.strictEqual(sentenceOfField({ field: "body", message: "mustard" }), "`body`: mustard.")
  })
})
