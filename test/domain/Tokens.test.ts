import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { encode } from "gpt-tokenizer/encoding/o200k_base"
import { encode as encodeOlder } from "gpt-tokenizer/encoding/cl100k_base"
import type { Conversation } from "../../src/domain/Conversation.ts"
import { countPrompt, countTokens, promptBound, textBound } from "../../src/domain/Tokens.ts"

const plain = { disallowedSpecial: new Set<string>() }

const conversation = (text: string, more: Partial<Conversation> = {}): Conversation => ({
  messages: [{ role: "user", content: [{ type: "text", text }] }],
  tools: [],
  toolChoice: { type: "auto" },
  parallelToolCalls: undefined,
  format: { type: "text" },
  sampling: {},
  reasoning: undefined,
  maxOutputTokens: undefined,
  user: undefined,
  ...more
})

describe("Tokens", () => {
  it.prop("bounds any text by its bytes, under more than one vocabulary", [Schema.String], ([text]) => {
    assert.isAtMost(encode(text, plain).length, textBound(text))
    assert.isAtMost(encodeOlder(text, plain).length, textBound(text))
    assert.isAtMost(countPrompt(conversation(text)), promptBound(conversation(text)))
  })
  it("grows with everything that is sent", () => {
    const bare = promptBound(conversation("hi"))
    const tools = [{ name: "t", description: "d", parameters: { type: "object" }, strict: undefined }]
    const image = { type: "image", url: "https://example.com/a.png", detail: "auto" } as const
    assert.isAbove(promptBound(conversation("hi", { tools })), bare + 1_000)
    assert.isAbove(promptBound(conversation("hi", { messages: [{ role: "user", content: [image] }] })), bare + 1_000)
    const format = { type: "json_schema", name: "n", schema: { type: "object" }, strict: true } as const
    assert.isAbove(promptBound(conversation("hi", { format })), bare)
  })
  it("counts in pieces to about a percent, and takes special tokens for text", () => {
    const text = "Pack my box with five dozen liquor jugs. Zwölf Boxkämpfer jagen Viktor. ".repeat(300)
    assert.approximately(countTokens(text) / encode(text, plain).length, 1, 0.01)
    assert.isAbove(countTokens("<|endoftext|>"), 1)
  })
})
