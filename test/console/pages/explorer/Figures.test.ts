import { assert, describe, it } from "@effect/vitest"
import type { UsageSeriesReport } from "../../../../src/client/Contract.ts"
import { csvRowsOf, groupNameOf, showFigure } from "../../../../src/console/pages/explorer/Figures.ts"

const totals = {
  requests: 3,
  failed_requests: 1,
  prompt_tokens: 20,
  completion_tokens: 9,
  cost_usd: 0.5,
  latency_ms: 120.5
}
const values = {
  requests: [1, 2],
  failed_requests: [0, 1],
  prompt_tokens: [8, 12],
  completion_tokens: [4, 5],
  cost_usd: [0.2, 0.3],
  latency_ms: [120.5, null]
}
const report: UsageSeriesReport = {
  object: "usage_series",
  start_time: 0,
  end_time: 7_200,
  interval: "hour",
  group_by: "model",
  buckets: [0, 3_600],
  totals,
  groups: 4,
  data: [
    { object: "series", group: "a", is_rest: false, totals, values },
    { object: "series", group: null, is_rest: true, totals, values }
  ]
}
const nameOf = (group: string | null | undefined) => `the ${group}`

describe("the explorer's figures", () => {
  it("name the groups, and count those in the rest", () => {
    assert.deepStrictEqual(
      report.data.map((one) => groupNameOf(one, report, nameOf)),
      ["the a", "3 others"]
    )
    assert.strictEqual(groupNameOf(report.data[1]!, { ...report, groups: 2 }, nameOf), "1 other")
    assert.strictEqual(groupNameOf(report.data[0]!, { ...report, group_by: null }, nameOf), "Everything")
  })

  it("become CSV with a row for each series and bucket", () => {
    const [head, first, second] = csvRowsOf(report, nameOf)
    assert.deepStrictEqual(head?.slice(0, 3), ["start (UTC, per hour)", "model", "id"])
    assert.deepStrictEqual(first, ["1970-01-01T00:00:00.000Z", "the a", "a", 1, 0, 8, 4, 0.2, 120.5])
    assert.deepStrictEqual(second?.slice(-2), [0.3, null])
    assert.lengthOf(csvRowsOf(report, nameOf), 5)
  })

  it("are shown as money, counts and durations", () => {
    assert.deepStrictEqual(
      [showFigure("cost_usd", 0.0001234), showFigure("requests", 1_200), showFigure("latency_ms", 1_500)],
      ["$0.0001234", "1,200", "1.50 s"]
    )
  })
})
