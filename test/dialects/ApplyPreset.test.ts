import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { PresetConfig } from "../../schemas/management/Presets.ts"
import { type RequestContent, applyPreset } from "../../src/dialects/ApplyPreset.ts"
import type { Conversation, Tool } from "../../src/domain/Conversation.ts"

const plain: Conversation = {
  messages: [{ role: "user", content: [{ type: "text", text: "hello" }] }],
  tools: [],
  toolChoice: { type: "auto" },
  parallelToolCalls: undefined,
  format: { type: "text" },
  sampling: {},
  reasoning: undefined,
  maxOutputTokens: undefined,
  user: undefined
}

const said = (conversation: Partial<Conversation> = {}, more: Partial<RequestContent> = {}): RequestContent => ({
  model: "@p",
  models: undefined,
  conversation: { ...plain, ...conversation },
  parameters: [],
  stream: false,
  sessionId: undefined,
  budgetCents: undefined,
  saysFormat: conversation.format !== undefined,
  saysTools: conversation.tools !== undefined,
  saysToolChoice: conversation.toolChoice !== undefined,
  ...more
})

const merged = (config: PresetConfig | undefined, one: RequestContent, body: object = {}) =>
  Result.getOrThrow(applyPreset({ ...body }, one, config))

const tool = (name: string): Tool => ({ name, description: undefined, parameters: undefined, strict: undefined })

const look = { type: "function", function: { name: "look" } } as const

describe("a request in another dialect than chat", () => {
  it("stays as sent when it names no preset", () => {
    const { auto, policy, ...rest } = merged(undefined, said({}, { model: "a", sessionId: "s" }), {
      routing: { strategy: "cost" }
    })
    const {
      saysFormat: _,
      saysToolChoice: __,
      saysTools: ___,
      sessionId,
      ...own
    } = said({}, { model: "a", sessionId: "s" })
    assert.deepStrictEqual(rest, own)
    assert.strictEqual(auto.sessionId, sessionId)
    assert.strictEqual(policy.strategy, "cost")
  })

  it("takes from its preset what it does not set", () => {
    const preset: PresetConfig = {
      model: "a",
      instructions: "Be brief.",
      temperature: 0.5,
      top_p: 0.1,
      max_tokens: 9,
      tools: [look],
      tool_choice: "required",
      response_format: { type: "json_object" },
      reasoning: { effort: "low" },
      budget_cents: 4,
      routing: { strategy: "cost", allow_fallbacks: false }
    }
    const got = merged(preset, said({ sampling: { topP: 1 } }, { parameters: ["top_p"] }), {
      routing: { strategy: "latency" }
    })
    assert.strictEqual(got.model, "a")
    assert.strictEqual(got.budgetCents, 4)
    assert.deepStrictEqual(
      { strategy: got.policy.strategy, fallbacks: got.policy.allowFallbacks },
      { strategy: "latency", fallbacks: false }
    )
    assert.deepStrictEqual(got.conversation, {
      ...plain,
      messages: [{ role: "system", content: [{ type: "text", text: "Be brief." }] }, ...plain.messages],
      sampling: { temperature: 0.5, topP: 1 },
      tools: [tool("look")],
      toolChoice: { type: "required" },
      format: { type: "json_object" },
      reasoning: { effort: "low", maxTokens: undefined, enabled: undefined },
      maxOutputTokens: 9
    })
    const parameters = ["reasoning", "response_format", "temperature", "tool_choice", "tools", "top_p"]
    assert.deepStrictEqual(got.parameters.toSorted(), parameters)
  })

  it("overrides its preset with what it sets", () => {
    const preset: PresetConfig = { models: ["a", "b"], max_tokens: 9, tools: [look], tool_choice: "required" }
    const own = { tools: [tool("hear")], format: { type: "json_object" }, maxOutputTokens: 3 } as const
    const got = merged(preset, said(own, { models: ["c"], budgetCents: 1 }))
    assert.deepStrictEqual([got.model, got.models, got.budgetCents], [undefined, ["c"], 1])
    assert.deepStrictEqual(got.conversation, { ...plain, ...own })
    assert.deepStrictEqual(merged(preset, said()).models, ["a", "b"])
    assert.deepStrictEqual(merged(preset, said({ toolChoice: { type: "none" } })).conversation.toolChoice, {
      type: "none"
    })
  })

  it("can override its preset with plain text and a free choice of tools", () => {
    const preset: PresetConfig = {
      model: "a",
      tools: [look],
      tool_choice: "required",
      response_format: { type: "json_schema", json_schema: { name: "n", schema: {} } }
    }
    const silent = merged(preset, said())
    assert.strictEqual(silent.conversation.format.type, "json_schema")
    assert.includeMembers([...silent.parameters], ["response_format", "structured_outputs"])
    const spoken = merged(preset, said({ format: { type: "text" }, toolChoice: { type: "auto" } }))
    assert.deepStrictEqual(spoken.conversation, { ...plain, tools: silent.conversation.tools })
    assert.deepStrictEqual([...spoken.parameters], ["tools", "tool_choice"])
  })

  it("uses its preset's router options when it sets none", () => {
    const preset: PresetConfig = { model: "svc/auto", router: { cost_tier: "low" } }
    assert.strictEqual(merged(preset, said()).auto.options.costTier, "low")
    assert.strictEqual(merged(preset, said(), { router: { cost_tier: "max" } }).auto.options.costTier, "max")
    const plugins = [{ id: "auto-router", cost_tier: "high" }]
    assert.strictEqual(merged(preset, said(), { plugins }).auto.options.costTier, "high")
    assert.strictEqual(merged({ model: "svc/auto" }, said(), { plugins }).auto.options.costTier, "high")
    assert.strictEqual(merged(preset, said(), { plugins: [] }).auto.options.costTier, "low")
  })

  it("is rejected by field for invalid routing", () => {
    const { reason } = Result.getOrThrow(Result.flip(applyPreset({ routing: { strategy: "fast" } }, said(), undefined)))
    assert.strictEqual(reason._tag === "ValidationError" ? reason.problems[0].field : "", "routing.strategy")
  })
})
