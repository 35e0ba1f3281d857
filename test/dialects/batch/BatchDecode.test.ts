import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeBatch } from "../../../src/dialects/batch/BatchDecode.ts"

const body = { model: "a" }

describe("the body of a batch", () => {
  it("is a list of requests to other operations, by default to chat", () => {
    const requests = [{ custom_id: "a", url: "/embeddings", body }, { params: body }]
    assert.deepStrictEqual(
      decodeBatch({ requests }),
      Result.succeed([
        { customId: "a", url: "/embeddings" as const, body, at: "requests[0].body" },
        { customId: null, url: "/chat/completions" as const, body, at: "requests[1].params" }
      ])
    )
  })

  it("is rejected with the path of the invalid field", () => {
    const placeOf = (value: unknown) => {
      const decoded = decodeBatch(value)
      if (Result.isSuccess(decoded)) return undefined
      const { at, reason } = decoded.failure
      return reason._tag === "ValidationError" ? [at, reason.problems[0].field].filter(Boolean).join(" ") : reason._tag
    }
    assert.strictEqual(placeOf(null), "body")
    assert.strictEqual(placeOf({ requests: [{ body }], other: 1 }), "other")
    assert.strictEqual(placeOf({}), "requests")
    assert.strictEqual(placeOf({ requests: {} }), "requests")
    assert.strictEqual(placeOf({ requests: [{ body }, []] }), "requests[1]")
    assert.strictEqual(placeOf({ requests: [{ body, custom_id: "" }] }), "requests[0] custom_id")
    assert.strictEqual(placeOf({ requests: [{ body, custom_id: "a".repeat(65) }] }), "requests[0] custom_id")
    assert.strictEqual(placeOf({ requests: [{ body, url: "/batch" }] }), "requests[0] url")
    assert.strictEqual(placeOf({ requests: [{ body: [] }] }), "requests[0] body")
    const twins = [
      { body, custom_id: "a" },
      { body, custom_id: "b" },
      { body, custom_id: "a" }
    ]
    assert.strictEqual(placeOf({ requests: twins }), "requests[2].custom_id")
  })
  it("is rejected with the missing field before the unknown fields in its place", () => {
    const problemsOf = (value: unknown) => {
      const decoded = decodeBatch(value)
      const reason = Result.isFailure(decoded) ? decoded.failure.reason : assert.fail("the decoder accepted it")
      return reason._tag === "ValidationError" ? reason.problems.map(({ field, message }) => `${field} ${message}`) : []
    }
    assert.deepStrictEqual(problemsOf({ requests: [{ model: "a", messages: [] }] }), [
      "body is required",
      "model is not a known field",
      "messages is not a known field"
    ])
    assert.deepStrictEqual(problemsOf({ input: [body] }), ["requests is required", "input is not a known field"])
  })
})
