import { assert, describe, it } from "@effect/vitest"
import { byRules, labelOf } from "../../src/inference/Classify.ts"
import { asked } from "../support/Conversations.ts"

// journeys/AutoRouter.test.ts tests that the gateway calls a classifier model and uses its answer.
describe("a label", () => {
  it("is accepted only when it is exactly one of the list", () => {
    assert.strictEqual(labelOf("math"), "math")
    assert.strictEqual(labelOf(" Question_Answering\n"), "question_answering")
    for (const answer of ["", "maths", "math.", "The label is math", "math code", "vision", "tool_use", "__proto__"]) {
      assert.isUndefined(labelOf(answer), answer)
    }
  })

  it("comes from the rules first", () => {
    const { by, classification } = byRules(asked("What is 17 * 23?"))
    assert.deepStrictEqual([by, classification.task], ["regex", "math"])
  })
})
