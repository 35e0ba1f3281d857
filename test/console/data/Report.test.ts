import { assert, describe, it } from "@effect/vitest"
import { csvOfReport, daysOf, rowGroupOf, seriesOf, splitOf } from "../../../src/console/data/Report.ts"

const row = (day: string, model: string, revenue: number, cost: number) => ({
  day,
  account_id: null,
  email: null,
  model,
  provider: null,
  requests: 1,
  revenue_usd: revenue,
  provider_cost_usd: cost,
  attempt_cost_usd: 0,
  margin_usd: revenue - cost,
  margin_basis_points: revenue === 0 ? null : Math.round(((revenue - cost) / revenue) * 10_000),
  uncosted_requests: 0,
  absorbed_usd: 0
})

describe("the operator's report", () => {
  it("has every day of a range, across months", () => {
    assert.deepStrictEqual(daysOf("2026-02-27", "2026-03-01"), ["2026-02-27", "2026-02-28", "2026-03-01"])
    assert.deepStrictEqual(daysOf("2026-03-02", "2026-03-01"), [])
  })

  it("stacks the largest groups by day and sums the others", () => {
    const days = ["2026-03-01", "2026-03-02"]
    const rows = [
      row("2026-03-01", "a", 4, 3),
      row("2026-03-02", "a", 1, 3),
      row("2026-03-01", "b", 3, 1),
      row("2026-03-02", "c", 2, 1),
      row("2026-02-01", "a", 100, 1)
    ]
    assert.deepStrictEqual(seriesOf(rows, days, "model", "revenue_usd", 1), [
      { name: "a", values: [4, 1], total: 5, isRest: false },
      { name: "other", values: [3, 2], total: 5, isRest: true }
    ])
    assert.deepStrictEqual(
      splitOf(rows, days).map(({ name, values }) => [name, values]),
      [
        ["Provider cost", [4, 4]],
        ["Margin", [3, -1]]
      ]
    )
    const wasted = { ...row("2026-03-01", "a", 4, 3), attempt_cost_usd: 0.5, margin_usd: 0.5 }
    assert.deepStrictEqual(
      splitOf([wasted], days).map(({ name, values }) => [name, values]),
      [
        ["Provider cost", [3, 0]],
        ["Failed attempts", [0.5, 0]],
        ["Margin", [0.5, 0]]
      ]
    )
    assert.deepStrictEqual(
      splitOf([], days).map(({ values }) => values),
      [
        [0, 0],
        [0, 0]
      ]
    )
    assert.strictEqual(rowGroupOf(row("2026-03-01", "a", 1, 1), "provider"), "no provider")
  })

  it("is exported as CSV with the columns that it is grouped by", () => {
    assert.deepStrictEqual(csvOfReport([row("2026-03-01", "a", 4, 3)], ["day", "model"]), [
      [
        ...["day", "model", "requests", "revenue_usd", "provider_cost_usd", "attempt_cost_usd"],
        ...["margin_usd", "margin_percent", "uncosted_requests", "absorbed_usd"]
      ],
      ["2026-03-01", "a", 1, 4, 3, 0, 1, 25, 0, 0]
    ])
  })
})
