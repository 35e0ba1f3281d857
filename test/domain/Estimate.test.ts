import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { entries } from "../../src/catalogue/models.ts"
import type { Model } from "../../src/domain/Model.ts"
import { defaultPolicy, type Candidate, type Plan } from "../../src/domain/Plan.ts"
import { maximumCost, tokenCost, type TokenPrice } from "../../src/domain/Pricing.ts"
import { fixedBound, promptBound } from "../../src/domain/TokenBound.ts"
import { asked } from "../support/Conversations.ts"
import {
  capWithin,
  DEFAULT_OUTPUT_CEILING,
  estimate,
  OUTPUT_FLOOR,
  ROLLING_STEP,
  withinBudget
} from "../../src/domain/Estimate.ts"

const price = (input: bigint, output: bigint): TokenPrice => ({
  unit: "token",
  perRequest: 0n,
  tiers: [{ abovePromptTokens: 0, rates: { input, cached: input / 2n, cacheWrite: input, output } }]
})

const candidate = (
  input: bigint,
  output: bigint,
  more: Partial<Model> & { maxOutputTokens?: number } = {}
): Candidate => {
  const offer = {
    provider: "p",
    upstreamId: "u",
    price: price(input, output),
    contextWindow: 128_000,
    maxOutputTokens: more.maxOutputTokens ?? 100_000,
    unsupported: []
  }
  const model: Model = {
    id: "m",
    name: "m",
    vendor: "v",
    brand: "b",
    description: "",
    modality: "text",
    status: "ga",
    created: 0,
    capabilities: [],
    contextWindow: 128_000,
    maxOutputTokens: offer.maxOutputTokens,
    hiddenReasoning: false,
    virtual: false,
    supportedParameters: [],
    pricingNote: "",
    offers: [offer],
    ...more
  }
  return { model, offer, price: offer.price }
}

const plan = (first: Candidate, ...others: ReadonlyArray<Candidate>): Plan => ({
  requestedModels: ["m"],
  policy: defaultPolicy,
  candidates: [first, ...others]
})

const of = (a: Plan, maxTokens: number | undefined, stream = false) =>
  estimate(a, { prompt: fixedBound(1_000), maxTokens, stream })

describe("estimate", () => {
  const cheap = candidate(100_000n, 400_000n)
  const dear = candidate(1_000_000n, 4_000_000n)

  it("is one amount, for the most expensive candidate, when the request limits the output", () => {
    const { atLeast, ceiling, upTo } = of(plan(cheap, dear), 500)
    assert.strictEqual(atLeast, maximumCost(dear.price, 1_000, 500))
    assert.deepStrictEqual([upTo, ceiling], [atLeast, atLeast])
  })

  it("requires the floor and holds up to the ceiling when the request does not limit the output", () => {
    const { atLeast, ceiling, rolling, upTo } = of(plan(cheap), undefined)
    assert.strictEqual(atLeast, maximumCost(cheap.price, 1_000, OUTPUT_FLOOR))
    assert.strictEqual(upTo, maximumCost(cheap.price, 1_000, DEFAULT_OUTPUT_CEILING))
    assert.deepStrictEqual([ceiling, rolling], [upTo, false])
  })

  it("is rolling for a stream, but not for models with hidden output", () => {
    const stream = of(plan(cheap), undefined, true)
    assert.strictEqual(stream.upTo, maximumCost(cheap.price, 1_000, ROLLING_STEP))
    assert.isTrue(stream.rolling)
    const hidden = of(plan(cheap, candidate(1n, 1n, { hiddenReasoning: true })), undefined, true)
    assert.isFalse(hidden.rolling)
    assert.strictEqual(hidden.upTo, hidden.ceiling)
  })

  it("never covers more output than a model can produce", () => {
    const short = candidate(100_000n, 400_000n, { maxOutputTokens: 200 })
    assert.strictEqual(of(plan(short), undefined).atLeast, maximumCost(short.price, 1_000, 200))
    assert.strictEqual(of(plan(short), 5_000).ceiling, maximumCost(short.price, 1_000, 200))
  })

  it.prop(
    "capWithin returns an output limit whose cost is within the hold",
    {
      input: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 75_000_000 })),
      output: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 600_000_000 })),
      share: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000 }))
    },
    ({ input, output, share }) => {
      const only = candidate(BigInt(input), BigInt(output))
      const found = of(plan(only), undefined)
      const granted = found.atLeast + ((found.upTo - found.atLeast) * BigInt(share)) / 1_000n
      const cap = capWithin(only, found, granted)
      assert.isAtLeast(cap, OUTPUT_FLOOR)
      assert.isTrue(maximumCost(only.price, 1_000, cap) <= granted)
      const usage = { input: 1_000, cached: 0, cacheWrite: 0, output: cap, reasoning: cap }
      assert.isTrue(tokenCost(only.price, usage) <= granted)
    }
  )
})

