import { assert, describe, it } from "@effect/vitest"
import { encode } from "gpt-tokenizer/encoding/o200k_base"
import { Progress } from "../../src/inference/Progress.ts"

const pieces = (text: string, size: number) =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, index) => text.slice(index * size, (index + 1) * size))

describe("Progress", () => {
  it("never has an upper bound below the exact count", () => {
    const progress = new Progress()
    for (const text of pieces("Grüße aus dem Süden, 日本語 and 🎉 ".repeat(50), 3)) {
      progress.push({ _tag: "Text", text })
      assert.isAtLeast(progress.atMost, 1)
    }
    const before = progress.atMost
    assert.isAtMost(progress.count(), before)
    assert.strictEqual(progress.atMost, progress.count())
  })
  it("counts a long stream as its whole text, within 1 %", () => {
    const text = "The quick brown fox jumps over the lazy dog. ".repeat(2_000)
    const progress = new Progress()
    for (const piece of pieces(text, 7)) progress.push({ _tag: "Text", text: piece })
    assert.approximately(progress.count() / encode(text).length, 1, 0.01)
  })
  it("counts text, tool calls and reasoning, and no other event", () => {
    const progress = new Progress()
    progress.push({ _tag: "Usage", usage: { input: 9, cached: 0, cacheWrite: 0, output: 9, reasoning: 0 } })
    progress.push({ _tag: "PromptUsage", usage: { input: 9, cached: 0, cacheWrite: 0 } })
    progress.push({ _tag: "Finish", reason: "stop" })
    assert.strictEqual(progress.count(), 0)
    progress.push({ _tag: "ToolStart", index: 0, id: "x", name: "look_up" })
    progress.push({ _tag: "ToolDelta", index: 0, text: '{"a":1}' })
    progress.push({ _tag: "Reasoning", text: "hm" })
    assert.isAbove(progress.count(), 3)
  })
  it("counts a piece in advance without adding it", () => {
    const progress = new Progress()
    progress.push({ _tag: "Text", text: "first " })
    const before = progress.count()
    const piece = [
      { _tag: "ToolStart", index: 0, id: "x", name: "look_up" },
      { _tag: "ToolDelta", index: 0, text: '{"a":"日本語"}' },
      { _tag: "Finish", reason: "stop" }
    ] as const
    const counted = progress.countWith(piece)
    assert.isAbove(counted, before + 3)
    assert.isAtLeast(progress.atMostWith(piece), counted)
    assert.strictEqual(progress.count(), before)
  })
})
