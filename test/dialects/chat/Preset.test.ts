import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { PresetConfig } from "../../../schemas/management/Presets.ts"
import { decodeChat } from "../../../src/dialects/chat/ChatDecode.ts"
import { filledFrom, withInstructions, presetPolicy } from "../../../src/dialects/chat/Preset.ts"
import { decodeEstimate } from "../../../src/dialects/Estimate.ts"
import { defaultPolicy } from "../../../src/domain/Plan.ts"

const messages = [{ role: "user", content: "Hello" }]
const tool = (name: string) => ({ type: "function" as const, function: { name } })

const decode = (config: PresetConfig, body: object, byPath = false) => decodeChat(body, { config, byPath })
const decoded = (config: PresetConfig, body: object, byPath = false) => Result.getOrThrow(decode(config, body, byPath))

describe("what a preset supplies", () => {
  it("is what the request does not set", () => {
    const preset: PresetConfig = { model: "a", temperature: 0.5, seed: 7, stop: "x" }
    assert.deepStrictEqual(filledFrom(preset, { temperature: 0, seed: null, messages }), {
      model: "a",
      temperature: 0,
      seed: 7,
      stop: "x",
      messages
    })
    const body = { model: null, messages }
    assert.strictEqual(filledFrom(undefined, body), body)
  })

  it("is dropped when the request sets the same under another name", () => {
    const over = (preset: PresetConfig, body: object) => filledFrom(preset, { ...body })
    assert.deepStrictEqual(over({ model: "a", models: ["b"] }, { models: ["c"] }), { models: ["c"] })
    assert.deepStrictEqual(over({ model: "a", models: ["b"] }, { model: "c" }), { model: "c" })
    assert.deepStrictEqual(over({ model: "a", models: ["b"] }, { model: "@p" }), { model: "a", models: ["b"] })
    assert.deepStrictEqual(over({ model: "a" }, { model: "@p", models: ["c"] }), { models: ["c"] })
    assert.deepStrictEqual(over({ max_completion_tokens: 5 }, { max_tokens: 9 }), { max_tokens: 9 })
    assert.deepStrictEqual(over({ max_tokens: 5 }, { max_completion_tokens: 9 }), { max_completion_tokens: 9 })
    assert.deepStrictEqual(over({ reasoning: { effort: "low" } }, { reasoning_effort: "high" }), {
      reasoning_effort: "high"
    })
    assert.deepStrictEqual(over({ reasoning_effort: "low" }, { reasoning: {} }), { reasoning: {} })
    const choice = { tools: [tool("look")], tool_choice: tool("look") }
    assert.deepStrictEqual(over(choice, { tools: [tool("see")] }), { tools: [tool("see")] })
    assert.deepStrictEqual(over(choice, { tool_choice: "none" }), { tools: choice.tools, tool_choice: "none" })
    const named = { constructor: 1, toString: 2 }
    assert.deepStrictEqual(over({ model: "a" }, named), { model: "a", ...named })
  })

  it("is decoded as if the client had sent it", () => {
    const preset: PresetConfig = {
      models: ["a", "b"],
      temperature: 0.5,
      max_tokens: 9,
      tools: [tool("look")],
      tool_choice: "required",
      reasoning: { effort: "low" },
      budget_cents: 3
    }
    const said = Result.getOrThrow(decodeChat({ ...preset, messages, top_p: 1 }))
    assert.deepStrictEqual(decoded(preset, { model: "@p", messages, top_p: 1 }), said)
    assert.deepStrictEqual(decoded(preset, { messages, top_p: 1 }, true), said)
    const refused = Result.getOrThrow(Result.flip(decode({ model: "a", temperature: 9 }, { messages })))
    assert.deepInclude(refused.reason, { _tag: "ValidationError" })
    const alone = Result.getOrThrow(Result.flip(decode({ model: "a", tool_choice: "required" }, { messages })))
    assert.include(JSON.stringify(alone.reason), "tool_choice")
  })

  it("does not hide errors in the request, nor shift the indexes of its messages in them", () => {
    const preset: PresetConfig = { model: "a", instructions: "Be brief.", reasoning: { effort: "low" } }
    const fieldOf = (body: object) => {
      const { reason } = Result.getOrThrow(Result.flip(decode(preset, body, true)))
      return reason._tag === "ValidationError" ? reason.problems[0].field : reason._tag
    }
    assert.strictEqual(fieldOf({ messages: [messages[0], { role: "user" }] }), "messages[1].content")
    assert.strictEqual(fieldOf({ messages, reasoning: { depth: 1 } }), "reasoning.depth")
    assert.strictEqual(fieldOf({ messages, routing: { speed: 1 } }), "routing.speed")
    assert.strictEqual(fieldOf({ messages, max_tokens: 131_073 }), "max_tokens")
    assert.strictEqual(fieldOf({ messages, n: 2 }), "UnsupportedParameter")
    assert.strictEqual(fieldOf({}), "messages")
    assert.deepStrictEqual(decoded(preset, { messages, colour: 1 }).ignored, ["colour"])
  })

  it("begins with its instructions, before every message of the request", () => {
    const instructions = { role: "system", content: [{ type: "text", text: "Be brief." }] } as const
    const own = [{ role: "system", content: "Be kind." }, ...messages]
    const { conversation } = decoded({ model: "a", instructions: "Be brief." }, { messages: own })
    assert.deepStrictEqual(conversation.messages[0], instructions)
    assert.deepStrictEqual(
      conversation.messages.map(({ role }) => role),
      ["system", "system", "user"]
    )
    assert.deepStrictEqual(withInstructions(conversation.messages, { model: "a" }), conversation.messages)
    assert.deepStrictEqual(withInstructions(conversation.messages, undefined), conversation.messages)
    const hundred = { messages: Array.from({ length: 100 }, () => messages[0]) }
    assert.lengthOf(decoded({ model: "a", instructions: "Be brief." }, hundred).conversation.messages, 101)
  })

  it("includes its routing, which the request's routing overrides", () => {
    const preset: PresetConfig = { model: "a", routing: { strategy: "cost", data_policy: "zero_retention" } }
    const said = { ...defaultPolicy, strategy: "cost", dataPolicy: "zero_retention", source: "request" }
    assert.deepStrictEqual(Result.getOrThrow(presetPolicy(preset)) as object, said)
    assert.deepStrictEqual(Result.getOrThrow(presetPolicy({ model: "a" })), defaultPolicy)
    assert.deepStrictEqual(Result.getOrThrow(presetPolicy(undefined)), defaultPolicy)
    assert.deepStrictEqual(decoded(preset, { messages }).policy as object, said)
    assert.deepStrictEqual(decoded(preset, { messages, provider: { sort: "latency" } }).policy as object, {
      ...said,
      strategy: "latency"
    })
    assert.strictEqual(decoded({ model: "a" }, { messages }).policy.source, "default")
  })

  it("may set the options of svc/auto, and only those of the request are listed as ignored", () => {
    const router = { cost_tier: "low", pin_model: true } as const
    const preset: PresetConfig = { model: "svc/auto", router }
    const chatWith = (body: object, config = preset) => decoded(config, { model: "@p", messages, ...body })
    assert.strictEqual(chatWith({}).auto.options.costTier, "low")
    assert.strictEqual(chatWith({ plugins: [] }).auto.options.costTier, "low")
    assert.strictEqual(chatWith({ router: { cost_tier: "max" } }).auto.options.costTier, "max")
    const plugins = [{ id: "auto-router", cost_tier: "high" }]
    assert.strictEqual(chatWith({ plugins }).auto.options.costTier, "high")
    assert.deepStrictEqual(chatWith({ session_id: "s" }).ignored, [])
    assert.deepStrictEqual(chatWith({}).ignored, [], "a field that the client did not send is not listed as ignored")
    assert.deepStrictEqual(chatWith({ models: ["a"] }).ignored, [])
    assert.deepStrictEqual(chatWith({ router, session_id: "s" }, { model: "a" }).ignored, ["router", "session_id"])
  })

  it("applies to an estimate as to the request", () => {
    const preset: PresetConfig = { models: ["a", "b"], max_tokens: 9, instructions: "Be brief." }
    const { model, preparation } = Result.getOrThrow(decodeEstimate({ model: "@p", messages }, preset))
    const { auto, budgetCents, conversation, parameters, policy, stream } = decoded(preset, {
      model: "@p",
      messages
    })
    assert.strictEqual(model, "@p")
    assert.deepStrictEqual(preparation, {
      chain: ["a", "b"],
      sent: { model: "@p", models: undefined },
      auto,
      budgetCents,
      conversation,
      parameters,
      policy,
      stream
    })
  })
})
