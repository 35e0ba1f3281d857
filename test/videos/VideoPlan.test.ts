import { assert, describe, it } from "@effect/vitest"
import type { Capability, Model } from "../../src/domain/Model.ts"
import { type Candidate, defaultPolicy, type Plan } from "../../src/domain/Plan.ts"
import type { Price } from "../../src/domain/Pricing.ts"
import { chargeOf, clipCost, videoPlanOf, keepPlan, restorePlan } from "../../src/videos/VideoPlan.ts"
import { videoOptions } from "./videoScene.ts"

const model: Model = {
  id: "m",
  name: "M",
  vendor: "v",
  brand: "V",
  description: "",
  modality: "video",
  status: "ga",
  created: 1,
  capabilities: ["audio_generation"],
  contextWindow: 7,
  maxOutputTokens: 8,
  hiddenReasoning: false,
  virtual: false,
  supportedParameters: [],
  pricingNote: "",
  offers: []
}

const candidate = (provider: string, price: Price, unsupported: ReadonlyArray<Capability> = []): Candidate<Price> => ({
  model,
  offer: { provider, upstreamId: `${provider}/m`, price, contextWindow: 7, maxOutputTokens: 8, unsupported },
  price
})

const second = { unit: "second", perUnit: 100_000_000_000n } as const
const request = { unit: "request", perUnit: 900_000_000_000n } as const
const tokens: Price = {
  unit: "token",
  tiers: [{ abovePromptTokens: 0, rates: { input: 1n, cached: 1n, cacheWrite: 1n, output: 1n } }],
  perRequest: 0n
}

const planOf = (...candidates: readonly [Candidate<Price>, ...ReadonlyArray<Candidate<Price>>]): Plan<Price> => ({
  requestedModels: ["m"],
  policy: defaultPolicy,
  candidates
})

const providers = (plan: Plan<Price> | undefined) => plan?.candidates.map(({ offer }) => offer.provider)

describe("the plan of a video", () => {
  it("contains only candidates that support the request and have a price", () => {
    const plan = planOf(candidate("a", second, ["audio_generation"]), candidate("b", tokens), candidate("c", request))
    assert.deepStrictEqual(providers(videoPlanOf(plan, videoOptions)), ["a", "c"])
    assert.deepStrictEqual(providers(videoPlanOf(plan, { ...videoOptions, audio: true })), ["c"])
    assert.isUndefined(videoPlanOf(planOf(candidate("b", tokens)), videoOptions))
  })

  it("is charged at the most expensive candidate", () => {
    assert.strictEqual(clipCost(second, 4), 400_000_000n)
    assert.strictEqual(clipCost(request, 4), 900_000_000n)
    const plan = videoPlanOf(planOf(candidate("a", second), candidate("c", request)), videoOptions)!
    assert.strictEqual(chargeOf(plan, 4), 900_000_000n)
    assert.strictEqual(chargeOf(plan, 15), 1_500_000_000n)
  })

  it("is restored completely from its JSON", () => {
    const plan = videoPlanOf(planOf(candidate("a", second), candidate("c", request)), videoOptions)!
    const restored = restorePlan(JSON.parse(JSON.stringify(keepPlan(plan))))
    assert.deepStrictEqual(
      restored.candidates.map(({ offer, price }) => ({ offer, price })),
      plan.candidates.map(({ offer, price }) => ({ offer, price }))
    )
    assert.deepInclude(restored.candidates[0].model, { id: "m", capabilities: ["audio_generation"] })
    assert.deepStrictEqual(restored.requestedModels, ["m"])
    assert.deepStrictEqual(restored.policy, defaultPolicy)
    const policy = { ...defaultPolicy, strategy: "cost", source: "project" } as const
    assert.deepInclude(restorePlan(JSON.parse(JSON.stringify(keepPlan({ ...plan, policy })))).policy, {
      strategy: "cost",
      source: "project"
    })
  })
})
