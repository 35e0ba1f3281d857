import { assert, describe, it } from "@effect/vitest"
import { faultIn, faultOfError, faultOfStatus } from "../../../src/providers/openai/Failure.ts"
import type { ProviderFault } from "../../../src/providers/ProviderError.ts"

const NOW = Date.parse("2026-03-01T12:00:00Z")

const of = (status: number, body: unknown = { error: { message: "why" } }, headers: Record<string, string> = {}) =>
  faultOfStatus({ status, headers, body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)) }, NOW)

describe("faultOfStatus", () => {
  const cases: ReadonlyArray<readonly [number, ProviderFault]> = [
    ...[400, 404, 405, 413, 415, 422, 451].map(
      (status) => [status, { _tag: "Refused", status, detail: "why" }] as const
    ),
    ...[401, 402, 403].map((status) => [status, { _tag: "Unauthorized", status }] as const),
    ...[302, 408, 409, 423, 425, 500, 502, 503, 504, 529].map(
      (status) => [status, { _tag: "ServerError", status, detail: "why" }] as const
    ),
    [429, { _tag: "RateLimited", retryAfterSeconds: undefined }]
  ]
  for (const [status, fault] of cases) {
    it(`reads ${status} as ${fault._tag}`, () => assert.deepStrictEqual(of(status), fault))
  }

  it("reads an exhausted quota as a billing failure, not as a rate limit", () => {
    assert.deepStrictEqual(of(429, { error: { code: "insufficient_quota" } }), { _tag: "Unauthorized", status: 402 })
  })

  it("reads billing limits and inactive accounts as the gateway's billing failure, not as a fault of the request", () => {
    const unpaid: ProviderFault = { _tag: "Unauthorized", status: 402 }
    const limit = { message: "Billing hard limit has been reached", type: "invalid_request_error" }
    assert.deepStrictEqual(of(400, { error: { ...limit, code: "billing_hard_limit_reached" } }), unpaid)
    assert.deepStrictEqual(faultOfError({ ...limit, code: "billing_hard_limit_reached" }), unpaid)
    assert.deepStrictEqual(of(429, { error: { type: "billing_not_active", code: null } }), unpaid)
    assert.deepStrictEqual(of(429, { error: { type: "exceeded_current_quota_error", message: "m" } }), unpaid)
    assert.deepStrictEqual(of(429, { error: { code: "1113", message: "m" } }), unpaid)
    assert.deepStrictEqual(of(400, { error: { code: "Arrearage", type: "Arrearage", message: "m" } }), unpaid)
    const restricted = { message: "m", type: "invalid_request_error", code: "organization_restricted" }
    assert.deepStrictEqual(of(400, { error: restricted }), unpaid)
  })

  const details: ReadonlyArray<readonly [unknown, string]> = [
    [{ error: "plain" }, "plain"],
    [{ message: "bare" }, "bare"],
    [{ detail: "other" }, "other"],
    [[{ error: { message: "listed" } }], "listed"],
    ["<html>", "status 400"],
    ["", "status 400"],
    [{ error: { message: 1 } }, "status 400"]
  ]
  for (const [body, detail] of details) {
    it(`reads the detail "${detail.slice(0, 20)}" from ${JSON.stringify(body).slice(0, 40)}`, () => {
      assert.deepStrictEqual(of(400, body), { _tag: "Refused", status: 400, detail })
    })
  }
})

describe("faultIn", () => {
  const refused: ProviderFault = { _tag: "Refused", status: 400, detail: "m" }
  const cases: ReadonlyArray<readonly [number, ProviderFault]> = [
    [1002, { _tag: "RateLimited", retryAfterSeconds: undefined }],
    [1004, { _tag: "Unauthorized", status: 401 }],
    [1008, { _tag: "Unauthorized", status: 402 }],
    [1024, { _tag: "ServerError", status: 500, detail: "m" }],
    [1026, { ...refused, about: "policy" }],
    [1027, { ...refused, about: "policy" }],
    [1041, { _tag: "RateLimited", retryAfterSeconds: undefined }],
    [1042, refused],
    [2013, refused],
    [2045, { _tag: "RateLimited", retryAfterSeconds: undefined }],
    [2049, { _tag: "Unauthorized", status: 401 }],
    [2056, { _tag: "RateLimited", retryAfterSeconds: undefined }]
  ]
  for (const [code, fault] of cases) {
    it(`reads MiniMax's code ${code} as ${fault._tag}`, () => {
      assert.deepStrictEqual(faultIn({ choices: null, base_resp: { status_code: code, status_msg: "m" } }), fault)
    })
  }

  it("reads MiniMax's code 0 as an answer", () => {
    assert.isUndefined(faultIn({ choices: [], base_resp: { status_code: 0, status_msg: "" } }))
  })
})

describe("faultOfError", () => {
  const cases: ReadonlyArray<readonly [unknown, ProviderFault]> = [
    [
      { message: "m", code: 429 },
      { _tag: "RateLimited", retryAfterSeconds: undefined }
    ],
    [
      { message: "m", code: "503" },
      { _tag: "ServerError", status: 503, detail: "m" }
    ],
    [
      { message: "m", type: "invalid_request_error" },
      { _tag: "Refused", status: 400, detail: "m" }
    ],
    [
      { message: "m", code: "context_length_exceeded" },
      { _tag: "Refused", status: 400, detail: "m", about: "context" }
    ],
    [
      { message: "m", type: "invalid_request_error", param: "messages[0].role" },
      { _tag: "Refused", status: 400, detail: "m", param: "messages[0].role" }
    ],
    [
      { message: "m", code: "rate_limit_exceeded" },
      { _tag: "RateLimited", retryAfterSeconds: undefined }
    ],
    [
      { message: "m", type: "authentication_error" },
      { _tag: "Unauthorized", status: 401 }
    ],
    [
      { message: "m", type: "insufficient_quota" },
      { _tag: "Unauthorized", status: 402 }
    ],
    [
      { message: "m", type: "server_error" },
      { _tag: "ServerError", status: 500, detail: "m" }
    ],
    ["words", { _tag: "ServerError", status: 500, detail: "words" }]
  ]
  for (const [error, fault] of cases) {
    it(`reads ${JSON.stringify(error)} as ${fault._tag}`, () => assert.deepStrictEqual(faultOfError(error), fault))
  }
})
