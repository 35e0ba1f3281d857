import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { ErrorBody } from "../../../schemas/Errors.ts"
import { LegacyErrorBody } from "../../../schemas/LegacyErrors.ts"
import { encodeLegacyFailure } from "../../../src/dialects/legacy/LegacyFailure.ts"

const check = Schema.decodeUnknownSync(LegacyErrorBody, { onExcessProperty: "error" })
const id = "req_01ARZ3NDEKTSV4RRFFQ69G5FAV"

const bodyWith = (code: string, more: Partial<ErrorBody> = {}): ErrorBody => ({
  error: { message: "m", type: "t", code, param: null },
  ...more
})

describe("a legacy error", () => {
  it("repeats its message, its code and the request's id at the top level", () => {
    const body = bodyWith("validation_error", { details: [{ field: "a", message: "b" }] })
    assert.deepStrictEqual(check(encodeLegacyFailure(body, id)), {
      ...body,
      message: "m",
      code: "validation_error",
      request_id: id
    })
  })

  it("is flat when the account exceeds its rate limit", () => {
    assert.deepStrictEqual(check(encodeLegacyFailure(bodyWith("rate_limit_exceeded"), id)), {
      error: "rate_limit_exceeded",
      message: "m",
      code: "rate_limit_exceeded",
      request_id: id
    })
  })

  it("marks the rate limit of a provider", () => {
    const body = bodyWith("rate_limit_exceeded", { upstream_rate_limited: true })
    assert.deepStrictEqual(check(encodeLegacyFailure(body, id)), {
      error: "rate_limit_exceeded",
      message: "m",
      code: "rate_limit_exceeded",
      request_id: id,
      upstream_rate_limited: true
    })
  })

  it("keeps the id of another request's receipt", () => {
    const other = "req_00000000000000000000000000"
    const body = bodyWith("idempotency_result_unavailable", { request_id: other })
    assert.strictEqual(encodeLegacyFailure(body, id).request_id, other)
  })
})
