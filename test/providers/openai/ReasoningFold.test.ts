import { assert, describe, it } from "@effect/vitest"
import type { OutputEvent } from "../../../src/domain/Output.ts"
import type { ReadOptions } from "../../../src/providers/openai/ChatDecode.ts"
import { ReasoningFold } from "../../../src/providers/openai/ReasoningFold.ts"

const reasoning = (text: string): OutputEvent => ({ _tag: "Reasoning", text })
const end = (data: Readonly<Record<string, unknown>>): OutputEvent => ({ _tag: "ReasoningEnd", data })
const text = (words: string): OutputEvent => ({ _tag: "Text", text: words })

const told = (
  deltas: ReadonlyArray<Readonly<Record<string, unknown>> & { readonly content?: string }>,
  options?: ReadOptions
) => {
  const fold = new ReasoningFold(options)
  const out: Array<OutputEvent> = []
  for (const delta of deltas) {
    fold.delta(delta, out)
    if (delta.content !== undefined) fold.text(delta.content, out)
  }
  return [...out, ...fold.end(false)]
}

describe("ReasoningFold", () => {
  it("ends reasoning with the name of its field when a text begins or the stream ends", () => {
    for (const field of ["reasoning_content", "reasoning", "reasoning_text"]) {
      assert.deepStrictEqual(told([{ [field]: "h" }, { [field]: "m" }, { content: "a" }, { [field]: "more" }]), [
        reasoning("h"),
        reasoning("m"),
        end({ field }),
        text("a"),
        reasoning("more"),
        end({ field })
      ])
    }
    assert.deepStrictEqual(told([{ deliberation: "h", reasoning: "no" }], { tags: "none", field: "deliberation" }), [
      reasoning("h"),
      end({ field: "deliberation" })
    ])
  })

  it("joins reasoning details that arrive in pieces, and takes their text as reasoning only if no other field has it", () => {
    const piece = (more: object) => ({ type: "reasoning.text", index: 0, ...more })
    const pieces = [piece({ text: "h", signature: null }), piece({ text: "m" }), piece({ signature: "s" })]
    const encrypted = { type: "reasoning.encrypted", data: "d", index: 1 }
    const joined = piece({ text: "hm", signature: "s" })
    const deltas = pieces.map((one) => ({ reasoning_details: [one] }))
    assert.deepStrictEqual(told([...deltas, { content: "a" }, { reasoning_details: [encrypted] }]), [
      reasoning("h"),
      reasoning("m"),
      end({ details: [joined] }),
      text("a"),
      end({ details: [encrypted] })
    ])
    const both = deltas.map((delta, at) => ({ ...delta, reasoning: ["h", "m", ""][at] }))
    assert.deepStrictEqual(told(both), [reasoning("h"), reasoning("m"), end({ details: [joined] })])
  })

  it("splits off reasoning between tags unless the host has a reasoning field", () => {
    const content = ["<th", "ink>h", "m</think>", "\n\na", "b"].map((one) => ({ content: one }))
    assert.deepStrictEqual(told(content, { tags: "closed" }), [
      reasoning("h"),
      reasoning("m"),
      end({ field: "think" }),
      text("a"),
      text("b")
    ])
    assert.deepStrictEqual(told([{ reasoning: "r" }, { content: "<think>" }], { tags: "closed" }), [
      reasoning("r"),
      end({ field: "reasoning" }),
      text("<think>")
    ])
    assert.deepStrictEqual(told([{ content: "<think>a</think>" }], { tags: "none" }), [text("<think>a</think>")])
  })

  it("releases held-back text when another kind of output begins", () => {
    const fold = new ReasoningFold({ tags: "closed" })
    const out: Array<OutputEvent> = []
    fold.text("<thi", out)
    fold.over(out)
    assert.deepStrictEqual([out, fold.end(false)], [[text("<thi")], []])
  })
})
