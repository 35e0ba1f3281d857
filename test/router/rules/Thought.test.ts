import { assert, describe, it } from "@effect/vitest"
import { code, math, reasoning } from "../../../src/router/rules/Thought.ts"
import type { TaskRule } from "../../../src/router/Task.ts"

const weight = (rules: ReadonlyArray<TaskRule>, text: string) =>
  rules.reduce((sum, one) => sum + (one.says.test(text) ? one.weight : 0), 0)

describe("rules for tasks with a right answer", () => {
  it("recognize code by its syntax when no word names it", () => {
    for (const text of ["const a = (b) => b + 1", "def f(x):\n  return x", "```\nx\n```", "int main() { free(p); }"]) {
      assert.isAtLeast(weight(code, text), 5, text)
    }
    assert.strictEqual(weight(code, "I react badly to rust on my swift new bicycle and go home"), 0)
  })

  it("recognize sums by their signs", () => {
    for (const text of ["17 * 4 = ?", "x^2 + 2x = 0", "what is 3 + 4"]) assert.isAtLeast(weight(math, text), 5, text)
    assert.strictEqual(weight(math, "Room 12 is free on 3 May from 10 to 11"), 0)
  })

  it("distinguish weighing up options from asking a question", () => {
    assert.isAtLeast(weight(reasoning, "Should we rent or buy? Give the pros and cons."), 5)
    assert.strictEqual(weight(reasoning, "Where is Lisbon?"), 0)
  })
})
