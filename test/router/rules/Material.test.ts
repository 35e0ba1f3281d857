import { assert, describe, it } from "@effect/vitest"
import { data, extraction, summarisation, translation } from "../../../src/router/rules/Material.ts"
import type { TaskRule } from "../../../src/router/Task.ts"

const weight = (rules: ReadonlyArray<TaskRule>, text: string) =>
  rules.reduce((sum, one) => sum + (one.says.test(text) ? one.weight : 0), 0)

describe("rules for tasks on given material", () => {
  it("distinguish a target language from a language as a topic", () => {
    for (const text of ["How do I say thanks in Finnish?", "German to Thai: good night", "the Polish word for bread"]) {
      assert.isAtLeast(weight(translation, text), 5, text)
    }
    for (const text of ["Who was the first English king?", "Plan a French dinner", "Why is Latin a dead language?"]) {
      assert.strictEqual(weight(translation, text), 0, text)
    }
  })

  it("recognize an SQL statement and a table by their form", () => {
    for (const text of ["select a from b where c = 1", "How do I join two tables in SQL?"]) {
      assert.isAtLeast(weight(data, text), 5, text)
    }
    assert.isAbove(weight(data, "name,age\nAnn,31"), 0)
    assert.strictEqual(weight(data, "Please select a present from my list"), 0)
  })

  it("distinguish extraction from summarization", () => {
    const [list, gist] = ["Extract all dates from this letter", "Sum up this letter"]
    assert.deepStrictEqual([weight(extraction, list) > 0, weight(summarisation, list) > 0], [true, false])
    assert.deepStrictEqual([weight(extraction, gist) > 0, weight(summarisation, gist) > 0], [false, true])
  })
})
