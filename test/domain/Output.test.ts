import { assert, describe, it } from "@effect/vitest"
import {
  emptyOutput,
  eventsOf,
  isContent,
  isEmpty,
  type Output,
  type OutputEvent,
  OutputFold
} from "../../src/domain/Output.ts"
import { Random, seeds } from "../ledger/Random.ts"

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
  it("equals the fold of its events", () => {
    assert.deepStrictEqual(fold(full), full)
    assert.deepStrictEqual(fold(emptyOutput), emptyOutput)
  })
  it("keeps the order of its events when it differs from the usual one", () => {
    for (const seed of seeds(200)) {
      const random = new Random(seed)
      const pushed: Array<OutputEvent> = []
      let calls = 0
      for (let left = random.below(9); left > 0; left--) {
        const said = random.pick(["Text", "Reasoning", "Refusal", "Tool"] as const)
        if (said === "Tool") {
          const index = calls++
          pushed.push(
            { _tag: "ToolStart", index, id: `c${index}`, name: "n" },
            { _tag: "ToolDelta", index, text: "{}" }
          )
        } else if (pushed.at(-1)?._tag !== said) pushed.push({ _tag: said, text: `${left}`.repeat(left) })
      }
      const folded = new OutputFold()
      for (const event of pushed) folded.push(event)
      const output = folded.output()
      assert.deepStrictEqual(eventsOf(output), pushed, `seed ${seed}`)
      assert.deepStrictEqual(fold(output), output, `seed ${seed}`)
      const kinds = ["Reasoning", "Text", "Refusal", "ToolStart"]
      const at = pushed.map(({ _tag }) => kinds.indexOf(_tag)).filter((kind) => kind >= 0)
      const usual = at.every((kind, index) => index === 0 || kind >= at[index - 1]!)
      assert.strictEqual(output.order === undefined, usual, `seed ${seed}`)
    }
  })
  it("separates parallel tool calls in whatever order their pieces arrive", () => {
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
  it("is empty without content, whatever its finish reason and usage", () => {
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
  it("has no usage from prompt usage alone", () => {
    const prompt: OutputEvent = { _tag: "PromptUsage", usage: { input: 1, cached: 2, cacheWrite: 3 } }
    assert.isFalse(isContent(prompt))
    const folded = new OutputFold()
    folded.push(prompt)
    assert.deepStrictEqual(folded.output(), emptyOutput)
  })
})
