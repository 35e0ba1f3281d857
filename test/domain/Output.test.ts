import { assert, describe, it } from "@effect/vitest"
import { emptyOutput, eventsOf, isContent, isEmpty, type Output, OutputFold } from "../../src/domain/Output.ts"

const full: Output = {
  text: "Hello",
  reasoning: "Hm",
  refusal: "No",
  toolCalls: [
    { id: "a", name: "first", arguments: '{"x":1}' },
    { id: "b", name: "second", arguments: "" }
  ],
  logprobs: [{ token: "Hello" }],
  finish: "tool_calls",
  usage: { input: 1, cached: 2, cacheWrite: 3, output: 4, reasoning: 1 }
}

const fold = (output: Output) => {
  const folded = new OutputFold()
  for (const event of eventsOf(output)) folded.push(event)
  return folded.output()
}

describe("Output", () => {
  it("is the fold of its events", () => {
    assert.deepStrictEqual(fold(full), full)
    assert.deepStrictEqual(fold(emptyOutput), emptyOutput)
  })
  it("keeps parallel tool calls apart however their pieces come", () => {
    const folded = new OutputFold()
    folded.push({ _tag: "ToolStart", index: 0, id: "a", name: "first" })
    folded.push({ _tag: "ToolStart", index: 1, id: "b", name: "second" })
    folded.push({ _tag: "ToolDelta", index: 1, text: "{" })
    folded.push({ _tag: "ToolDelta", index: 0, text: "[" })
    folded.push({ _tag: "ToolDelta", index: 1, text: "}" })
    folded.push({ _tag: "ToolDelta", index: 7, text: "lost" })
    assert.deepStrictEqual(folded.output().toolCalls, [
      { id: "a", name: "first", arguments: "[" },
      { id: "b", name: "second", arguments: "{}" }
    ])
  })
  it("is empty without content, whatever its finish and usage", () => {
    assert.isTrue(isEmpty({ ...emptyOutput, finish: "stop", usage: full.usage }))
    for (const part of [{ text: "x" }, { reasoning: "x" }, { refusal: "x" }, { toolCalls: full.toolCalls }]) {
      assert.isFalse(isEmpty({ ...emptyOutput, ...part }))
    }
    assert.deepStrictEqual(
      eventsOf(full)
        .filter((event) => !isContent(event))
        .map((event) => event._tag),
      ["Finish", "Usage"]
    )
  })
})
