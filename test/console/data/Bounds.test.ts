import { assert, describe, it } from "@effect/vitest"
import type { ReportRow } from "../../../src/client/Contract.ts"
import { boundsOf } from "../../../src/console/data/Bounds.ts"

const row = (provider: string | null, cost: number): ReportRow => ({
  day: null,
  account_id: null,
  email: null,
  model: null,
  provider,
  requests: 1,
  revenue_usd: 0,
  provider_cost_usd: cost,
  attempt_cost_usd: 0,
  margin_usd: -cost,
  margin_basis_points: null,
  uncosted_requests: 0,
  absorbed_usd: 0
})

const bound = (provider: string, limit_usd: number, settled_usd: number) =>
  ({ object: "provider_spend", provider, limit_usd, settled_usd, reserved_usd: 0.5 }) as const

describe("the bounds of providers", () => {
  it("are listed beside the cost of each available provider: all together first, then by cost, bound and name", () => {
    const spend = [bound("all", 100, 0), bound("quiet", 5, 0), bound("dear", 50, 3)]
    const providers = ["new", "cheap", "dear", "idle"]
    const rows = boundsOf(
      { data: spend, providers },
      [row("dear", 2), row("cheap", 1)],
      [row("cheap", 9), row("dear", 20), row(null, 0)]
    )
    assert.deepStrictEqual(
      rows.map(({ cost, cost30, limit, provider }) => [provider, limit, cost, cost30]),
      [
        ["all", 100, 3, 29],
        ["dear", 50, 3, 20],
        ["cheap", undefined, 1, 9],
        ["quiet", 5, 0, 0],
        ["idle", undefined, 0, 0],
        ["new", undefined, 0, 0]
      ]
    )
  })
})
