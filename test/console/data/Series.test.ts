import { assert, describe, it } from "@effect/vitest"
import type { UsageBreakdownBucket } from "../../../src/client/Contract.ts"
import { rowsOf, seriesOf, spanBefore, spanOf, totalsIn } from "../../../src/console/data/Series.ts"

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
  it("ends a range with the bucket of now, and compares with the equal range before", () => {
    const span = spanOf("24h", now)
    assert.deepStrictEqual(span, { start: 99 * 24 * HOUR + 2 * HOUR, end: 100 * 24 * HOUR + 2 * HOUR, width: HOUR })
    assert.deepStrictEqual(spanBefore(span), { start: span.start - 24 * HOUR, end: span.start, width: HOUR })
    assert.strictEqual(spanOf("30d", now).end - spanOf("30d", now).start, 30 * 24 * HOUR)
  })

  it("sums each bucket, counts every kind of token once, and leaves out what is outside the span", () => {
    const span = { start: 0, end: 3 * HOUR, width: HOUR }
    const buckets = [bucket(0, "a", 1), bucket(HOUR, "a", 2), bucket(HOUR, "b", 3), bucket(5 * HOUR, "a", 9)]
    assert.deepStrictEqual(totalsIn(buckets, span, "cost"), [1, 5, 0])
    assert.deepStrictEqual(totalsIn(buckets, span, "requests"), [1, 2, 0])
    assert.deepStrictEqual(totalsIn(buckets, span, "tokens"), [18, 36, 0])
  })

  it("keeps the largest groups and puts the rest into one, whose sum is that of the rest", () => {
    const span = { start: 0, end: 2 * HOUR, width: HOUR }
    const buckets = ["a", "b", "c", "d"].map((model, at) => bucket((at % 2) * HOUR, model, at + 1))
    const series = seriesOf(buckets, span, { by: "model", metric: "cost", most: 3 })
    assert.deepStrictEqual(series, [
      { group: "d", values: [0, 4], total: 4 },
      { group: "c", values: [3, 0], total: 3 },
      { group: undefined, values: [1, 2], total: 3 }
    ])
  })

  it("lists groups by their cost, the dearest first, with null for what has no group", () => {
    const rows = rowsOf([bucket(0, "a", 1), bucket(HOUR, "b", 3), bucket(HOUR, "a", 1)], "model")
    assert.deepStrictEqual(
      rows.map(({ cost, group, requests }) => [group, cost, requests]),
      [
        ["b", 3, 1],
        ["a", 2, 2]
      ]
    )
    assert.deepStrictEqual(
      rowsOf([{ ...bucket(0, "a", 1), project_id: null }], "project").map(({ group }) => group),
      [null]
    )
  })
})
