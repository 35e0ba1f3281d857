import { assert, describe, it } from "@effect/vitest"
import { MAX_BODY_BYTES } from "../../../src/http/edge/Body.ts"
import { BODY_BUDGET_BYTES, BodyBudget } from "../../../src/http/edge/BodyBudget.ts"

describe("the budget of bodies", () => {
  it("grants the whole budget and no more", () => {
    const budget = new BodyBudget(10)
    assert.deepStrictEqual(
      [budget.take(4), budget.take(7), budget.take(6), budget.take(1), budget.take(0)],
      [true, false, true, false, true]
    )
    assert.strictEqual(budget.used, 10)
    budget.give(6)
    assert.deepStrictEqual([budget.has(7), budget.has(6)], [false, true])
    assert.deepStrictEqual([budget.take(7), budget.take(6), budget.used], [false, true, 10])
  })

  it("fits several of the largest bodies", () => assert.isAtLeast(BODY_BUDGET_BYTES, 4 * MAX_BODY_BYTES))
})
