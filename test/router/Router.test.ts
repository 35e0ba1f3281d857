import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Random, Result } from "effect"
import { TestClock } from "effect/testing"
import { Catalogue } from "../../src/catalogue/Catalogue.ts"
import { LiveFigures } from "../../src/catalogue/LiveFigures.ts"
import { defaultPolicy, type Plan, type RoutingPolicy } from "../../src/domain/Plan.ts"
import { type PlanRequest, Router, type RouterOptions } from "../../src/router/Router.ts"
import { FIGURES_LIFE_MS } from "../../src/router/MeasuredCandidates.ts"
import { EXPLORATION_SHARE } from "../../src/router/Strategy.ts"
import { layerOf, syntheticCatalogue } from "../support/SyntheticCatalogue.ts"

const sceneOf = <E>(catalogue: Layer.Layer<Catalogue, E>, options: RouterOptions = { latencyHedge: false }) =>
  Effect.gen(function* () {
    const context = yield* Layer.build(
      Router.layerFrom(options).pipe(Layer.provideMerge(Layer.mergeAll(catalogue, LiveFigures.layerMemory)))
    )
    return yield* Effect.all({ router: Router, catalogue: Catalogue, live: LiveFigures }).pipe(Effect.provide(context))
  })

const scene = (options: { readonly sandbox: boolean; readonly keyed?: ReadonlyArray<string> }) =>
  sceneOf(Catalogue.layerFrom({ sandbox: options.sandbox, keyed: new Set(options.keyed), hosts: [] }))

const inventedCatalogue = syntheticCatalogue({
  m: [{ id: "a" }, { id: "b", unsupported: ["vision"] }, { id: "c" }],
  n: [{ id: "a" }, { id: "b", unsupported: ["vision"] }]
})

const invented = sceneOf(layerOf(inventedCatalogue))

const seen = (model: string, provider: string) => ({ model, provider, ok: true, durationMs: 900, firstTokenMs: 300 })

