import { assert, describe, it } from "@effect/vitest"
import { faultOfError, faultOfStatus } from "../../../src/providers/gemini/Failure.ts"
import type { ProviderFault } from "../../../src/providers/ProviderError.ts"

const NOW = Date.parse("2026-03-01T12:00:00Z")

const of = (status: number, body: unknown = { error: { message: "why" } }, headers: Record<string, string> = {}) =>
  faultOfStatus({ status, headers, body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)) }, NOW)

const error = (code: number, status: string, message = "why", details: ReadonlyArray<unknown> = []) => ({
  error: { code, message, status, details }
})

const info = (reason: string) => ({ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason })
const retry = (retryDelay: unknown) => ({ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay })
const violation = { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaId: "PerMinute" }] }

describe("faultOfStatus", () => {
  const server = (status: number): ProviderFault => ({ _tag: "ServerError", status, detail: "why" })
  const refused = (status: number): ProviderFault => ({ _tag: "Refused", status, detail: "why" })
  const cases: ReadonlyArray<readonly [number, string, ProviderFault]> = [
    [400, "INVALID_ARGUMENT", refused(400)],
    [404, "NOT_FOUND", refused(404)],
    [413, "INVALID_ARGUMENT", refused(413)],
    [401, "UNAUTHENTICATED", { _tag: "Unauthorized", status: 401 }],
    [403, "PERMISSION_DENIED", { _tag: "Unauthorized", status: 403 }],
    [400, "FAILED_PRECONDITION", { _tag: "Unauthorized", status: 403 }],
    [429, "RESOURCE_EXHAUSTED", { _tag: "RateLimited", retryAfterSeconds: undefined }],
    [409, "ABORTED", server(409)],
    [499, "CANCELLED", server(503)],
    [500, "INTERNAL", server(500)],
    [503, "UNAVAILABLE", server(503)],
    [504, "DEADLINE_EXCEEDED", server(504)]
  ]
  for (const [status, name, fault] of cases) {
    it(`reads ${status} ${name} as ${fault._tag}`, () => assert.deepStrictEqual(of(status, error(status, name)), fault))
  }

  it("reads an invalid argument about the API key as Unauthorized", () => {
    const body = error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", [
      info("API_KEY_INVALID")
    ])
    assert.deepStrictEqual(of(400, body), { _tag: "Unauthorized", status: 401 })
    assert.deepStrictEqual(of(400, [body]), { _tag: "Unauthorized", status: 401 })
    assert.strictEqual(of(400, error(400, "INVALID_ARGUMENT", "why", [info("OTHER")]))._tag, "Refused")
  })

  it("reads a file that the caller may not access as refused, not as Unauthorized", () => {
    const message = "You do not have permission to access the File abc or it may not exist."
    const fault = { _tag: "Refused", status: 400, detail: message } as const
    assert.deepStrictEqual(of(403, error(403, "PERMISSION_DENIED", message)), fault)
  })

  it("reads an account without credit as a billing failure, but a zero quota as a rate limit", () => {
    const exhausted = (message: string) => of(429, error(429, "RESOURCE_EXHAUSTED", message))
    const spent = { _tag: "Unauthorized", status: 402 } as const
    assert.deepStrictEqual(exhausted("Your prepayment credits are depleted. Please go to AI Studio."), spent)
    assert.deepStrictEqual(exhausted("Your project has exceeded its monthly spending cap."), spent)
    assert.strictEqual(exhausted("You exceeded your current quota, limit: 0, check your plan.")._tag, "RateLimited")
  })

  const pauses: ReadonlyArray<readonly [string, ReadonlyArray<unknown>, Record<string, string>, number | undefined]> = [
    ["whole seconds", [violation, retry("17s")], {}, 17],
    ["fractional seconds, rounded up", [retry("34.074824224s")], {}, 35],
    ["less than one second", [retry("0.25s")], {}, 1],
    ["the header rather than the detail", [retry("17s")], { "retry-after": "3" }, 3],
    ["the header alone", [], { "retry-after": "3" }, 3],
    ["no detail", [violation], {}, undefined],
    ["no readable detail", [retry("soon"), retry(17), null], {}, undefined]
  ]
  for (const [name, details, headers, seconds] of pauses) {
    it(`reads the wait from ${name}`, () =>
      assert.deepStrictEqual(of(429, error(429, "RESOURCE_EXHAUSTED", "why", details), headers), {
        _tag: "RateLimited",
        retryAfterSeconds: seconds
      }))
  }

  for (const body of ["<html>", "", "[]", "{}", '{"error":"plain"}', '{"error":{"message":1}}']) {
    it(`uses "status 400" as the detail for ${JSON.stringify(body)}`, () =>
      assert.deepStrictEqual(of(400, body), { _tag: "Refused", status: 400, detail: "status 400" }))
  }
})

describe("faultOfError", () => {
  const cases: ReadonlyArray<readonly [unknown, ProviderFault]> = [
    [
      { code: 503, message: "overloaded", status: "UNAVAILABLE" },
      { _tag: "ServerError", status: 503, detail: "overloaded" }
    ],
    [
      { status: "UNAVAILABLE", message: "a" },
      { _tag: "ServerError", status: 503, detail: "a" }
    ],
    [
      { status: "INVALID_ARGUMENT", message: "a" },
      { _tag: "Refused", status: 400, detail: "a" }
    ],
    [{ status: "PERMISSION_DENIED" }, { _tag: "Unauthorized", status: 403 }],
    [
      { status: "RESOURCE_EXHAUSTED", details: [{ retryDelay: "2s" }] },
      { _tag: "RateLimited", retryAfterSeconds: 2 }
    ],
    [
      { code: 499, status: "CANCELLED", message: "a" },
      { _tag: "ServerError", status: 503, detail: "a" }
    ],
    [
      { code: 14, message: "a" },
      { _tag: "ServerError", status: 500, detail: "a" }
    ],
    ["broken", { _tag: "ServerError", status: 500, detail: "broken" }]
  ]
  for (const [value, fault] of cases) {
    it(`reads ${JSON.stringify(value)} as ${fault._tag}`, () => assert.deepStrictEqual(faultOfError(value), fault))
  }
})
