import { assert, describe, it } from "@effect/vitest"
import { invalid } from "../../src/domain/Failure.ts"
import { MAX_MESSAGE, messageOf, sentenceOfField } from "../../src/http/FailureMessages.ts"

describe("the message of a failure", () => {
  it("has one sentence for each invalid field", () => {
    const { reason } = invalid("limit", "must be an integer from 1 to 100; got 101", {
      field: "model",
      message: "is required"
    })
    assert.strictEqual(messageOf(reason), "`limit` must be an integer from 1 to 100; got 101. `model` is required.")
  })

  it("puts a colon where the text does not go on from the field, and one full stop", () => {
    assert.strictEqual(sentenceOfField({ field: "body", message: "a text." }), "`body`: a text.")
    assert.strictEqual(sentenceOfField({ field: "body", message: "mustard" }), "`body`: mustard.")
  })

  it("has a bounded length", () => {
    const others = Array.from({ length: 31 }, () => ({ field: "f".repeat(200), message: "is required" }))
    assert.strictEqual(messageOf(invalid("a", "is required", ...others).reason).length, MAX_MESSAGE)
  })
})
