import { assert, describe, it } from "@effect/vitest"
import { TollgateError } from "../../src/client/Errors.ts"

const errorOf = (body: unknown, headers: Record<string, string> = {}) =>
  new TollgateError(400, new Headers(headers), body, false)

describe("an error of the client", () => {
  it("reads the error envelope of every dialect", () => {
    const details = [{ field: "model", message: "must be a text" }]
    const openai = errorOf({ error: { message: "m", type: "t", code: "c", param: "model" }, details })
    assert.deepStrictEqual([openai.message, openai.type, openai.code, openai.param], ["m", "t", "c", "model"])
    assert.deepStrictEqual(openai.details, details)
    const anthropic = errorOf({ type: "error", error: { type: "t", message: "m" }, code: "c", request_id: "req_1" })
    assert.deepStrictEqual([anthropic.message, anthropic.code, anthropic.requestId], ["m", "c", "req_1"])
    const legacy = errorOf({ error: "m", code: "c" }, { "x-request-id": "req_2" })
    assert.deepStrictEqual([legacy.message, legacy.code, legacy.requestId], ["m", "c", "req_2"])
  })

  it("accepts any body, because a proxy may have answered", () => {
    for (const body of ["<html>", "", null, 7, []]) assert.strictEqual(errorOf(body).message, "status 400")
  })
})
