import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeChat } from "../../src/dialects/chat/ChatDecode.ts"
import { decodeEstimate } from "../../src/dialects/Estimate.ts"

const preparation = (body: object) => Result.getOrThrow(decodeEstimate({ model: "gpt-4o", ...body })).preparation

const fieldsOf = (body: unknown): ReadonlyArray<string> => {
  const result = decodeEstimate(body)
  if (Result.isSuccess(result) || result.failure.reason._tag !== "ValidationError")
    assert.fail("not a validation error")
  return result.failure.reason.problems.map(({ field }) => field)
}

describe("a question of cost", () => {
  it("reads a chat as the chat itself is read", () => {
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

  it("takes a text or a number of tokens in place of messages", () => {
    assert.strictEqual(preparation({ input_tokens: 1_000 }).promptTokens, 1_000)
    assert.strictEqual(preparation({ prompt: "hello" }).promptTokens, preparation({ input: "hello" }).promptTokens)
    assert.isAtLeast(preparation({ prompt: "hello" }).promptTokens ?? 0, 5)
    assert.strictEqual(preparation({ prompt: "hello", input_tokens: 3 }).promptTokens, 3)
  })

  it("takes a chain and a policy", () => {
    const of = preparation({ model: "a, b", models: ["c"], prompt: "x", stream: true, routing: { strategy: "cost" } })
    assert.deepStrictEqual(of.chain, ["a", "b", "c"])
    assert.isTrue(of.stream)
    assert.strictEqual(of.policy.strategy, "cost")
  })

  it("is closed", () => {
    assert.deepStrictEqual(fieldsOf({ model: "a", prompt: "x", colour: 1, size: 2 }), ["colour", "size"])
    assert.deepStrictEqual(fieldsOf({ model: "a", messages: [{ role: "user", content: "x", mood: 1 }] }), [
      "messages.0.mood"
    ])
    assert.deepStrictEqual(fieldsOf({ model: "a" }), ["messages"])
    assert.deepStrictEqual(fieldsOf({ prompt: "x" }), ["model"])
    assert.deepStrictEqual(fieldsOf([]), ["body"])
  })
})
