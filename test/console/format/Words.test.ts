import { assert, describe, it } from "@effect/vitest"
import { operationName, operations, plural, sentence, statusName, toneOf } from "../../../src/console/format/Words.ts"

describe("words", () => {
  it("names operations, and leaves an unknown one unchanged", () => {
    assert.strictEqual(operationName("chat.completions"), "Chat")
    assert.strictEqual(operationName("new.operation"), "new.operation")
  })

  it("gives every operation with receipts its own name", () => {
    assert.strictEqual(operationName("videos"), "Video")
    assert.strictEqual(new Set(operations.map(operationName)).size, operations.length)
  })

  it("writes the API's words like the beginning of a sentence", () =>
    assert.strictEqual(sentence("key.all_ended"), "Key all ended"))

  it("gives every status a word and a tone", () => {
    assert.strictEqual(statusName("ga"), "Available")
    assert.deepStrictEqual(["succeeded", "failed", "cancelled", "open", "unknown"].map(toneOf), [
      "good",
      "bad",
      "warn",
      "info",
      "plain"
    ])
  })

  it("puts a noun after a count in singular or plural", () =>
    assert.deepStrictEqual([plural(1, "key"), plural(1_200, "key")], ["1 key", "1,200 keys"]))
})
