import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { Catalogue } from "../../src/catalogue/Catalogue.ts"
import { LiveFigures } from "../../src/catalogue/LiveFigures.ts"
import { defaultPolicy, type Plan, type RoutingPolicy } from "../../src/domain/Plan.ts"
import { type PlanRequest, Router } from "../../src/router/Router.ts"

const scene = (options: { readonly sandbox: boolean; readonly keyed?: ReadonlyArray<string> }) =>
  Effect.gen(function* () {
    const catalogue = Catalogue.layerFrom({ sandbox: options.sandbox, keyed: new Set(options.keyed), hosts: [] })
    const context = yield* Layer.build(
      Router.layer.pipe(Layer.provideMerge(Layer.mergeAll(catalogue, LiveFigures.layerMemory)))
    )
    return yield* Effect.all({ router: Router, catalogue: Catalogue, live: LiveFigures }).pipe(Effect.provide(context))
  })

const request = (
  models: ReadonlyArray<string>,
  policy: Partial<RoutingPolicy> = {},
  more: Partial<PlanRequest> = {}
): PlanRequest => ({
  models,
  policy: { ...defaultPolicy, ...policy },
  needs: { vision: false, tools: false, parameters: [] },
  promptBound: 1_000,
  fits: () => true,
  promptTokens: () => 1,
  ...more
})

const who = (plan: Plan) => plan.candidates.map(({ model, offer }) => `${model.id}@${offer.provider}`)
const needing = (needs: Partial<PlanRequest["needs"]>) => ({
  needs: { vision: false, tools: false, parameters: [], ...needs } as const
})

