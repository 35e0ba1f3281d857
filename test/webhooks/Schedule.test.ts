import { assert, describe, it } from "@effect/vitest"
import { DELAYS_MS, isDelivered, verdictOf } from "../../src/webhooks/Schedule.ts"
import { RETRY_AFTER_NOW, retryAfters } from "../support/RetryAfters.ts"

const SECOND = 1_000
const HOUR = 3_600 * SECOND

const verdict = (step: number, status: number | undefined, retryAfter?: string, random = 0) =>
  verdictOf(step, { status, retryAfter }, RETRY_AFTER_NOW, random)

const retry = (afterMs: number) => ({ _tag: "Retry", afterMs }) as const

describe("the schedule", () => {
  it("is that of Standard Webhooks", () => {
    const hours = [2, 5, 10, 14, 20, 24].map((count) => count * HOUR)
    assert.deepStrictEqual(DELAYS_MS, [0, 5 * SECOND, 300 * SECOND, 1_800 * SECOND, ...hours])
    const waits: Array<number> = []
    for (let step = 0; ; step++) {
      const next = verdict(step, 500)
      if (next._tag !== "Retry") {
        assert.deepStrictEqual([next._tag, step], ["Failed", DELAYS_MS.length - 1])
        break
      }
      waits.push(next.afterMs)
    }
    assert.deepStrictEqual(waits, DELAYS_MS.slice(1))
  })

  it("adds up to a tenth, so that simultaneous failures are retried at different times", () => {
    assert.deepStrictEqual(verdict(0, 500, undefined, 1), retry(5_500))
    assert.deepStrictEqual(verdict(8, undefined, undefined, 0.5), retry(24 * HOUR * 1.05))
  })

  it("treats every 2xx status as success, and no other", () => {
    for (const code of [200, 201, 202, 204, 299]) assert.deepStrictEqual(verdict(3, code), { _tag: "Delivered" })
    for (const code of [301, 302, 304, 307, 308, 400, 401, 404, 429, 500, 503, undefined]) {
      assert.strictEqual(verdict(3, code)._tag, "Retry", String(code))
      assert.isFalse(isDelivered(code))
    }
    assert.deepStrictEqual(verdict(0, 410), { _tag: "Gone" })
    assert.deepStrictEqual(verdict(DELAYS_MS.length - 1, 410), { _tag: "Gone" })
  })

  it("waits as long as an overloaded receiver asks, and never less than the schedule", () => {
    assert.deepStrictEqual(verdict(0, 429, "60"), retry(60_000))
    assert.deepStrictEqual(verdict(0, 503, "60"), retry(60_000))
    assert.deepStrictEqual(verdict(0, 429, "1"), retry(5_000))
    assert.deepStrictEqual(verdict(0, 500, "60"), retry(5_000))
    assert.deepStrictEqual(verdict(0, 429, "tomorrow"), retry(5_000))
    assert.deepStrictEqual(verdict(0, 429, "99999999999"), retry(24 * HOUR))
    assert.strictEqual(verdict(DELAYS_MS.length - 1, 429, "60")._tag, "Failed")
  })

  it("reads a Retry-After as seconds or as a moment, at most a day ahead", () => {
    for (const [header, ms = 0] of retryAfters) {
      const expected = Math.min(Math.max(5 * SECOND, ms), 24 * HOUR)
      assert.deepStrictEqual(verdict(0, 429, header), retry(expected), header)
    }
  })
})
