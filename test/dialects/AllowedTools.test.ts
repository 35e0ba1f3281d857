import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { allowTools } from "../../src/dialects/AllowedTools.ts"
import type { Tool } from "../../src/domain/Conversation.ts"

const tool = (name: string): Tool => ({ name, description: undefined, parameters: undefined, strict: undefined })
const tools = [tool("a"), tool("b"), tool("c")]

const problemOf = (names: ReadonlyArray<string>) => {
  const allowed = allowTools(tools, names, "tool_choice.tools")
  const reason = Result.isFailure(allowed) ? allowed.failure.reason : undefined
  return reason?._tag === "ValidationError" ? reason.problems[0] : undefined
}

describe("allowed tools", () => {
  it("are the named tools, in the order of `tools`, each once", () => {
    const allowed = allowTools(tools, ["c", "a", "c"], "tool_choice.tools")
    assert.deepStrictEqual(Result.getOrThrow(allowed), [tools[0]!, tools[2]!])
  })

  it("must be declared tools, and at least one", () => {
    assert.deepStrictEqual(problemOf(["b", "d", "e"]), {
      field: "tool_choice.tools[1]",
      message: "must name a declared tool; got d"
    })
    assert.deepStrictEqual(problemOf([]), { field: "tool_choice.tools", message: "must name at least one tool" })
  })
})
