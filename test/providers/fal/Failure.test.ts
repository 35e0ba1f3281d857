import { assert, describe, it } from "@effect/vitest"
import { detailOf, faultOfStatus, typesOf } from "../../../src/providers/fal/Failure.ts"

const bytes = (body: unknown) => Buffer.from(typeof body === "string" ? body : JSON.stringify(body))

const model = { detail: [{ loc: ["body"], msg: "too small", type: "image_too_small" }, { msg: "no type" }, "words"] }
const queue = { detail: "Request timed out", error_type: "request_timeout" }

describe("fal's errors", () => {
  it("contain the first message and every type", () => {
    assert.deepStrictEqual([detailOf(bytes(model)), typesOf(bytes(model))], ["too small", ["image_too_small"]])
    assert.deepStrictEqual([detailOf(bytes(queue)), typesOf(bytes(queue))], ["Request timed out", ["request_timeout"]])
    for (const nothing of ["<html>", "", "[]", "null", { detail: [] }, { detail: [{}] }, { detail: { msg: "x" } }]) {
      assert.deepStrictEqual([detailOf(bytes(nothing)), typesOf(bytes(nothing))], [undefined, []])
    }
    assert.strictEqual(detailOf(bytes({ error: "no such app" })), "no such app")
    assert.strictEqual(detailOf(bytes({ message: "no such app" })), "no such app")
  })

  it("become faults by status", () => {
    const fault = (status: number, body: unknown, headers = {}) =>
      faultOfStatus({ status, headers, body: bytes(body) }, 0)
    assert.deepStrictEqual(fault(422, model), { _tag: "Refused", status: 422, detail: "too small" })
    assert.deepStrictEqual(fault(403, queue), { _tag: "Unauthorized", status: 403 })
    assert.deepStrictEqual(fault(429, queue, { "retry-after": "2" }), { _tag: "RateLimited", retryAfterSeconds: 2 })
    assert.deepStrictEqual(fault(504, "<html>"), { _tag: "ServerError", status: 504, detail: "status 504" })
    const flagged = { msg: "The content was flagged by a content checker.", type: "content_policy_violation" }
    for (const status of [422, 500]) {
      assert.deepStrictEqual(fault(status, { detail: [flagged] }), {
        _tag: "Refused",
        status: 422,
        detail: flagged.msg,
        about: "policy"
      })
    }
    const none = { msg: "The model made nothing.", type: "no_media_generated" }
    assert.deepStrictEqual(fault(422, { detail: [none] }), { _tag: "ServerError", status: 500, detail: none.msg })
  })
})
