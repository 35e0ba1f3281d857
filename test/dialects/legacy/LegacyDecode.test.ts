import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeChat } from "../../../src/dialects/chat/ChatDecode.ts"
import { decodeLegacyChat } from "../../../src/dialects/legacy/LegacyDecode.ts"

const plain = { model: "gpt-4o", messages: [{ role: "user", content: "hello" }] }

const decoded = (body: object) => Result.getOrThrow(decodeLegacyChat({ ...plain, ...body }))

const fieldsOf = (body: unknown): ReadonlyArray<string> => {
  const result = decodeLegacyChat(body)
  if (Result.isSuccess(result) || result.failure.reason._tag !== "ValidationError")
    assert.fail("the decoder accepted it")
  return result.failure.reason.problems.map(({ field }) => field)
}

describe("a legacy chat request", () => {
  it("is decoded like the same chat completion request", () => {
    const bodies = [
      {},
      { model: "gpt-4o, gpt-4o-mini", budget_cents: 3 },
      {
        max_tokens: 9,
        temperature: 1,
        top_p: 0.5,
        frequency_penalty: 1,
        presence_penalty: -1,
        seed: 3,
        stop: ["a"],
        user: "u",
        routing: { strategy: "cost", data_policy: "no_training" }
      },
      { temperature: null, stop: null, routing: null, budget_cents: null },
      {
        messages: [
          { role: "system", content: "be brief" },
          { role: "developer", content: [{ type: "text", text: "or not" }] },
          { role: "user", content: [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }] },
          { role: "assistant", content: "a cat" }
        ]
      }
    ]
    for (const body of bodies) {
      const chat = Result.getOrThrow(decodeChat({ ...plain, ...body }))
      const { recordedMessages, sessionId, ...legacy } = decoded(body)
      assert.deepStrictEqual(legacy, chat)
      assert.deepStrictEqual([recordedMessages, sessionId], [{ ...plain, ...body }.messages as never, undefined])
    }
  })

  it("may name a session, which is not listed as ignored", () => {
    const { ignored, sessionId } = decoded({ session_id: "s" })
    assert.deepStrictEqual([ignored, sessionId], [[], "s"])
    assert.isUndefined(decoded({ session_id: null }).sessionId)
    assert.deepStrictEqual(fieldsOf({ ...plain, session_id: "" }), ["session_id"])
  })

  it("is rejected for unknown fields", () => {
    const foreign = [
      "stream",
      "tools",
      "tool_choice",
      "models",
      "max_completion_tokens",
      "response_format",
      "reasoning",
      "metadata",
      "provider",
      "n",
      "store",
      "logprobs",
      "colour"
    ]
    for (const name of foreign) {
      for (const value of [1, null, false]) assert.deepStrictEqual(fieldsOf({ ...plain, [name]: value }), [name])
    }
    const [message] = plain.messages
    assert.deepStrictEqual(fieldsOf({ ...plain, messages: [{ ...message, name: "x" }] }), ["messages[0].name"])
    assert.deepStrictEqual(fieldsOf({ ...plain, routing: { speed: 1 } }), ["routing.speed"])
  })

  it("is rejected with the names of its invalid fields", () => {
    assert.deepStrictEqual(fieldsOf([]), ["body"])
    assert.deepStrictEqual(fieldsOf({}), ["model", "messages"])
    assert.deepStrictEqual(fieldsOf({ ...plain, model: "", temperature: 9 }), ["model", "temperature"])
    assert.deepStrictEqual(fieldsOf({ ...plain, messages: [] }), ["messages"])
    assert.deepStrictEqual(fieldsOf({ ...plain, messages: [{ role: "tool", content: "x", tool_call_id: "a" }] }), [
      "messages[0].role"
    ])
    const image = [{ type: "image_url", image_url: { url: "http://example.com/a.png" } }]
    assert.deepStrictEqual(fieldsOf({ ...plain, messages: [{ role: "user", content: image }] }), [
      "messages[0].content[0].image_url.url"
    ])
  })
})
