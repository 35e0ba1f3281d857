import { assert, describe, it } from "@effect/vitest"
import { rule, TASKS } from "../../src/router/Task.ts"
import { taskRules } from "../../src/router/TaskRules.ts"

describe("tasks", () => {
  it("have unique names, and the last one covers the rest", () => {
    assert.strictEqual(new Set(TASKS).size, TASKS.length)
    assert.strictEqual(TASKS.at(-1), "general")
  })

  it("have rules, except those that words do not determine", () => {
    const without = TASKS.filter((task) => taskRules.every((one) => one.task !== task))
    assert.deepStrictEqual(without, ["vision", "tool_use"])
  })

  it("have rules that keep no state between two texts", () => {
    for (const { says } of taskRules) assert.isFalse(says.global || says.sticky, String(says))
    assert.deepStrictEqual(rule("math", 2, "text", /=/), { task: "math", weight: 2, in: "text", says: /=/ })
  })
})
