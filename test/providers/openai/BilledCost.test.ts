import { assert, describe, it } from "@effect/vitest"
import { billedNanoIn } from "../../../src/providers/openai/BilledCost.ts"
import { usageOf } from "../../../src/providers/openai/ChatDecode.ts"

describe("billedNanoIn", () => {
  const cases: ReadonlyArray<readonly [string, object, number | undefined]> = [
    ["OpenRouter's cost", { cost: 0.001_234_5, cost_details: { upstream_inference_cost: null } }, 1_234_500],
    [
      "OpenRouter's fee plus the upstream charge on the operator's own key",
      { cost: 0.000_1, is_byok: true, cost_details: { upstream_inference_cost: 0.002 } },
      2_100_000
    ],
    ["Perplexity's total cost", { cost: { input_tokens_cost: 0.001, total_cost: 0.006 } }, 6_000_000],
    ["DeepInfra's estimated cost", { estimated_cost: 2.43e-6 }, 2_430],
    ["xAI's ticks", { cost_in_usd_ticks: 37_756_000 }, 3_775_600],
    ["a free call", { cost: 0 }, 0],
    ["less than a nano-USD, rounded up", { cost: 1e-12 }, 1],
    ["a product of decimals, without the error of its binary form", { cost: 0.1 * 3 }, 300_000_000],
    ["no cost", { prompt_tokens: 3 }, undefined],
    ["a text", { cost: "0.5" }, undefined],
    ["a negative cost", { cost: -1 }, undefined],
    ["an impossibly high cost", { cost: 1e9 }, undefined]
  ]
  for (const [name, usage, expected] of cases) {
    it(`reads ${name}`, () => assert.strictEqual(billedNanoIn(usage as Record<string, unknown>), expected))
  }

  it("adds the billed cost to the usage that the host reports", () => {
    assert.deepInclude(usageOf({ prompt_tokens: 3, completion_tokens: 1, cost: 0.5 }), { billedNano: 500_000_000 })
  })
})
