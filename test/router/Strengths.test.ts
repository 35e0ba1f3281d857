import { assert, describe, it } from "@effect/vitest"
import { entries } from "../../src/catalogue/models.ts"
import { judgedModels, strengthOf } from "../../src/router/Strengths.ts"
import { TASKS } from "../../src/router/Task.ts"

describe("the strengths of models", () => {
  it("cover the catalogue's text models that the router may choose", () => {
    const choosable = new Map(entries.map((entry) => [entry.id, entry]))
    for (const id of judgedModels) {
      const entry = choosable.get(id)
      assert.deepStrictEqual([id, entry?.modality, entry?.status, entry?.virtual], [id, "text", "ga", false])
    }
  })

  it("are grades, one better or worse at some tasks", () => {
    assert.strictEqual(strengthOf("codestral-2508", "code"), strengthOf("codestral-2508", "math") + 1)
    assert.strictEqual(strengthOf("codestral-2508", "writing"), strengthOf("codestral-2508", "math") - 1)
    for (const id of judgedModels) {
      for (const task of TASKS) assert.isTrue(strengthOf(id, task) >= 0 && strengthOf(id, task) <= 6, `${id} ${task}`)
    }
  })

  it("are low for a model that is not listed", () => {
    for (const task of TASKS) assert.strictEqual(strengthOf("nobody-knows-me", task), 1)
  })
})
