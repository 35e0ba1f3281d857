import { assert, describe, it } from "@effect/vitest"
import { faultOfError, faultOfStatus } from "../../../src/providers/anthropic/Failure.ts"
import type { ProviderFault } from "../../../src/providers/ProviderError.ts"

const NOW = Date.parse("2026-03-01T12:00:00Z")

const why = (type: string, message = "why") => ({ type: "error", error: { type, message }, request_id: "req_1" })

const of = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  faultOfStatus({ status, headers, body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)) }, NOW)

const OUR_ACCOUNT = [
  "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
  "You have reached your specified API usage limits. You will regain access on 2026-04-01 at 00:00 UTC.",
  "This organization has been disabled."
]

describe("faultOfStatus", () => {
  const cases: ReadonlyArray<readonly [number, string, ProviderFault]> = [
    [400, "invalid_request_error", { _tag: "Refused", status: 400, detail: "why" }],
    [401, "authentication_error", { _tag: "Unauthorized", status: 401 }],
    [402, "billing_error", { _tag: "Unauthorized", status: 402 }],
    [403, "permission_error", { _tag: "Unauthorized", status: 403 }],
    [404, "not_found_error", { _tag: "Refused", status: 404, detail: "why" }],
    [409, "conflict_error", { _tag: "ServerError", status: 409, detail: "why" }],
    [413, "request_too_large", { _tag: "Refused", status: 413, detail: "why" }],
    [429, "rate_limit_error", { _tag: "RateLimited", retryAfterSeconds: undefined }],
    [500, "api_error", { _tag: "ServerError", status: 500, detail: "why" }],
    [504, "timeout_error", { _tag: "ServerError", status: 504, detail: "why" }],
    [529, "overloaded_error", { _tag: "ServerError", status: 529, detail: "why" }]
  ]
  for (const [status, type, fault] of cases) {
    it(`reads ${status} ${type} as ${fault._tag}`, () => assert.deepStrictEqual(of(status, why(type)), fault))
    it(`reads ${type} in a 200 answer as ${fault._tag}`, () =>
      assert.deepStrictEqual(faultOfError(why(type).error), fault))
  }

  for (const message of OUR_ACCOUNT) {
    it(`reads "${message.slice(0, 30)}" as a failure of the gateway's own account`, () => {
      const fault: ProviderFault = { _tag: "Unauthorized", status: 402 }
      assert.deepStrictEqual(of(400, why("invalid_request_error", message)), fault)
      assert.deepStrictEqual(faultOfError({ type: "invalid_request_error", message }), fault)
    })
  }

  it("does not mistake such words in the caller's own text for a failure of the account", () => {
    const message = `messages.0: unexpected "${OUR_ACCOUNT[0]}"`
    assert.strictEqual(of(400, why("invalid_request_error", message))._tag, "Refused")
  })

  it("reads the wait from retry-after", () => {
    assert.deepStrictEqual(of(429, why("rate_limit_error"), { "retry-after": "7" }), {
      _tag: "RateLimited",
      retryAfterSeconds: 7
    })
  })

  for (const [body, detail] of [
    [{ message: "bare" }, "bare"],
    ["<html>", "status 400"],
    ["", "status 400"],
    ["null", "status 400"],
    [{ error: "text" }, "status 400"],
    [{ error: { message: 1 } }, "status 400"]
  ] as const) {
    it(`reads the detail "${detail}" from ${JSON.stringify(body)}`, () => {
      assert.deepStrictEqual(of(400, body), { _tag: "Refused", status: 400, detail })
    })
  }
})

describe("faultOfError", () => {
  for (const [error, detail] of [
    [{ type: "something_new", message: "m" }, "m"],
    [{}, "status 500"],
    ["words", "words"]
  ] as const) {
    it(`reads ${JSON.stringify(error)} as a server error`, () =>
      assert.deepStrictEqual(faultOfError(error), { _tag: "ServerError", status: 500, detail }))
  }
})
