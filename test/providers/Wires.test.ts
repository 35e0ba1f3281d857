import { assert, describe, it } from "@effect/vitest"
import type { Reasoning } from "../../src/domain/Conversation.ts"
import { tokenCost } from "../../src/domain/Pricing.ts"
import { promptTokens, type TokenUsage, totalTokens } from "../../src/domain/Usage.ts"
import { usageOf as anthropicUsage } from "../../src/providers/anthropic/ChatDecode.ts"
import { encodeChat as encodeAnthropic } from "../../src/providers/anthropic/ChatEncode.ts"
import { usageOf as geminiUsage } from "../../src/providers/gemini/ChatDecode.ts"
import { encodeChat as encodeGemini } from "../../src/providers/gemini/ChatEncode.ts"
import { usageOf as openAiUsage } from "../../src/providers/openai/ChatDecode.ts"
import { encodeChat as encodeOpenAi } from "../../src/providers/openai/ChatEncode.ts"
import { asked } from "../support/Conversations.ts"
import { candidate, chatCall, price } from "./calls.ts"

describe("the same usage in the format of every provider", () => {
  const check = (told: Record<string, TokenUsage | undefined>, expected: TokenUsage) => {
    for (const [wire, usage] of Object.entries(told)) {
      assert.deepStrictEqual(usage, expected, wire)
      assert.isAtMost(usage!.reasoning, usage!.output, wire)
    }
  }

  it("is read into the same disjoint counts, and costs the same", () => {
    const read: TokenUsage = { input: 300, cached: 700, cacheWrite: 0, output: 90, reasoning: 40 }
    check(
      {
        openai: openAiUsage({
          prompt_tokens: 1_000,
          completion_tokens: 90,
          total_tokens: 1_090,
          prompt_tokens_details: { cached_tokens: 700 },
          completion_tokens_details: { reasoning_tokens: 40 }
        }),
        anthropic: anthropicUsage({
          input_tokens: 300,
          cache_read_input_tokens: 700,
          cache_creation_input_tokens: 0,
          output_tokens: 90,
          output_tokens_details: { thinking_tokens: 40 }
        }),
        gemini: geminiUsage({
          promptTokenCount: 1_000,
          cachedContentTokenCount: 700,
          candidatesTokenCount: 50,
          thoughtsTokenCount: 40,
          totalTokenCount: 1_090
        })
      },
      read
    )
    assert.deepStrictEqual([promptTokens(read), totalTokens(read)], [1_000, 1_090])
    const written: TokenUsage = { input: 100, cached: 200, cacheWrite: 700, output: 5, reasoning: 0 }
    check(
      {
        openai: openAiUsage({
          prompt_tokens: 1_000,
          completion_tokens: 5,
          prompt_tokens_details: { cached_tokens: 200, cache_write_tokens: 700 }
        }),
        anthropic: anthropicUsage({
          input_tokens: 100,
          cache_read_input_tokens: 200,
          cache_creation_input_tokens: 700,
          cache_creation: { ephemeral_5m_input_tokens: 700, ephemeral_1h_input_tokens: 0 },
          output_tokens: 5
        })
      },
      written
    )
    const { rates } = price.tiers[0]
    const pico = 100n * rates.input + 200n * rates.cached + 700n * rates.cacheWrite + 5n * rates.output
    assert.strictEqual(tokenCost(price, written), (pico + 999n) / 1_000n)
    const keptForAnHour = anthropicUsage({
      input_tokens: 100,
      cache_creation_input_tokens: 700,
      cache_creation: { ephemeral_5m_input_tokens: 500, ephemeral_1h_input_tokens: 200 },
      output_tokens: 5
    })
    assert.deepInclude(keptForAnHour, { cacheWrite: 700, cacheWriteLong: 200 })
  })
})

