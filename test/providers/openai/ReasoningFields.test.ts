import { assert, describe, it } from "@effect/vitest"
import type { Conversation, Message, ReasoningPart } from "../../../src/domain/Conversation.ts"
import type { Model } from "../../../src/domain/Model.ts"
import { encodeChat } from "../../../src/providers/openai/ChatEncode.ts"
import type { ChatWireOptions } from "../../../src/providers/openai/HostTraits.ts"
import { asked } from "../../support/Conversations.ts"
import { candidate, chatCall } from "../calls.ts"

const compatible: ChatWireOptions = { flavour: "compatible" }
const reasons: Partial<Model> = { vendor: "qwen", capabilities: ["streaming", "tools", "reasoning"] }

const part = (text: string, data: object, provider = "host"): ReasoningPart => ({
  text,
  origin: { provider, model: "up-1", data: { ...data } }
})

const messagesOf = (reasoning: ReadonlyArray<ReasoningPart>, calls = true): ReadonlyArray<Message> => [
  { role: "user", content: [{ type: "text", text: "x" }] },
  {
    role: "assistant",
    content: [{ type: "text", text: "so" }],
    toolCalls: calls ? [{ id: "a", name: "f", arguments: "{}" }] : [],
    reasoning
  },
  { role: "tool", toolCallId: "a", content: [{ type: "text", text: "y" }] }
]

const sent = (
  reasoning: ReadonlyArray<ReasoningPart>,
  {
    calls,
    conversation = {},
    model = {},
    options = compatible
  }: { calls?: boolean; conversation?: Partial<Conversation>; model?: Partial<Model>; options?: ChatWireOptions } = {}
) => {
  const call = chatCall({
    candidate: candidate("host", { model: { ...reasons, ...model } }),
    conversation: asked("x", { messages: messagesOf(reasoning, calls), ...conversation })
  })
  const { role: _, ...message } = JSON.parse(encodeChat(call, false, options)).messages[1]
  return message
}

const tool_calls = [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }]

describe("reasoning returned to a compatible host", () => {
  it("goes into the field in which the host sent it, beside the calls that followed it", () => {
    for (const field of ["reasoning_content", "reasoning", "reasoning_text"]) {
      const own = [part("h", { field }), part("m", { field })]
      assert.deepStrictEqual(sent(own), { content: "so", [field]: "hm", tool_calls })
      assert.deepStrictEqual(sent(own, { calls: false }), { content: "so" })
    }
  })

  it("is a list of details for hosts that sent one, even without calls", () => {
    const details = [{ type: "reasoning.text", text: "hm", signature: "s", index: 0 }]
    assert.deepStrictEqual(sent([part("hm", { details })]), { content: "so", reasoning_details: details, tool_calls })
    assert.deepStrictEqual(sent([part("hm", { details })], { calls: false }), {
      content: "so",
      reasoning_details: details
    })
  })

  it("goes between tags or into content parts when the host sent it there", () => {
    assert.strictEqual(sent([part("hm", { field: "think" })]).content, "<think>\nhm\n</think>\n\nso")
    assert.deepStrictEqual(sent([part("hm", { field: "content" })]).content, [
      { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
      { type: "text", text: "so" }
    ])
  })

  it("carries the extra content of a call", () => {
    const extra = { google: { thought_signature: "s" } }
    assert.deepStrictEqual(sent([part("", { call: "a", extra })]).tool_calls, [
      { ...tool_calls[0], extra_content: extra }
    ])
  })

  it("is omitted when another host produced it", () => {
    const others = [part("hm", { field: "reasoning_content" }, "another"), { text: "plain" }]
    assert.deepStrictEqual(sent(others), { content: "so", tool_calls })
  })

  it("is always present after calls for models that require it", () => {
    const others = [part("hm", { field: "reasoning_content" }, "another")]
    for (const vendor of ["deepseek", "moonshotai", "xiaomi"]) {
      const model = { vendor }
      assert.strictEqual(sent([part("hm", { field: "reasoning_content" })], { model }).reasoning_content, "hm")
      assert.strictEqual(sent([{ text: "plain" }], { model }).reasoning_content, "plain")
      assert.strictEqual(sent(others, { model }).reasoning_content, " ")
      assert.notProperty(sent(others, { model, calls: false }), "reasoning_content")
      const off = { reasoning: { effort: "none", maxTokens: undefined, enabled: undefined } } as const
      assert.notProperty(sent(others, { model, conversation: off }), "reasoning_content")
      assert.notProperty(sent(others, { model, options: { flavour: "openai" } }), "reasoning_content")
    }
  })

  it("goes as text into the reasoning field that the host accepts", () => {
    const options: ChatWireOptions = { flavour: "compatible", traitsOf: () => ({ reasoning_field: "reasoning" }) }
    assert.strictEqual(sent([{ text: "plain" }], { options }).reasoning, "plain")
    assert.notProperty(sent([], { options }), "reasoning")
    assert.strictEqual(sent([], { options, model: { vendor: "deepseek" } }).reasoning, " ")
    const details: ChatWireOptions = {
      flavour: "compatible",
      traitsOf: () => ({ reasoning_field: "reasoning_details" })
    }
    assert.deepStrictEqual(sent([{ text: "plain" }], { options: details }), { content: "so", tool_calls })
  })
})
