import { assert, describe, it } from "@effect/vitest"
import { PromptReports } from "../../../src/providers/wire/PromptReports.ts"

describe("prompt usage", () => {
  it("is emitted once, and again after a change", () => {
    const prompt = new PromptReports()
    const told = (input: number, cached: number, cacheWrite: number, output: number) =>
      prompt.by({ input, cached, cacheWrite, output, reasoning: 0 })
    const event = (input: number, cached: number, cacheWrite: number) => [
      { _tag: "PromptUsage", usage: { input, cached, cacheWrite } }
    ]
    assert.deepStrictEqual<unknown>(told(9, 0, 0, 0), event(9, 0, 0))
    assert.deepStrictEqual(told(9, 0, 0, 5), [])
    assert.deepStrictEqual<unknown>(told(5, 4, 0, 6), event(5, 4, 0))
    assert.deepStrictEqual<unknown>(told(5, 4, 1, 6), event(5, 4, 1))
    assert.deepStrictEqual(told(5, 4, 1, 7), [])
  })
})