describe("a reasoning request", () => {
  const body = (
    encode: (call: ReturnType<typeof chatCall>) => string,
    upstreamId: string,
    reasoning: Partial<Reasoning>
  ) =>
    JSON.parse(
      encode(
        chatCall({
          candidate: candidate("up", { upstreamId, model: { capabilities: ["streaming", "reasoning"] } }),
          conversation: asked("hello", {
            reasoning: { effort: undefined, maxTokens: undefined, enabled: undefined, ...reasoning }
          }),
          maxOutputTokens: 20_000
        })
      )
    )
  const openai = (model: string) => (reasoning: Partial<Reasoning>) =>
    body((call) => encodeOpenAi(call, false, { flavour: "openai" }), model, reasoning).reasoning_effort ?? "-"
  const anthropic = (model: string) => (reasoning: Partial<Reasoning>) => {
    const { output_config, thinking } = body((call) => encodeAnthropic(call, false), model, reasoning)
    const how = thinking?.budget_tokens ?? thinking?.type
    return [how, output_config?.effort].filter((part) => part !== undefined).join(" ") || "-"
  }
  const gemini = (model: string) => (reasoning: Partial<Reasoning>) => {
    const config = body(encodeGemini, model, reasoning).generationConfig.thinkingConfig ?? {}
    const how = config.thinkingLevel ?? config.thinkingBudget
    return [how, config.includeThoughts === true ? "shown" : undefined].filter((part) => part !== undefined).join(" ")
  }

  const wires = {
    "openai gpt-5": openai("gpt-5"),
    "openai gpt-5.4": openai("gpt-5.4"),
    "anthropic claude-sonnet-4-5": anthropic("claude-sonnet-4-5"),
    "anthropic claude-opus-4-8": anthropic("claude-opus-4-8"),
    "anthropic claude-sonnet-5": anthropic("claude-sonnet-5"),
    "anthropic claude-opus-5-5": anthropic("claude-opus-5-5"),
    "gemini gemini-2.5-flash": gemini("gemini-2.5-flash"),
    "gemini gemini-2.5-pro": gemini("gemini-2.5-pro"),
    "gemini gemini-3.1-pro-preview": gemini("gemini-3.1-pro-preview")
  }
  const rows: ReadonlyArray<readonly [Partial<Reasoning>, ReadonlyArray<string | number>]> = [
    [{ effort: "none" }, ["minimal", "none", "-", "-", "disabled", "low", "0", "128", "LOW"]],
    [{ enabled: false }, ["minimal", "none", "-", "-", "disabled", "low", "0", "128", "LOW"]],
    [{ maxTokens: 0 }, ["minimal", "none", "-", "-", "disabled", "low", "0", "128", "LOW"]],
    [
      { effort: "minimal" },
      [
        "minimal",
        "low",
        "4000",
        "adaptive low",
        "adaptive low",
        "adaptive low",
        "1024 shown",
        "1024 shown",
        "LOW shown"
      ]
    ],
    [
      { effort: "low" },
      ["low", "low", "4000", "adaptive low", "adaptive low", "adaptive low", "1024 shown", "1024 shown", "LOW shown"]
    ],
    [
      { effort: "medium" },
      [
        "medium",
        "medium",
        "10000",
        "adaptive medium",
        "adaptive medium",
        "adaptive medium",
        "8192 shown",
        "8192 shown",
        "MEDIUM shown"
      ]
    ],
    [
      { effort: "high" },
      [
        "high",
        "high",
        "16000",
        "adaptive high",
        "adaptive high",
        "adaptive high",
        "19000 shown",
        "19000 shown",
        "HIGH shown"
      ]
    ],
    [
      { effort: "xhigh" },
      [
        "high",
        "xhigh",
        "19000",
        "adaptive xhigh",
        "adaptive xhigh",
        "adaptive xhigh",
        "19000 shown",
        "19000 shown",
        "HIGH shown"
      ]
    ],
    [
      { maxTokens: 5_000 },
      [
        "medium",
        "medium",
        "5000",
        "adaptive medium",
        "adaptive medium",
        "adaptive medium",
        "5000 shown",
        "5000 shown",
        "MEDIUM shown"
      ]
    ],
    [
      { enabled: true },
      ["medium", "medium", "10000", "adaptive", "adaptive", "adaptive", "-1 shown", "-1 shown", "shown"]
    ]
  ]
  for (const [reasoning, expected] of rows) {
    it(`is sent to every provider in its own form: ${JSON.stringify(reasoning)}`, () => {
      const told = Object.fromEntries(Object.entries(wires).map(([wire, of]) => [wire, of(reasoning)]))
      assert.deepStrictEqual(told, Object.fromEntries(Object.keys(wires).map((wire, at) => [wire, expected[at]])))
    })
  }
})
