import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { PresetConfig } from "../../schemas/management/Presets.ts"
import { decodeChat } from "../../src/dialects/chat/ChatDecode.ts"
import { decodeEstimate } from "../../src/dialects/Estimate.ts"
import { likelyTokens, promptBound } from "../../src/domain/TokenBound.ts"

const preparation = (body: object) => Result.getOrThrow(decodeEstimate({ model: "gpt-4o", ...body })).preparation

const fieldsOf = (body: unknown): ReadonlyArray<string> => {
  const result = decodeEstimate(body)
  if (Result.isSuccess(result) || result.failure.reason._tag !== "ValidationError")
    assert.fail("not a validation error")
  return result.failure.reason.problems.map(({ field }) => field)
}

describe("an estimate request", () => {
  it("decodes a chat as the chat endpoint does", () => {
    const body = {
      model: "gpt-4o",
      messages: [
        { role: "system", content: "be brief" },
        { role: "user", content: [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }] },
        { role: "assistant", tool_calls: [{ id: "a", type: "function", function: { name: "look", arguments: "{}" } }] },
        { role: "tool", tool_call_id: "a", content: "seen" }
      ],
      tools: [{ type: "function", function: { name: "look", parameters: { type: "object" } } }],
      max_tokens: 9
    }
    const { conversation } = Result.getOrThrow(decodeChat(body))
    assert.deepStrictEqual(preparation(body).conversation, conversation)
    assert.isUndefined(preparation(body).promptTokens)
  })

  it("accepts a text or a number of tokens in place of messages", () => {
    assert.strictEqual(preparation({ input_tokens: 1_000 }).promptTokens, 1_000)
    const { conversation } = Result.getOrThrow(
      decodeChat({ model: "gpt-4o", messages: [{ role: "user", content: "hello" }] })
    )
    for (const body of [{ prompt: "hello" }, { input: "hello" }]) {
      assert.deepStrictEqual(preparation(body).conversation, conversation)
      assert.isUndefined(preparation(body).promptTokens)
    }
    assert.strictEqual(preparation({ prompt: "hello", input_tokens: 3 }).promptTokens, 3)
    assert.isUndefined(preparation({ messages: [{ role: "user", content: "x" }], input_tokens: 3 }).promptTokens)
  })

  it("adds the tokens of a preset's instructions and tools to `input_tokens`", () => {
    const sized = (preset: PresetConfig, body: object = {}) =>
      Result.getOrThrow(decodeEstimate({ model: "gpt-4o", input_tokens: 1_000, ...body }, preset)).preparation
    const instructions = "i".repeat(500)
    const { conversation } = Result.getOrThrow(
      decodeEstimate({ model: "gpt-4o", prompt: "" }, { instructions })
    ).preparation
    const bare = preparation({ prompt: "" }).conversation
    const more = likelyTokens(promptBound(conversation).most - promptBound(bare).most)
    assert.strictEqual(sized({ instructions }).promptTokens, 1_000 + more)
    assert.isAtLeast(more, 125)
    const tools: PresetConfig["tools"] = [{ type: "function", function: { name: "look", description: "d".repeat(99) } }]
    assert.isAtLeast(sized({ tools }).promptTokens!, 1_025)
    assert.strictEqual(sized({ tools }, { tools }).promptTokens, 1_000)
    assert.strictEqual(sized({ temperature: 1 }).promptTokens, 1_000)
  })

  it("accepts every parameter of a chat, also under the names of other services", () => {
    const body = {
      model: "gpt-4o",
      messages: [{ role: "user", content: "x", name: null }],
      tools: [{ type: "function", function: { name: "look" } }],
      max_completion_tokens: 9,
      stream: true,
      stream_options: { include_usage: true },
      budget_cents: 2,
      temperature: 1,
      top_p: 1,
      seed: 1,
      stop: ["a"],
      logprobs: true,
      top_logprobs: 2,
      user: "u",
      tool_choice: "required",
      parallel_tool_calls: false,
      reasoning: { effort: "low" },
      metadata: { a: "b" },
      response_format: { type: "json_schema", json_schema: { name: "a", schema: { type: "object" } } },
      routing: { require_parameters: true },
      provider: { zdr: true },
      n: 1,
      store: false,
      session_id: null
    }
    const chat = Result.getOrThrow(decodeChat(body))
    const { budgetCents, chain, conversation, parameters, policy, stream } = preparation(body)
    assert.deepStrictEqual(
      { budgetCents, conversation, parameters, policy, stream },
      {
        budgetCents: 2,
        conversation: chat.conversation,
        parameters: chat.parameters,
        policy: chat.policy,
        stream: true
      }
    )
    assert.deepStrictEqual(chain, ["gpt-4o"])
    assert.strictEqual(policy.dataPolicy, "zero_retention")
    const refused = decodeEstimate({ ...body, n: 2 })
    assert.strictEqual(Result.isFailure(refused) && refused.failure.reason._tag, "UnsupportedParameter")
  })

  it("accepts a chain of models and a routing policy", () => {
    const of = preparation({ model: "a, b", models: ["c"], prompt: "x", stream: true, routing: { strategy: "cost" } })
    assert.deepStrictEqual(of.chain, ["a", "b", "c"])
    assert.isTrue(of.stream)
    assert.strictEqual(of.policy.strategy, "cost")
  })

  it("is rejected for unknown and missing fields", () => {
    assert.deepStrictEqual(fieldsOf({ model: "a", prompt: "x", colour: 1, size: 2 }), ["colour", "size"])
    assert.deepStrictEqual(fieldsOf({ model: "a", messages: [{ role: "user", content: "x", mood: 1 }] }), [
      "messages[0].mood"
    ])
    assert.deepStrictEqual(fieldsOf({ model: "a" }), ["messages"])
    assert.deepStrictEqual(fieldsOf({ prompt: "x" }), ["model"])
    assert.deepStrictEqual(fieldsOf([]), ["body"])
  })
})
