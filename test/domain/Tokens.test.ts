import { assert, describe, it } from "@effect/vitest"
import { encode } from "gpt-tokenizer/encoding/o200k_base"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import type { Part } from "../../src/domain/Conversation.ts"
import { countPrompt, countTokens } from "../../src/domain/Tokens.ts"
import { asked } from "../support/Conversations.ts"

const plain = { disallowedSpecial: new Set<string>() }

describe("a PDF file in a counted prompt", () => {
  it("counts as one image per page and a quarter of its text's bytes", () => {
    const pdf = { type: "pdf", data: "", pages: 3, text: 4_000, field: "f" } as const
    const of = (content: ReadonlyArray<Part>) => countPrompt(asked("", { messages: [{ role: "user", content }] }))
    const image = { type: "image", url: "data:", detail: "auto" } as const
    assert.strictEqual(of([pdf]), of([image, image, image]) + 1_000)
    assert.isAbove(of([{ ...pdf, name: "report.pdf", context: "of last year" }]), of([pdf]) + 3)
  })
})

describe("Tokens", () => {
  it("counts in pieces to within 1 %, and treats special tokens as text", () => {
    const text = "Pack my box with five dozen liquor jugs. Zwölf Boxkämpfer jagen Viktor. ".repeat(300)
    assert.approximately(countTokens(text) / encode(text, plain).length, 1, 0.01)
    assert.isAbove(countTokens("<|endoftext|>"), 1)
  })
  it("estimates a very long text from samples, to within 8 %", () => {
    const text = Array.from({ length: 40_000 }, (_, n) => `Line ${n}: the total is ${n * n} pieces.`).join("\n")
    assert.approximately(countTokens(text) / encode(text, plain).length, 1, 0.08)
  })
  it("is not misled by whitespace at the positions of evenly spaced samples", () => {
    const dense = "ж7q#".repeat(35_000)
    const real = encode(dense, plain).length
    for (const [every, blanks] of [
      [1_094, 512],
      [512, 256],
      [300, 100]
    ] as const) {
      const made = Array.from({ length: Math.floor(dense.length / every) }, (_, run) =>
        dense.slice(run * every, (run + 1) * every - blanks)
      ).join(" ".repeat(blanks))
      assert.isAbove(countTokens(made), 0.85 * encode(made, plain).length)
    }
    assert.isAbove(countTokens(dense), 0.95 * real)
    // A text with whitespace wherever evenly spaced samples would begin.
    const length = 140_000
    const places = new Set(Array.from({ length: 128 }, (_, at) => Math.floor(((length - 512) * at) / 127)))
    const holes = Array.from(dense.slice(0, length))
    for (const place of places) holes.fill(" ", place, place + 513)
    const hollow = holes.join("")
    assert.isAbove(countTokens(hollow), 0.7 * encode(hollow, plain).length)
  })
  it("does not keep all counted words in memory", () => {
    setFlagsFromString("--expose-gc")
    const collect = runInNewContext("gc") as () => void
    let words = 0
    // Digits would be words of their own.
    const word = () =>
      `quartz${String(words++)
        .padStart(6, "0")
        .replaceAll(/\d/g, (digit) => "zxqjvkwpyb"[Number(digit)]!)}`
    const count = (texts: number) => {
      for (let index = 0; index < texts; index++) countTokens(Array.from({ length: 1_000 }, word).join(" "))
      collect()
      return process.memoryUsage().heapUsed
    }
    const before = count(1)
    assert.isBelow(count(60) - before, 9 * 1024 * 1024)
  })
  it("limits the tokenizer's work for any text and any number of parts", () => {
    const run = "x7Qz".repeat(2_000_000)
    const parts = Array.from({ length: 5_000 }, () => ({ type: "text", text: "k3Vb".repeat(400) }) as const)
    assert.isAbove(countTokens(run), 1_000_000)
    assert.isAbove(countPrompt(asked("", { messages: [{ role: "user", content: parts }] })), 1_000_000)
  })
})