describe("Router", () => {
  it.live("plans every provider of every model of the chain, in order", () =>
    Effect.gen(function* () {
      const { catalogue, router } = yield* scene({ sandbox: true })
      const plan = Result.getOrThrow(router.plan(request(["gpt-4o-mini", "claude-sonnet-4-5"])))
      const expected = ["gpt-4o-mini", "claude-sonnet-4-5"].flatMap((id) =>
        catalogue.find(id)!.offers.map((offer) => `${id}@${offer.provider}`)
      )
      assert.isAbove(expected.length, 3)
      assert.deepStrictEqual(who(plan), expected)
    }).pipe(Effect.scoped)
  )

  it.live("obeys only, ignore, order and the ban on fallbacks", () =>
    Effect.gen(function* () {
      const { catalogue, router } = yield* scene({ sandbox: true })
      const providers = catalogue.find("gpt-4o-mini")!.offers.map((offer) => offer.provider)
      const [first, second] = providers
      const plan = (policy: Partial<RoutingPolicy>) =>
        Result.getOrThrow(router.plan(request(["gpt-4o-mini"], policy))).candidates.map(({ offer }) => offer.provider)
      assert.deepStrictEqual(plan({ only: [second!] }), [second])
      assert.deepStrictEqual(plan({ ignore: [first!] }), providers.slice(1))
      assert.deepStrictEqual(plan({ order: [second!] })[0], second)
      assert.deepStrictEqual(plan({ allowFallbacks: false }), [first])
    }).pipe(Effect.scoped)
  )

  it.live("orders by price, and by measured time once there are enough samples", () =>
    Effect.gen(function* () {
      const { live, router } = yield* scene({ sandbox: true })
      const model = "meta-llama/llama-3.3-70b-instruct"
      const byCost = Result.getOrThrow(router.plan(request([model], { strategy: "cost" })))
      const costs = byCost.candidates.map(({ price }) =>
        Number(3n * price.tiers[0].rates.input + price.tiers[0].rates.output)
      )
      assert.isAbove(costs.length, 2)
      assert.deepStrictEqual(
        costs,
        costs.toSorted((a, b) => a - b)
      )
      const last = byCost.candidates.at(-1)!.offer.provider
      const sample = (provider: string, firstTokenMs: number, ok = true) =>
        live.record({ model, provider, ok, durationMs: 500, firstTokenMs })
      for (let n = 0; n < 19; n++) sample(last, 5)
      const latency = () =>
        Result.getOrThrow(router.plan(request([model], { strategy: "latency" }))).candidates[0].offer.provider
      const before = latency()
      assert.notStrictEqual(before, last)
      sample(last, 5)
      assert.strictEqual(latency(), last)
      for (let n = 0; n < 25; n++) sample(before, 50, false)
      const balanced = Result.getOrThrow(router.plan(request([model])))
      assert.strictEqual(balanced.candidates.at(-1)!.offer.provider, before)
    }).pipe(Effect.scoped)
  )

  it.live("fails closed on the data policy and on prices", () =>
    Effect.gen(function* () {
      const { catalogue, router } = yield* scene({ sandbox: true })
      const zero = Result.getOrThrow(router.plan(request(["claude-sonnet-4-5"], { dataPolicy: "zero_retention" })))
      assert.isTrue(zero.candidates.every(({ offer }) => catalogue.provider(offer.provider)!.zeroRetention))
      const reason = (policy: Partial<RoutingPolicy>) =>
        Result.getOrThrow(Result.flip(router.plan(request(["gpt-4o-mini"], policy)))).reason._tag
      assert.strictEqual(reason({ maxPrice: { prompt: 0.000001 } }), "NoProviderAvailable")
      assert.strictEqual(reason({ only: ["nobody"] }), "NoProviderAvailable")
      const limits = { maxPrice: { prompt: 2 }, only: ["gemini"] }
      const long = request(["gemini-2.5-pro"], limits, { promptBound: 300_000 })
      assert.strictEqual(router.plan(request(["gemini-2.5-pro"], limits))._tag, "Success")
      assert.strictEqual(Result.getOrThrow(Result.flip(router.plan(long))).reason._tag, "NoProviderAvailable")
    }).pipe(Effect.scoped)
  )

  it.live("says what the request lacks a model for", () =>
    Effect.gen(function* () {
      const { catalogue, router } = yield* scene({ sandbox: true })
      const reason = (models: ReadonlyArray<string>, more: Partial<PlanRequest> = {}) =>
        Result.getOrThrow(Result.flip(router.plan(request(models, {}, more)))).reason._tag
      const text = catalogue.all.filter((model) => model.modality === "text" && !model.virtual)
      const blind = text.find((model) => !model.capabilities.includes("vision"))!.id
      const toolless = text.find((model) => !model.capabilities.includes("tools"))!.id
      assert.strictEqual(reason([blind], needing({ vision: true })), "NotVisionCapable")
      assert.strictEqual(reason([toolless], needing({ tools: true })), "NotToolCapable")
      assert.strictEqual(reason(["gpt-4o-mini"], { fits: () => false }), "ContextLengthExceeded")
      assert.strictEqual(reason(["nothing"]), "UnknownModel")
      assert.strictEqual(reason(["gpt-4o-mini", "nothing"]), "UnknownModel")
      assert.strictEqual(reason(["text-embedding-3-small"]), "UnknownModel")
      const mixed = Result.getOrThrow(router.plan(request([blind, "gpt-4o-mini"], {}, needing({ vision: true }))))
      assert.isTrue(mixed.candidates.every(({ model }) => model.id === "gpt-4o-mini"))
    }).pipe(Effect.scoped)
  )

  it.live("plans only providers that are there", () =>
    Effect.gen(function* () {
      const { router } = yield* scene({ sandbox: false, keyed: ["openai"] })
      assert.deepStrictEqual(who(Result.getOrThrow(router.plan(request(["gpt-4o-mini"])))), ["gpt-4o-mini@openai"])
      const none = Result.getOrThrow(Result.flip(router.plan(request(["claude-sonnet-4-5"]))))
      assert.strictEqual(none.reason._tag, "NoProviderAvailable")
    }).pipe(Effect.scoped)
  )
})
