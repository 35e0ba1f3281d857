import { assert, describe, it } from "@effect/vitest"
import { RetryBudget } from "../../../src/providers/pool/RetryBudget.ts"

/** How many can be taken at this moment. */
const takenAt = (budget: RetryBudget, now: number) => {
  let taken = 0
  while (taken < 10_000 && budget.take(now)) taken++
  return taken
}

const requested = (budget: RetryBudget, times: number) => {
  for (let request = 0; request < times; request++) budget.requested()
}

describe("a budget of retries", () => {
  it("has ten in ten seconds, whatever the requests are", () => {
    const budget = new RetryBudget()
    assert.strictEqual(takenAt(budget, 0), 10)
    assert.strictEqual(takenAt(budget, 999), 0)
    assert.strictEqual(takenAt(budget, 2_000), 2)
    assert.strictEqual(takenAt(budget, 1_000_000), 10)
  })

  it("has a tenth of the requests beside them, of the last thousand", () => {
    const budget = new RetryBudget()
    requested(budget, 105)
    assert.strictEqual(takenAt(budget, 0), 20)
    requested(budget, 100_000)
    assert.strictEqual(takenAt(budget, 0), 100)
  })
})
