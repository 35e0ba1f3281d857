import { assert, describe, it } from "@effect/vitest"
import {
  boundOfLikely,
  fixedBound,
  likelyTokens,
  promptBound,
  promptBoundAt,
  TEXT_WITHIN_PAGE,
  TOKENS_PER_IMAGE,
  TokenSum
} from "../../src/domain/TokenBound.ts"
import { asked } from "../support/Conversations.ts"

const gpt = { id: "gpt-4o", vendor: "openai", modality: "text" } as const
const oss = { ...gpt, id: "openai/gpt-oss-120b" }
const stranger = { id: "any", vendor: "of a file", modality: "text" } as const

const boundOf = (...args: Parameters<typeof asked>) => promptBound(asked(...args)).at(gpt)

describe("the token bound of a prompt", () => {
  it("grows with everything that the request sends", () => {
    const bare = boundOf("hi")
    const tools = [{ name: "t", description: "d", parameters: { type: "object" }, strict: undefined }]
    const image = { type: "image", url: "https://example.com/a.png", detail: "auto" } as const
    assert.isAbove(boundOf("hi", { tools }), bare + 1_000)
    const called = { role: "assistant", content: [], toolCalls: [{ id: "a", name: "t", arguments: "{}" }] } as const
    assert.isAbove(boundOf("hi", { messages: [called] }), 1_000)
    const named = { role: "user", name: "Ann", content: [{ type: "text", text: "hi" }] } as const
    assert.isAbove(boundOf("", { messages: [named] }), bare)
    assert.isAbove(boundOf("hi", { messages: [{ role: "user", content: [image] }] }), bare + 8_000)
    const format = { type: "json_schema", name: "n", schema: { type: "object" }, strict: true } as const
    assert.isAbove(boundOf("hi", { format }), bare + 256)
    const described = boundOf("hi", { format: { ...format, description: "a short description of it" } })
    assert.isAbove(described, boundOf("hi", { format }) + 4)
    assert.isAbove(promptBound(asked("hi")).at(oss), bare + 64)
  })

  it("counts a referenced schema at each use, for models that get schemas without references", () => {
    const gemini = { id: "gemini-2.5-pro", vendor: "google", modality: "text" } as const
    const long = {
      type: "string",
      description: "A description of some length, which stands in each place. ".repeat(20)
    }
    const properties = Object.fromEntries([..."abcdef"].map((name) => [name, { $ref: "#/$defs/Long" }]))
    const schema = { type: "object", properties, $defs: { Long: long } }
    const inlined = { type: "object", properties: Object.fromEntries([..."abcdef"].map((name) => [name, long])) }
    const tool = (parameters: object) =>
      promptBound(
        asked("hi", { tools: [{ name: "t", description: "d", parameters: { ...parameters }, strict: false }] })
      )
    const format = (one: object) =>
      promptBound(asked("hi", { format: { type: "json_schema", name: "n", schema: { ...one }, strict: true } }))
    for (const bound of [tool, format]) {
      assert.isAtLeast(bound(schema).at(gemini), bound(inlined).at(gemini) - 3)
      assert.isAtLeast(bound(schema).most, bound(inlined).most - 3)
      assert.isBelow(bound(schema).at(gpt), bound(inlined).at(gpt) - 500)
    }
  })

  it("counts each page of a PDF file as an image, and the text beyond what fits on its pages", () => {
    const pdf = { type: "pdf", data: "", pages: 2, text: 0, field: "f" } as const
    const of = (more: object) => boundOf("", { messages: [{ role: "user", content: [{ ...pdf, ...more }] }] })
    const bare = of({})
    assert.isAtLeast(bare, 2 * TOKENS_PER_IMAGE)
    assert.isBelow(bare, 2 * TOKENS_PER_IMAGE + 100)
    assert.strictEqual(of({ text: 2 * TEXT_WITHIN_PAGE }), bare)
    assert.strictEqual(of({ text: 2 * TEXT_WITHIN_PAGE + 7 }), bare + 7)
    assert.strictEqual(of({ pages: 3 }), bare + TOKENS_PER_IMAGE)
    assert.isAbove(of({ name: "a report.pdf", context: "what is said of it" }), bare + 4)
  })

  it("is about the same however a text is cut into parts", () => {
    const text = "The quick brown fox jumps over the lazy dog. ".repeat(40)
    const parts = Array.from({ length: 4 }, () => ({ type: "text", text: text.slice(0, text.length / 4) }) as const)
    const whole = boundOf("", { messages: [{ role: "user", content: [{ type: "text", text }] }] })
    assert.approximately(boundOf("", { messages: [{ role: "user", content: parts }] }) / whole, 1, 0.02)
  })

  it("grows with the model's tokens per image when they exceed the default", () => {
    const size = { prompt: fixedBound(20_000), images: 2 }
    assert.strictEqual(promptBoundAt(size, gpt), 20_000)
    assert.strictEqual(promptBoundAt(size, { ...gpt, tokensPerImage: 100 }), 20_000)
    assert.strictEqual(promptBoundAt(size, { ...gpt, tokensPerImage: TOKENS_PER_IMAGE + 7 }), 20_014)
    assert.strictEqual(promptBoundAt({ ...size, images: undefined }, { ...gpt, tokensPerImage: 9_000 }), 20_000)
  })

  it("is a quarter above the likely count", () => {
    assert.strictEqual(likelyTokens(boundOfLikely(1_000)), 1_000)
  })
})

describe("the tokens of texts", () => {
  const models = [gpt, oss, stranger, { ...gpt, vendor: "anthropic", id: "claude-opus-5" }]

  it("never exceed the bytes, or the bound for any model", () => {
    for (const text of ["", "a", "\u0000\u0001", "ᚠᚢᚦᚨᚱᚲ", "😀", "\ud800", "xq7#\n\t", "日本語", "é"]) {
      const sum = new TokenSum().text(text)
      for (const model of models) {
        assert.isAtMost(sum.at(model), Buffer.byteLength(text), JSON.stringify(text))
        assert.isAtMost(sum.at(model), sum.most, JSON.stringify(text))
      }
    }
  })

  it("are multiplied together with everything added before", () => {
    const once = new TokenSum().tokens(3).text("which cat sleeps on the mat?").at(gpt)
    const thrice = new TokenSum().tokens(3).text("which cat sleeps on the mat?").times(3)
    assert.approximately(thrice.at(gpt), 3 * once, 3)
    assert.isAbove(thrice.text("a dog").at(gpt), 3 * once)
  })

  it("are counted for an unknown model by the vocabulary that needs the most", () => {
    const sum = new TokenSum().text("1234567 ".repeat(50))
    assert.isAbove(sum.at(stranger), sum.at(gpt))
  })
})