const request = (
  models: ReadonlyArray<string>,
  policy: Partial<RoutingPolicy> = {},
  more: Partial<PlanRequest> = {}
): PlanRequest => ({
  models,
  policy: { ...defaultPolicy, ...policy },
  needs: { vision: false, tools: false, parameters: [] },
  stream: true,
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

  it.live("obeys only, ignore, order and allow_fallbacks", () =>
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

  it.effect("orders by price, and by measured time once there are enough samples", () =>
    Effect.gen(function* () {
      const { live, router } = yield* scene({ sandbox: true })
      const model = "meta-llama/llama-3.3-70b-instruct"
      const byCost = Result.getOrThrow(router.plan(request([model], { strategy: "cost" })))
      const costs = byCost.candidates.map(({ price }) =>
        Number(800n * price.tiers[0].rates.input + 256n * price.tiers[0].rates.output)
      )
      assert.isAbove(costs.length, 2)
      assert.deepStrictEqual(
        costs,
        costs.toSorted((a, b) => a - b)
      )
      const latency = () =>
        Result.getOrThrow(router.plan(request([model], { strategy: "latency" }))).candidates.map(
          ({ offer }) => offer.provider
        )
      const [first, second] = latency()
      const sample = (provider: string, firstTokenMs: number, ok = true) =>
        live.record({ model, provider, ok, durationMs: 500, firstTokenMs })
      for (let n = 0; n < 30; n++) sample(first!, 400)
      for (let n = 0; n < 30; n++) sample(second!, 100)
      assert.strictEqual(latency()[0], first)
      yield* TestClock.adjust(FIGURES_LIFE_MS)
      assert.strictEqual(latency()[0], second)
      for (let n = 0; n < 60; n++) sample(second!, 50, false)
      yield* TestClock.adjust(FIGURES_LIFE_MS)
      assert.strictEqual(latency().at(-1), second)
    }).pipe(Effect.scoped)
  )

  it.live("fails rather than break the data policy or a price limit", () =>
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

  it.live("names the capability that no model of the request has", () =>
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

  it.live("plans only available providers", () =>
    Effect.gen(function* () {
      const { router } = yield* scene({ sandbox: false, keyed: ["openai"] })
      assert.deepStrictEqual(who(Result.getOrThrow(router.plan(request(["gpt-4o-mini"])))), ["gpt-4o-mini@openai"])
      const none = Result.getOrThrow(Result.flip(router.plan(request(["claude-sonnet-4-5"]))))
      assert.strictEqual(none.reason._tag, "NoProviderAvailable")
    }).pipe(Effect.scoped)
  )

  it.effect("names the restrictions that exclude every provider", () =>
    Effect.gen(function* () {
      const { router } = yield* invented
      const detail = (policy: Partial<RoutingPolicy>, more: Partial<PlanRequest> = {}) => {
        const { reason } = Result.getOrThrow(Result.flip(router.plan(request(["m", "n"], policy, more))))
        return reason._tag === "NoProviderAvailable" ? reason.detail.split(": ")[1] : reason._tag
      }
      assert.strictEqual(detail({ only: ["x"] }), "of 5 candidates, providers.only excludes 5")
      assert.strictEqual(detail({ ignore: ["a", "b", "c"] }), "of 5 candidates, providers.ignore excludes 5")
      assert.strictEqual(detail({ dataPolicy: "zero_retention" }), "of 5 candidates, data_policy excludes 5")
      assert.strictEqual(detail({ maxPrice: { prompt: 0.5 } }), "of 5 candidates, max_price excludes 5")
      assert.strictEqual(
        detail({ requireParameters: true }, needing({ parameters: ["seed"] })),
        "of 5 candidates, require_parameters excludes 5"
      )
      // Providers that could not serve the request anyway do not count as excluded.
      assert.strictEqual(
        detail({ only: ["b"] }, needing({ vision: true })),
        "of 3 candidates, providers.only excludes 3"
      )
      assert.strictEqual(detail({ only: ["x"] }, { fits: () => false }), "ContextLengthExceeded")
    }).pipe(Effect.scoped)
  )

  it.effect("accepts provider names in any case", () =>
    Effect.gen(function* () {
      const { router } = yield* invented
      const plan = Result.getOrThrow(router.plan(request(["m"], { order: ["C"], ignore: ["A"] })))
      assert.deepStrictEqual(who(plan), ["m@c", "m@b"])
    }).pipe(Effect.scoped)
  )

  it.effect("compares prices at the size of the request", () =>
    Effect.gen(function* () {
      const catalogue = layerOf(
        syntheticCatalogue({
          m: [
            { id: "talker", prompt: 1, completion: 20 },
            { id: "reader", prompt: 4, completion: 4 }
          ]
        })
      )
      const { router } = yield* sceneOf(catalogue)
      const first = (more: Partial<PlanRequest>) =>
        Result.getOrThrow(router.plan(request(["m"], { strategy: "cost" }, more))).candidates[0].offer.provider
      assert.strictEqual(first({}), "reader")
      assert.strictEqual(first({ promptBound: 400_000 }), "talker")
      assert.strictEqual(first({ maxTokens: 10 }), "talker")
    }).pipe(Effect.scoped)
  )

  it.effect("explores in a small share of the requests that allow it", () =>
    Effect.gen(function* () {
      const { live, router } = yield* invented
      for (let n = 0; n < 30; n++) live.record(seen("m", "a"))
      const PLANS = 20_000
      const firsts = (policy: Partial<RoutingPolicy>, explores: boolean) => {
        const counts: Record<string, number> = {}
        for (let n = 0; n < PLANS; n++) {
          const { candidates } = Result.getOrThrow(router.plan(request(["m", "n"], policy, { explores })))
          const provider = candidates[0].offer.provider
          counts[provider] = (counts[provider] ?? 0) + 1
        }
        return counts
      }
      assert.deepStrictEqual(firsts({}, false), { a: PLANS })
      const { a = 0, b = 0, c = 0 } = firsts({}, true)
      assert.strictEqual(a + b + c, PLANS)
      for (const explored of [b, c]) {
        assert.approximately(explored, (PLANS * EXPLORATION_SHARE) / 2, (PLANS * EXPLORATION_SHARE) / 4)
      }
      assert.deepStrictEqual(firsts({ allowFallbacks: false }, true), { a: PLANS })
      assert.deepStrictEqual(firsts({ order: ["a"] }, true), { a: PLANS })
    }).pipe(Effect.scoped, Random.withSeed("exploring"))
  )

  it.effect("returns no hedge delay for streams with few samples, however many whole responses there are", () =>
    Effect.gen(function* () {
      const { live, router } = yield* sceneOf(layerOf(inventedCatalogue), { latencyHedge: true })
      for (let n = 0; n < 30; n++) live.record({ ...seen("m", "a"), firstTokenMs: n < 11 ? 300 : undefined })
      const delay = (stream: boolean) =>
        Result.getOrThrow(router.plan(request(["m"], { strategy: "latency" }, { stream }))).hedgeAfterMs
      assert.isUndefined(delay(true))
      assert.strictEqual(delay(false), live.performance("m", "a").p95Ms!)
      for (let n = 0; n < 9; n++) live.record(seen("m", "a"))
      yield* TestClock.adjust(FIGURES_LIFE_MS)
      assert.strictEqual(delay(true), live.performance("m", "a").p95TtftMs!)
    }).pipe(Effect.scoped)
  )

  it.effect("returns a hedge delay when hedging is enabled and useful", () =>
    Effect.gen(function* () {
      const hedged = yield* sceneOf(layerOf(inventedCatalogue), { latencyHedge: true })
      const { live } = hedged
      const delay = (policy: Partial<RoutingPolicy> = {}, router = hedged.router) =>
        Result.getOrThrow(router.plan(request(["m"], { strategy: "latency", ...policy }))).hedgeAfterMs
      assert.isUndefined(delay())
      for (let n = 0; n < 30; n++) live.record(seen("m", "a"))
      yield* TestClock.adjust(FIGURES_LIFE_MS)
      assert.strictEqual(delay(), live.performance("m", "a").p95TtftMs!)
      assert.isUndefined(delay({ strategy: "balanced" }))
      assert.isUndefined(delay({ allowFallbacks: false }))
      assert.isUndefined(delay({ only: ["a"] }))
      assert.isUndefined(delay({ order: ["b"] }))
      const whole = Result.getOrThrow(hedged.router.plan(request(["m"], { strategy: "latency" }, { stream: false })))
      assert.strictEqual(whole.hedgeAfterMs, live.performance("m", "a").p95Ms!)
      assert.isAbove(whole.hedgeAfterMs!, delay()!)
      const plain = yield* sceneOf(layerOf(inventedCatalogue))
      for (let n = 0; n < 30; n++) plain.live.record(seen("m", "a"))
      assert.isUndefined(delay({}, plain.router))
    }).pipe(Effect.scoped)
  )
})
