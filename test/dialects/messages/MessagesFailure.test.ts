import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { MessagesErrorBody } from "../../../schemas/MessagesErrors.ts"
import { encodeMessagesFailure } from "../../../src/dialects/messages/MessagesFailure.ts"
import { table } from "../../../src/http/FailureRows.ts"

const check = Schema.decodeUnknownSync(MessagesErrorBody, { onExcessProperty: "error" })
const id = "req_01ARZ3NDEKTSV4RRFFQ69G5FAV"

const errorWith = (type: string, code = "c") => ({ message: "m", type, code, param: null })

describe("an error in Anthropic's format", () => {
  /** Anthropic's error type for every status. */
  const words: Readonly<Record<number, string>> = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    408: "timeout_error",
    409: "invalid_request_error",
    413: "request_too_large",
    415: "invalid_request_error",
    422: "invalid_request_error",
    429: "rate_limit_error",
    500: "api_error",
    502: "api_error",
    503: "overloaded_error",
    504: "timeout_error"
  }

  it("has Anthropic's type and the gateway's code for every failure", () => {
    for (const { code, status, type } of Object.values(table)) {
      const body = check(encodeMessagesFailure({ error: errorWith(type, code) }, id))
      assert.deepStrictEqual([body.type, body.error.type, body.error.code], ["error", words[status], code])
    }
  })

  it("keeps top-level fields, and the id of another request's receipt", () => {
    const details = [{ field: "a", message: "b" }]
    const error = errorWith("invalid_request_error")
    assert.deepStrictEqual(check(encodeMessagesFailure({ error, details }, id)), {
      type: "error",
      error: { ...error, type: "invalid_request_error" },
      request_id: id,
      details
    })
    const other = "req_00000000000000000000000000"
    assert.strictEqual(encodeMessagesFailure({ error, request_id: other }, id).request_id, other)
    assert.strictEqual(encodeMessagesFailure({ error, limit_source: "balance" }, id).limit_source, "balance")
  })

  it("tells Anthropic's clients to continue without a thread", () => {
    const error = (param: string) =>
      check(
        encodeMessagesFailure({ error: { ...errorWith("invalid_request_error", "unsupported_parameter"), param } }, id)
      ).error
    assert.deepStrictEqual(error("thread").details, {
      error_code: "thread_unsupported_request",
      unsupported: ["thread"]
    })
    assert.notProperty(error("container"), "details")
  })

  it("names both ways to send a key when the request has none", () => {
    const { error } = encodeMessagesFailure({ error: errorWith("authentication_error", "missing_api_key") }, id)
    assert.match(error.message, /`x-api-key: .*`Authorization: Bearer /)
  })
})