describe("estimate of images", () => {
  const bounds: Record<string, number> = {
    // Tiles at high detail: a base and eight of 512 pixels.
    "gpt-4o": 85 + 8 * 170,
    "gpt-4o-mini": 2_833 + 8 * 5_667,
    o1: 75 + 8 * 150,
    // Patches of 32 pixels at high detail.
    "gpt-4.1-mini": Math.ceil(1_536 * 1.62),
    "gpt-4.1-nano": Math.ceil(1_536 * 2.46),
    "gpt-5-nano": Math.ceil(1_536 * 2.46),
    "o4-mini": Math.ceil(1_536 * 1.72),
    "gpt-6-astra": Math.ceil(2_500 * 1.2),
    "claude-opus-5-5": 4_784,
    "gemini-2.5-flash": 24 * 258,
    "gemini-3.8-flash": 2_240,
    "grok-4": 7 * 256,
    "qwen/qwen3-vl-235b-a22b-instruct": 16_777_216 / 32 ** 2
  }

  it("covers the price of a hundred images at every candidate", () => {
    const images = 100
    for (const [id, tokens] of Object.entries(bounds)) {
      const entry = entries.find((one) => one.id === id)
      assert.isTrue(entry?.capabilities.includes("vision"), id)
      const seeing = candidate(150_000n, 600_000n, { tokensPerImage: entry?.tokensPerImage })
      const content = Array.from({ length: images }, () => ({ type: "image", url: "u", detail: "auto" }) as const)
      const size = { prompt: promptBound(asked("", { messages: [{ role: "user", content }] })), images }
      for (const candidates of [plan(seeing), plan(candidate(1n, 1n), seeing)]) {
        const found = estimate(candidates, { ...size, maxTokens: 10, stream: false })
        const usage = { input: images * tokens, cached: 0, cacheWrite: 0, output: 10, reasoning: 0 }
        assert.isTrue(tokenCost(seeing.price, usage) <= found.ceiling, id)
        assert.strictEqual(capWithin(seeing, found, found.ceiling), 10, id)
        const least = { ...size, maxTokens: 10, budgetCents: 0.001 }
        assert.isTrue(Result.isFailure(withinBudget(plan(seeing), least)), id)
      }
    }
  })
})

describe("withinBudget", () => {
  const cheap = candidate(100_000n, 400_000n)
  const dear = candidate(100_000_000n, 400_000_000n)
  const size = { prompt: fixedBound(1_000), maxTokens: 100 }

  it("leaves out candidates that could cost more", () => {
    const kept = Result.getOrThrow(withinBudget(plan(dear, cheap), { ...size, budgetCents: 1 }))
    assert.deepStrictEqual(kept.candidates, [cheap])
  })
  it("keeps the hedge delay only while the provider that it was measured for and another one are left", () => {
    const other = candidate(100_000n, 300_000n)
    const delayOf = (...candidates: readonly [Candidate, ...ReadonlyArray<Candidate>]) =>
      Result.getOrThrow(withinBudget({ ...plan(...candidates), hedgeAfterMs: 300 }, { ...size, budgetCents: 1 }))
        .hedgeAfterMs
    assert.strictEqual(delayOf(cheap, dear, other), 300)
    assert.isUndefined(delayOf(cheap, dear))
    assert.isUndefined(delayOf(dear, cheap, other))
  })
  it("reports the lowest possible cost when no candidate is left", () => {
    const { reason } = Result.getOrThrow(Result.flip(withinBudget(plan(dear), { ...size, budgetCents: 1 })))
    assert.deepStrictEqual(reason, {
      _tag: "NoModelInBudget",
      budgetCents: 1,
      least: maximumCost(dear.price, 1_000, 100)
    })
  })
})
