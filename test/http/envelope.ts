/** What every error answer must be, whatever went wrong. */
import { assert } from "@effect/vitest"
import { Schema } from "effect"
import { ErrorBody } from "../../schemas/Errors.ts"
import type { Got } from "./wire.ts"

const decode = Schema.decodeUnknownSync(ErrorBody, { onExcessProperty: "error" })

const whole = /^\d+$/

/** The headers that every response has, an answer as much as an error. */
export const assertCommonHeaders = (headers: Got["headers"], name: string): void => {
  assert.match(headers["x-request-id"] ?? "", /^req_[0-9A-HJKMNP-TV-Z]{26}$/, name)
  for (const header of ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]) {
    assert.match(headers[header] ?? "", whole, `${name}: ${header}`)
  }
  assert.match(headers["ratelimit"] ?? "", /^"[a-z_]+";r=\d+;t=\d+$/, name)
  assert.match(headers["ratelimit-policy"] ?? "", /^"[a-z_]+";q=\d+;w=60$/, name)
}

/** Checks the envelope and the headers of an error answer, and gives its body. */
export const assertEnvelope = ({ headers, status, text }: Got, name: string): ErrorBody => {
  assert.match(headers["content-type"] ?? "", /^application\/json\b/, name)
  const json = JSON.parse(text)
  const body = decode(json)
  assert.hasAllKeys(json.error, ["message", "type", "code", "param"], name)
  assert.notStrictEqual(body.error.message, "", name)
  assertCommonHeaders(headers, name)
  // Clients try again on their own when it says so, which is of use only where waiting helps.
  const passing = status === 408 || status === 429 || status >= 500 || body.limit_source === "in_flight"
  const inProgress = body.error.code === "idempotency_request_in_progress"
  const asked = body.error.code === "no_provider_available"
  assert.strictEqual(headers["x-should-retry"], String((passing && !asked) || inProgress), name)
  if (body.error.code === "validation_error") {
    assert.isNotEmpty(body.details ?? [], name)
    assert.strictEqual(body.error.param, body.details?.[0]?.field, name)
  } else {
    assert.isUndefined(body.details, name)
  }
  return body
}
