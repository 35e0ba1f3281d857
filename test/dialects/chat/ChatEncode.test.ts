import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { ChatCompletion } from "../../../schemas/inference/ChatCompletions.ts"
import { encodeCompletion } from "../../../src/dialects/chat/ChatEncode.ts"
import type { FinishReason } from "../../../src/domain/Output.ts"
import { answerWith } from "./answer.ts"

const check = Schema.decodeUnknownSync(ChatCompletion, { onExcessProperty: "error" })

describe("a whole answer", () => {
  it("is OpenAI's chat completion with its cost", () => {
    const answer = answerWith({ text: "Hello!", finish: "stop" })
    assert.deepStrictEqual(check(JSON.parse(JSON.stringify(encodeCompletion(answer)))), {
      id: "chatcmpl-01ARZ3NDEKTSV4RRFFQ69G5FAV",
      object: "chat.completion",
      created: 1_700_000_000,
      model: "gpt-4o,gpt-4o-mini",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "Hello!", refusal: null },
          finish_reason: "stop",
          logprobs: null
        }
      ],
      usage: {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 15,
        prompt_tokens_details: { cached_tokens: 2, cache_creation_tokens: 1 },
        completion_tokens_details: { reasoning_tokens: 3 },
        cost: 0.001234567
      },
      system_fingerprint: null,
      cost_usd: 0.001234567,
      request_id: "req_01ARZ3NDEKTSV4RRFFQ69G5FAV",
      provider: "openai",
      resolved_model: "gpt-4o",
      routing: answer.routing
    })
  })

  it("contains tool calls, reasoning, a refusal and log probabilities when there are any", () => {
    const { choices } = check(
      encodeCompletion(
        answerWith({
          reasoning: "hm",
          refusal: "no",
          toolCalls: [
            { id: "a", name: "look", arguments: "{}" },
            { id: "b", name: "hear", arguments: '{"x":1}' }
          ],
          finish: "tool_calls",
          logprobs: [{ token: "x" }]
        })
      )
    )
    assert.deepStrictEqual(choices[0], {
      index: 0,
      message: {
        role: "assistant",
        content: "",
        reasoning: "hm",
        reasoning_content: "hm",
        refusal: "no",
        tool_calls: [
          { id: "a", type: "function", function: { name: "look", arguments: "{}" } },
          { id: "b", type: "function", function: { name: "hear", arguments: '{"x":1}' } }
        ]
      },
      finish_reason: "tool_calls",
      logprobs: { content: [{ token: "x" }], refusal: null }
    })
  })

  it("contains the seals of its reasoning, with or without a text", () => {
    const order = [
      { kind: "reasoning", length: 2, seal: "one" },
      { kind: "reasoning", length: 0, seal: "two" },
      { kind: "text", length: 1 }
    ] as const
    const { choices } = check(encodeCompletion(answerWith({ reasoning: "hm", text: "x", order })))
    assert.deepStrictEqual(choices[0]?.message.reasoning_details, [
      { type: "reasoning.text", text: "hm", signature: "one", format: "unknown", index: 0 },
      { type: "reasoning.encrypted", data: "two", format: "unknown", index: 1 }
    ])
  })

  it("always has a finish reason", () => {
    const finishOf = (output: Parameters<typeof answerWith>[0]) =>
      encodeCompletion(answerWith(output)).choices[0]?.finish_reason
    for (const finish of ["stop", "length", "tool_calls", "content_filter"] satisfies Array<FinishReason>) {
      assert.strictEqual(finishOf({ finish }), finish)
    }
    assert.strictEqual(finishOf({ text: "x" }), "stop")
    assert.strictEqual(finishOf({ toolCalls: [{ id: "a", name: "b", arguments: "" }] }), "tool_calls")
  })

  it("warns of a low balance", () => {
    const body = check(encodeCompletion(answerWith({ text: "x" }, { balanceWarning: "Your balance is $1.00" })))
    assert.deepStrictEqual(body.balance_warning, { warning: "low_balance", threshold: "Your balance is $1.00" })
  })

  it("gives its cost to the last nano-USD", () => {
    assert.strictEqual(encodeCompletion(answerWith({}, { cost: 1n })).cost_usd, 1e-9)
    assert.strictEqual(encodeCompletion(answerWith({}, { cost: 0n })).cost_usd, 0)
    assert.strictEqual(encodeCompletion(answerWith({}, { cost: 123_456_789_012_345n })).cost_usd, 123_456.789012345)
  })
})
