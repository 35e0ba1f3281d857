import { assert, describe, it } from "@effect/vitest"
import { isRetryable, retryAfterMs, waitOf } from "../../src/client/Retry.ts"
import { RETRY_AFTER_NOW, retryAfters } from "../support/RetryAfters.ts"

const head = (status: number, headers: Readonly<Record<string, string>> = {}) => ({
  status,
  header: (name: string) => headers[name]
})

describe("a retry", () => {
  it("depends on X-Should-Retry, and without it on the status", () => {
    for (const status of [408, 409, 425, 429, 500, 502, 503, 504]) assert.isTrue(isRetryable(head(status)), `${status}`)
    for (const status of [400, 401, 402, 403, 404, 422, 501]) assert.isFalse(isRetryable(head(status)), `${status}`)
    assert.isTrue(isRetryable(head(400, { "x-should-retry": "true" })))
    assert.isFalse(isRetryable(head(503, { "x-should-retry": "false" })))
  })

  it("reads a Retry-After by the gateway's rule", () => {
    for (const [header, ms] of retryAfters) assert.strictEqual(retryAfterMs(header, RETRY_AFTER_NOW), ms, header)
  })

  it("waits as long as Retry-After asks, up to a minute, and otherwise longer each time, up to 8 seconds", () => {
    assert.strictEqual(waitOf(head(429, { "retry-after": "7" }), 0), 7_000)
    assert.strictEqual(waitOf(head(429, { "retry-after": "1.5" }), 0), 1_500)
    const soon = waitOf(head(429, { "retry-after": new Date(Date.now() + 20_000).toUTCString() }), 0)
    assert.isTrue(soon !== undefined && soon > 18_000 && soon <= 20_000)
    assert.isUndefined(waitOf(head(429, { "retry-after": "61" }), 0))
    for (const [attempt, most] of [
      [0, 500],
      [1, 1_000],
      [4, 8_000],
      [20, 8_000]
    ] as const) {
      const wait = waitOf(undefined, attempt) ?? 0
      assert.isAtLeast(wait, most * 0.75)
      assert.isAtMost(wait, most)
    }
  })
})
