import { assert, describe, it } from "@effect/vitest"
import { groupSpendOf } from "../../../src/console/data/GroupSpend.ts"

const totals = {
  requests: 4,
  failed_requests: 1,
  prompt_tokens: 0,
  completion_tokens: 0,
  cost_usd: 3,
  latency_ms: null
}
const values = { requests: [1, 3], failed_requests: [0, 1], prompt_tokens: [], completion_tokens: [], latency_ms: [] }
const series = (group: string | null, is_rest = false) => ({
  object: "series" as const,
  group,
  is_rest,
  totals,
  values: { ...values, cost_usd: [1, 2] }
})

describe("the spend of a key", () => {
  it("equals the spend of its series", () =>
    assert.deepStrictEqual(groupSpendOf({ data: [series("a")] }, "a"), {
      cost: 3,
      requests: 4,
      failed: 1,
      costs: [1, 2]
    }))

  it("is zero without a series, and undefined when the rest may include it", () => {
    assert.deepInclude(groupSpendOf({ data: [series("a")] }, "b"), { cost: 0, requests: 0 })
    assert.isUndefined(groupSpendOf({ data: [series("a"), series(null, true)] }, "b"))
  })
})
