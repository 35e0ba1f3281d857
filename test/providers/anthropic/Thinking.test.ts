import { assert, describe, it } from "@effect/vitest"
import type { Conversation, Message, Reasoning } from "../../../src/domain/Conversation.ts"
import type { Model } from "../../../src/domain/Model.ts"
import { thinkingOf } from "../../../src/providers/anthropic/Thinking.ts"
import { asked } from "../../support/Conversations.ts"
import { candidate, chatCall } from "../calls.ts"

const able: Partial<Model> = { capabilities: ["streaming", "tools", "reasoning"] }

const reasoningOf = (more: Partial<Reasoning>): Reasoning => ({
  effort: undefined,
  maxTokens: undefined,
  enabled: undefined,
  ...more
})

const of = (
  upstreamId: string,
  reasoning: Partial<Reasoning> | undefined,
  more: Partial<Conversation> = {},
  maxOutputTokens = 10_000,
  model = able
) =>
  thinkingOf(
    chatCall({
      candidate: candidate("anthropic", { upstreamId, model }),
      conversation: asked("hello", {
        reasoning: reasoning === undefined ? undefined : reasoningOf(reasoning),
        ...more
      }),
      maxOutputTokens
    })
  )

const budget = (tokens: number) => ({
  config: { type: "enabled", budget_tokens: tokens },
  effort: undefined,
  on: true,
  freeChoice: false
})
const nothing = { config: undefined, effort: undefined, on: false, freeChoice: false }
const adaptive = { type: "adaptive", display: "summarized" }

const tools = [{ name: "f", description: undefined, parameters: undefined, strict: undefined }]
const called: ReadonlyArray<Message> = [
  { role: "user", content: [{ type: "text", text: "hello" }] },
  { role: "assistant", content: [], toolCalls: [{ id: "a", name: "f", arguments: "{}" }] },
  { role: "tool", toolCallId: "a", content: [] }
]

