import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeChat } from "../../src/dialects/chat/ChatDecode.ts"
import { decodeLegacyChat } from "../../src/dialects/legacy/LegacyDecode.ts"
import { decodeMessages } from "../../src/dialects/messages/MessagesDecode.ts"
import { decodeResponses } from "../../src/dialects/responses/ResponsesDecode.ts"
import { ReasoningUnsealer } from "../../src/dialects/ReasoningUnsealer.ts"
import type { Message, ReasoningPart } from "../../src/domain/Conversation.ts"

const part: ReasoningPart = {
  text: "hm",
  place: { text: 7, calls: 7 },
  origin: { provider: "anthropic", model: "claude-x", data: { signature: "s" } }
}
const open = (seal: string) => (seal === "ours" ? part : undefined)
const { place: _, ...placeless } = part

const thoughtsOf = (messages: ReadonlyArray<Message>) =>
  messages.flatMap((message) => (message.role === "assistant" ? [message.reasoning] : []))

describe("ReasoningUnsealer", () => {
  it("records the fields of seals that it cannot open", () => {
    const said = new ReasoningUnsealer(open)
    assert.deepStrictEqual([said.read("ours", "a"), said.read("theirs", "b")], [part, undefined])
    assert.deepStrictEqual(said.foreign, ["b"])
    assert.isUndefined(new ReasoningUnsealer().read("ours", "a"))
  })
})

describe("reasoning that a client sends back", () => {
  const user = { role: "user", content: "x" }
  const chat = (message: object) =>
    Result.getOrThrow(
      decodeChat(
        { model: "gpt-4o", messages: [user, { role: "assistant", content: "a", ...message }, user] },
        undefined,
        undefined,
        open
      )
    )

  it("is unsealed from `reasoning_details` of either type in a chat, and replaces plain text", () => {
    const { conversation, ignored } = chat({
      reasoning: "plain",
      reasoning_content: "plain",
      reasoning_details: [
        { type: "reasoning.text", text: "whatever", signature: "ours", format: "unknown", index: 0 },
        { type: "reasoning.encrypted", data: "ours", id: null },
        { type: "reasoning.summary", summary: "s" }
      ]
    })
    assert.deepStrictEqual(thoughtsOf(conversation.messages), [[part, part]])
    assert.deepStrictEqual(ignored, [])
  })

  it("keeps its plain text in a chat when another service signed it, and the signatures are listed as ignored", () => {
    const { conversation, ignored } = chat({
      reasoning: "plain",
      reasoning_details: [
        { type: "reasoning.text", text: "t", signature: "theirs" },
        { type: "reasoning.encrypted", data: "theirs" }
      ]
    })
    assert.deepStrictEqual(thoughtsOf(conversation.messages), [[{ text: "plain" }]])
    assert.deepStrictEqual(ignored, [
      "messages[1].reasoning_details[0].signature",
      "messages[1].reasoning_details[1].data"
    ])
    assert.deepStrictEqual(thoughtsOf(chat({ reasoning_content: "c" }).conversation.messages), [[{ text: "c" }]])
    assert.deepStrictEqual(thoughtsOf(chat({ reasoning: "" }).conversation.messages), [undefined])
  })

  it("is unsealed in a legacy chat too, and not recorded in its session", () => {
    const details = [{ type: "reasoning.encrypted", data: "ours" }]
    const messages = [user, { role: "assistant", content: "a", reasoning: "t", reasoning_details: details }, user]
    const decoded = Result.getOrThrow(decodeLegacyChat({ model: "gpt-4o", messages }, undefined, undefined, open))
    assert.deepStrictEqual(thoughtsOf(decoded.conversation.messages), [[part]])
    assert.deepStrictEqual(decoded.recordedMessages, [user, { role: "assistant", content: "a" }, user] as never)
  })

  const messages = (content: ReadonlyArray<object>) =>
    decodeMessages(
      { model: "gpt-4o", max_tokens: 9, messages: [user, { role: "assistant", content }, user] },
      undefined,
      undefined,
      open
    )

  it("is unsealed from the blocks of a message, each with its position", () => {
    const decoded = messages([
      { type: "thinking", thinking: "", signature: "ours" },
      { type: "text", text: "abc" },
      { type: "redacted_thinking", data: "ours" },
      { type: "tool_use", id: "i", name: "n", input: {} },
      { type: "thinking", thinking: "plain", signature: "" },
      { type: "thinking", thinking: "" }
    ])
    assert.deepStrictEqual(thoughtsOf(Result.getOrThrow(decoded).conversation.messages), [
      [
        { ...part, place: { text: 0, calls: 0 } },
        { ...part, place: { text: 3, calls: 0 } },
        { text: "plain", place: { text: 3, calls: 1 } }
      ]
    ])
  })

  it("is rejected in a message when another service signed it", () => {
    for (const [block, param] of [
      [{ type: "thinking", thinking: "t", signature: "theirs" }, "messages[1].content[0].signature"],
      [{ type: "redacted_thinking", data: "theirs" }, "messages[1].content[0].data"]
    ] as const) {
      const decoded = messages([block])
      const reason = Result.isFailure(decoded) ? decoded.failure.reason : assert.fail("the decoder accepted it")
      assert.deepInclude(reason, { _tag: "UnsupportedParameter", param })
    }
  })

  it("is unsealed from the items of a response, and belongs to the message that follows", () => {
    const reasoning = (more: object) => ({ type: "reasoning", id: "rs_1", summary: [], ...more })
    const call = (id: string) => ({ type: "function_call", call_id: id, name: "f", arguments: "{}" })
    const { conversation, ignored } = Result.getOrThrow(
      decodeResponses(
        {
          model: "gpt-4o",
          input: [
            user,
            reasoning({ encrypted_content: "ours" }),
            { role: "assistant", content: "abc" },
            reasoning({ encrypted_content: "theirs", summary: [{ type: "summary_text", text: "s" }] }),
            reasoning({ encrypted_content: null, summary: [{ type: "summary_text", text: "s" }] }),
            call("a"),
            { type: "function_call_output", call_id: "a", output: "x" },
            reasoning({ encrypted_content: "ours" }),
            { role: "assistant", content: "d" },
            reasoning({ content: [{ type: "reasoning_text", text: "c" }] }),
            { role: "assistant", content: "e" },
            reasoning({ encrypted_content: "ours" })
          ]
        },
        undefined,
        undefined,
        open
      )
    )
    assert.deepStrictEqual(ignored, ["input[3].encrypted_content"])
    assert.deepStrictEqual(thoughtsOf(conversation.messages), [
      [
        { ...placeless, place: { text: 0, calls: 0 } },
        { text: "s", place: { text: 3, calls: 0 } }
      ],
      [{ ...placeless, place: { text: 0, calls: 0 } }],
      [
        { text: "c", place: { text: 0, calls: 0 } },
        { ...placeless, place: { text: 1, calls: 0 } }
      ]
    ])
  })
})
