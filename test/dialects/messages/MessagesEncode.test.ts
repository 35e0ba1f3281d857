import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { MessagesAnswer } from "../../../schemas/inference/MessagesAnswer.ts"
import { encodeMessage } from "../../../src/dialects/messages/MessagesEncode.ts"
import type { Output } from "../../../src/domain/Output.ts"
import { answerWith } from "../chat/answer.ts"

const check = Schema.decodeUnknownSync(MessagesAnswer, { onExcessProperty: "error" })

const encode = (output: Partial<Output>, more: Parameters<typeof answerWith>[1] = {}, showsThinking = true) =>
  check(JSON.parse(JSON.stringify(encodeMessage(answerWith(output, more), showsThinking))))

const call = (id: string, text: string) => ({ id, name: "look", arguments: text })

describe("a message", () => {
  it("contains the whole answer, in Anthropic's order", () => {
    const output = { text: "Hello", reasoning: "Hm", toolCalls: [call("a", '{"at":1}'), call("b", "")] }
    const { routing, ...rest } = encode({ ...output, finish: "tool_calls" }, { balanceWarning: "low" })
    assert.deepStrictEqual(routing, answerWith({}).routing)
    assert.deepStrictEqual(rest, {
      id: "msg_01ARZ3NDEKTSV4RRFFQ69G5FAV",
      type: "message",
      role: "assistant",
      model: "gpt-4o,gpt-4o-mini",
      content: [
        { type: "thinking", thinking: "Hm", signature: "" },
        { type: "text", text: "Hello" },
        { type: "tool_use", id: "a", name: "look", input: { at: 1 }, caller: { type: "direct" } },
        { type: "tool_use", id: "b", name: "look", input: {}, caller: { type: "direct" } }
      ],
      stop_reason: "tool_use",
      stop_sequence: null,
      usage: {
        input_tokens: 7,
        cache_creation_input_tokens: 1,
        cache_read_input_tokens: 2,
        cache_creation: { ephemeral_5m_input_tokens: 1, ephemeral_1h_input_tokens: 0 },
        output_tokens: 5,
        output_tokens_details: { thinking_tokens: 3 }
      },
      cost_usd: 0.001234567,
      request_id: "req_01ARZ3NDEKTSV4RRFFQ69G5FAV",
      provider: "openai",
      resolved_model: "gpt-4o",
      balance_warning: { warning: "low_balance", threshold: "low" }
    })
  })

  it("signs its thinking, and omits the text when the request does not want it", () => {
    const order = [
      { kind: "reasoning", length: 2, seal: "one" },
      { kind: "reasoning", length: 0, seal: "two" },
      { kind: "text", length: 2 },
      { kind: "reasoning", length: 0, seal: "three" }
    ] as const
    const sealed = { reasoning: "Hm", text: "Hi", order }
    const text = { type: "text", text: "Hi" } as const
    const calls = { ...sealed, toolCalls: [call("a", "{}")], order: [...order, { kind: "tool", length: 0 }] as const }
    const blocks = (thinking: string) => [{ type: "thinking", thinking, signature: "one" } as const]
    assert.deepStrictEqual(encode(sealed, {}, false).content, [...blocks(""), text])
    assert.deepStrictEqual(encode(sealed).content, [...blocks("Hm"), text])
    const redacted = (data: string) => ({ type: "redacted_thinking", data }) as const
    assert.deepStrictEqual(encode(calls).content.slice(0, -1), [
      ...blocks("Hm"),
      redacted("two"),
      text,
      redacted("three")
    ])
  })

  it("has no block for empty output", () => {
    assert.deepStrictEqual(encode({ finish: "length" }).content, [])
    assert.notProperty(encode({}), "balance_warning")
  })

  it("contains a refusal as text, with the stop reason `refusal`", () => {
    const { content, stop_reason } = encode({ refusal: "I will not", finish: "stop" })
    assert.deepStrictEqual([content, stop_reason], [[{ type: "text", text: "I will not" }], "refusal"])
  })

  it("makes the input of a tool an object, whatever the model wrote", () => {
    const inputOf = (text: string) => {
      const [block] = encode({ toolCalls: [call("a", text)] }).content
      return block?.type === "tool_use" ? block.input : assert.fail("no tool_use")
    }
    assert.deepStrictEqual(inputOf(" "), {})
    for (const text of ['{"at":', "[1]", "7", '"x"', "null"]) assert.deepStrictEqual(inputOf(text), { arguments: text })
  })

  it("keeps all digits of numbers in the input of a tool", () => {
    const args = '{"order":1234567890123456789}'
    const message = encodeMessage(answerWith({ toolCalls: [call("a", args)] }), true)
    assert.include(JSON.stringify(message), `"input":${args}`)
  })

  it("has Anthropic's stop reason for every finish reason", () => {
    const cases: ReadonlyArray<readonly [Partial<Output>, string, string | null]> = [
      [{ finish: "stop" }, "end_turn", null],
      [{}, "end_turn", null],
      [{ finish: "stop", stopSequence: "END" }, "stop_sequence", "END"],
      [{ finish: "length" }, "max_tokens", null],
      [{ finish: "length", toolCalls: [call("a", "{")] }, "max_tokens", null],
      [{ finish: "content_filter" }, "refusal", null],
      [{ finish: "stop", toolCalls: [call("a", "{}")] }, "tool_use", null],
      [{ finish: "tool_calls" }, "end_turn", null]
    ]
    for (const [output, reason, sequence] of cases) {
      const { stop_reason, stop_sequence } = encode(output)
      assert.deepStrictEqual([stop_reason, stop_sequence], [reason, sequence], JSON.stringify(output))
    }
  })
})