describe("thinkingOf", () => {
  it("sends nothing for a model that does not reason, or not at this provider", () => {
    assert.deepStrictEqual(of("claude-sonnet-4-6", { effort: "high" }, {}, 10_000, {}), nothing)
    const here = candidate("anthropic", { upstreamId: "claude-sonnet-4-6", model: able })
    const elsewhere = { ...here, offer: { ...here.offer, unsupported: ["reasoning"] as const } }
    const conversation = asked("hello", { reasoning: reasoningOf({ effort: "high" }) })
    assert.deepStrictEqual(thinkingOf(chatCall({ candidate: elsewhere, conversation })), nothing)
  })

  describe("with a token budget", () => {
    const models = ["claude-opus-4-1", "claude-sonnet-4-5", "claude-haiku-4-5-20251001", "claude-3-7-sonnet-20250219"]
    for (const id of [...models, "claude-sonnet-4-20250514", "some-other-model"]) {
      it(`requests a budget from ${id} for an effort, and nothing without one`, () => {
        assert.deepStrictEqual(of(id, undefined), nothing)
        assert.deepStrictEqual(of(id, {}), nothing)
        assert.deepStrictEqual(of(id, { effort: "high" }), budget(8_000))
      })
    }

    const cases: ReadonlyArray<readonly [Partial<Reasoning>, number, object]> = [
      [{ effort: "minimal" }, 10_000, budget(2_000)],
      [{ effort: "medium" }, 10_000, budget(5_000)],
      [{ effort: "xhigh" }, 10_000, budget(9_500)],
      [{ enabled: true }, 10_000, budget(5_000)],
      [{ maxTokens: 3_000 }, 10_000, budget(3_000)],
      [{ maxTokens: 3_000, effort: "high" }, 10_000, budget(3_000)],
      [{ maxTokens: 1 }, 10_000, budget(1_024)],
      [{ maxTokens: 10_000 }, 10_000, budget(9_500)],
      [{ effort: "low" }, 1_025, budget(1_024)],
      [{ effort: "high" }, 1_024, nothing],
      [{ effort: "none" }, 10_000, nothing],
      [{ maxTokens: 0 }, 10_000, nothing],
      [{ enabled: false, effort: "high" }, 10_000, nothing]
    ]
    for (const [reasoning, cap, expected] of cases) {
      it(`turns ${JSON.stringify(reasoning)} into a budget within ${cap} output tokens`, () =>
        assert.deepStrictEqual<unknown>(of("claude-sonnet-4-5", reasoning, {}, cap), expected))
    }

    it("sends nothing when an assistant's turn continues without its thinking", () => {
      assert.deepStrictEqual(of("claude-sonnet-4-5", { effort: "high" }, { messages: called }), nothing)
      const begun: ReadonlyArray<Message> = [
        ...called.slice(0, 1),
        { role: "assistant", content: [{ type: "text", text: "{" }], toolCalls: [] },
        { role: "system", content: [{ type: "text", text: "go on" }] }
      ]
      assert.deepStrictEqual(of("claude-sonnet-4-5", { effort: "high" }, { messages: begun }), nothing)
    })
  })

  for (const [id, most] of [
    ["claude-opus-4-6", "high"],
    ["claude-sonnet-4-6", "high"],
    ["claude-opus-4-7", "xhigh"],
    ["claude-opus-4-8", "xhigh"],
    ["claude-opus-5", "xhigh"],
    ["claude-sonnet-5", "xhigh"],
    ["claude-opus-5-5", "xhigh"],
    ["claude-fable-5", "xhigh"],
    ["claude-fable-5-1", "xhigh"]
  ] as const) {
    it(`sends an effort to ${id}`, () => {
      const efforts: ReadonlyArray<readonly [Partial<Reasoning>, "low" | "medium" | "high" | "xhigh" | undefined]> = [
        [{ effort: "minimal" }, "low"],
        [{ effort: "low" }, "low"],
        [{ effort: "high" }, "high"],
        [{ effort: "xhigh" }, most],
        [{ enabled: true }, undefined],
        [{ maxTokens: 2_000 }, "low"],
        [{ maxTokens: 8_000 }, "medium"],
        [{ maxTokens: 9_000 }, "high"]
      ]
      for (const [reasoning, effort] of efforts) {
        assert.deepInclude(of(id, reasoning, { messages: called }), { config: adaptive, effort, on: true })
      }
    })
  }

  describe("with an effort for the whole answer", () => {
    const quiet = { ...nothing, effort: "low" }
    const told = { effort: "low", ofAnswer: true } as const

    it("sends the effort without enabling thinking", () => {
      for (const id of ["claude-opus-4-5", "claude-opus-4-6", "claude-sonnet-4-6", "claude-opus-4-8"]) {
        assert.deepStrictEqual<unknown>(of(id, told), quiet)
      }
      assert.deepStrictEqual<unknown>(of("claude-sonnet-5", told), { ...quiet, on: true })
      assert.deepStrictEqual<unknown>(of("claude-opus-5-5", told), { ...quiet, on: true, freeChoice: true })
      for (const id of ["claude-sonnet-4-5", "claude-haiku-4-5"]) assert.deepStrictEqual(of(id, told), nothing)
    })

    it("enables or disables thinking only through the other fields", () => {
      assert.deepStrictEqual<unknown>(of("claude-opus-4-8", { ...told, enabled: false }), quiet)
      assert.deepStrictEqual<unknown>(of("claude-opus-4-8", { ...told, enabled: true }), {
        ...quiet,
        config: adaptive,
        on: true
      })
      assert.deepStrictEqual<unknown>(of("claude-sonnet-5", { ...told, enabled: false }), {
        ...quiet,
        config: { type: "disabled" }
      })
      assert.deepStrictEqual<unknown>(of("claude-opus-4-5", { ...told, maxTokens: 3_000, enabled: true }), {
        ...budget(3_000),
        effort: "low"
      })
    })
  })

  const off = [{ effort: "none" }, { enabled: false }, { maxTokens: 0 }] as const

  it("sends nothing to models that think only on request", () => {
    for (const reasoning of [undefined, {}, ...off]) assert.deepStrictEqual(of("claude-opus-4-8", reasoning), nothing)
  })

  it("turns off thinking that is on by default", () => {
    assert.deepStrictEqual(of("claude-opus-5", undefined), { ...nothing, on: true })
    for (const reasoning of off) {
      assert.deepStrictEqual(of("claude-sonnet-5", reasoning), { ...nothing, config: { type: "disabled" } })
    }
  })

  it("requests the lowest effort where thinking cannot be turned off", () => {
    assert.deepStrictEqual(of("claude-opus-5-5", undefined), { ...nothing, on: true, freeChoice: true })
    for (const reasoning of off) {
      const least = { config: undefined, effort: "low", on: true } as const
      assert.deepStrictEqual(of("claude-fable-5", reasoning), { ...least, freeChoice: false })
      assert.deepStrictEqual(of("claude-fable-5-1", reasoning), { ...least, freeChoice: true })
      assert.deepStrictEqual(of("claude-opus-5-5", reasoning), { ...least, freeChoice: true })
    }
  })

  it("turns thinking off with a forced tool, or frees the tool choice for models that always think", () => {
    for (const toolChoice of [{ type: "required" }, { type: "tool", name: "f" }] as const) {
      const forced = { tools, toolChoice }
      assert.deepStrictEqual(of("claude-sonnet-4-5", { effort: "high" }, forced), nothing)
      assert.deepStrictEqual(of("claude-opus-4-8", { effort: "high" }, forced), nothing)
      assert.deepStrictEqual(of("claude-opus-5", undefined, forced), { ...nothing, config: { type: "disabled" } })
      assert.deepInclude(of("claude-opus-5-5", { effort: "high" }, forced), { config: adaptive, freeChoice: true })
      assert.deepInclude(of("claude-fable-5", { effort: "high" }, forced), { config: adaptive, freeChoice: false })
      assert.deepInclude(of("claude-opus-4-8", { effort: "high" }, { toolChoice }), { config: adaptive })
    }
  })
})
