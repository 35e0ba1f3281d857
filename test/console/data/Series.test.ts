import { assert, describe, it } from "@effect/vitest"
import type { UsageBreakdownBucket } from "../../../src/client/Contract.ts"
import { spanOf, totalsIn } from "../../../src/console/data/Series.ts"

const HOUR = 3_600
const now = 100 * 24 * HOUR + 90 * 60

const bucket = (start: number, model: string, cost: number): UsageBreakdownBucket => ({
  object: "bucket",
  start_time: start,
  end_time: start + HOUR,
  model,
  requests: 1,
  prompt_tokens: 10,
  cached_tokens: 1,
  cache_creation_tokens: 2,
  completion_tokens: 5,
  reasoning_tokens: 4,
  cost_usd: cost
})

describe("usage in series", () => {
  it("ends a range with the bucket of now", () => {
    const span = spanOf("24h", now)
    assert.deepStrictEqual(span, { start: 99 * 24 * HOUR + 2 * HOUR, end: 100 * 24 * HOUR + 2 * HOUR, width: HOUR })
    assert.strictEqual(spanOf("30d", now).end - spanOf("30d", now).start, 30 * 24 * HOUR)
  })

  it("sums each bucket, counts cached tokens as the part of the prompt that they are, and leaves out what is outside the span", () => {
    const span = { start: 0, end: 3 * HOUR, width: HOUR }
    const buckets = [bucket(0, "a", 1), bucket(HOUR, "a", 2), bucket(HOUR, "b", 3), bucket(5 * HOUR, "a", 9)]
    assert.deepStrictEqual(totalsIn(buckets, span, "cost"), [1, 5, 0])
    assert.deepStrictEqual(totalsIn(buckets, span, "requests"), [1, 2, 0])
    assert.deepStrictEqual(totalsIn(buckets, span, "tokens"), [15, 30, 0])
  })
})
