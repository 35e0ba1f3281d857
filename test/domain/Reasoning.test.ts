import { assert, describe, it } from "@effect/vitest"
import type { AssistantMessage, ReasoningPart } from "../../src/domain/Conversation.ts"
import { opensNothing, ownReasoning, piecesOf } from "../../src/domain/Reasoning.ts"
import { candidate } from "../providers/calls.ts"

const here = candidate("anthropic", { upstreamId: "claude-x" })
const origin = { provider: "anthropic", model: "claude-x", data: { signature: "s" } }

const message = (reasoning: ReadonlyArray<ReasoningPart>): AssistantMessage => ({
  role: "assistant",
  content: [
    { type: "text", text: "ab" },
    { type: "text", text: "cd", cacheBreakpoint: true }
  ],
  toolCalls: ["f", "g"].map((name) => ({ id: name, name, arguments: "{}" })),
  reasoning
})

describe("ownReasoning", () => {
  it("returns only blocks of the same provider and model with provider data", () => {
    const parts: ReadonlyArray<ReasoningPart> = [
      { text: "own", origin },
      { text: "another provider's", origin: { ...origin, provider: "openai" } },
      { text: "another model's", origin: { ...origin, model: "claude-y" } },
      { text: "not wanted back", origin: { provider: "anthropic", model: "claude-x" } },
      { text: "the caller's" }
    ]
    assert.deepStrictEqual(
      ownReasoning(message(parts), here).map(({ text }) => text),
      ["own"]
    )
    assert.deepStrictEqual(ownReasoning({}, here), [])
  })
})

describe("piecesOf", () => {
  it("puts each block at its position", () => {
    const at = (text: number | undefined, calls: number): ReasoningPart => ({
      text: `${text}/${calls}`,
      origin,
      ...(text === undefined ? {} : { place: { text, calls } })
    })
    const parts = [at(undefined, 0), at(0, 0), at(1, 0), at(2, 0), at(4, 0), at(4, 1), at(4, 2), at(9, 9)]
    const one = message(parts)
    const said = piecesOf(one, ownReasoning(one, here)).map((piece) => {
      if (piece.type === "reasoning") return piece.reasoning.text
      return piece.type === "text" ? piece.part : piece.call.name
    })
    assert.deepStrictEqual<unknown>(said, [
      "undefined/0",
      "0/0",
      { type: "text", text: "a" },
      "1/0",
      { type: "text", text: "b" },
      "2/0",
      { type: "text", text: "cd", cacheBreakpoint: true },
      "4/0",
      "f",
      "4/1",
      "g",
      "4/2",
      "9/9"
    ])
  })

  it("returns the texts and the calls when there is no reasoning", () => {
    assert.deepStrictEqual(
      piecesOf(message([]), []).map(({ type }) => type),
      ["text", "text", "call", "call"]
    )
  })
})

describe("opensNothing", () => {
  it("returns undefined for any seal", () => assert.isUndefined(opensNothing("seal")))
})
