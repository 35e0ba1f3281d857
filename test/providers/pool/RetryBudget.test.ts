import { assert, describe, it } from "@effect/vitest"
import { RetryBudget } from "../../../src/providers/pool/RetryBudget.ts"

/** How many retries the budget grants at this time. */
const takenAt = (budget: RetryBudget, now: number) => {
  let taken = 0
  while (taken < 10_000 && budget.take(now)) taken++
  return taken
}

const requested = (budget: RetryBudget, times: number) => {
  for (let request = 0; request < times; request++) budget.requested()
}

describe("a retry budget", () => {
  it("grants ten retries in ten seconds without any requests", () => {
    const budget = new RetryBudget()
    assert.strictEqual(takenAt(budget, 0), 10)
    assert.strictEqual(takenAt(budget, 999), 0)
    assert.strictEqual(takenAt(budget, 2_000), 2)
    assert.strictEqual(takenAt(budget, 1_000_000), 10)
  })

  it("grants one more retry for every ten of the last thousand requests", () => {
    const budget = new RetryBudget()
    requested(budget, 105)
    assert.strictEqual(takenAt(budget, 0), 20)
    requested(budget, 100_000)
    assert.strictEqual(takenAt(budget, 0), 100)
  })
})
