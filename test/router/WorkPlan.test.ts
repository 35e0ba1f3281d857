import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { Catalogue } from "../../src/catalogue/Catalogue.ts"
import { LiveFigures } from "../../src/catalogue/LiveFigures.ts"
import type { Reason } from "../../src/domain/Failure.ts"
import type { Modality } from "../../src/domain/Model.ts"
import { defaultPolicy, type RoutingPolicy } from "../../src/domain/Plan.ts"
import { Router } from "../../src/router/Router.ts"
import type { WorkPlanRequest } from "../../src/router/WorkPlan.ts"

const scene = (options: { readonly sandbox: boolean; readonly keyed?: ReadonlyArray<string> }) =>
  Effect.gen(function* () {
    const catalogue = Catalogue.layerFrom({ sandbox: options.sandbox, keyed: new Set(options.keyed), hosts: [] })
    const context = yield* Layer.build(
      Router.layer.pipe(Layer.provideMerge(Layer.mergeAll(catalogue, LiveFigures.layerMemory)))
    )
    const { planWork } = yield* Router.pipe(Effect.provide(context))
    const plan = (
      model: string,
      modality: Modality,
      policy: Partial<RoutingPolicy> = {},
      more: Partial<WorkPlanRequest> = {}
    ) => planWork({ models: [model], modality, policy: { ...defaultPolicy, ...policy }, ...more })
    return {
      catalogue: yield* Catalogue.pipe(Effect.provide(context)),
      who: (...asked: Parameters<typeof plan>) =>
        Result.getOrThrow(plan(...asked)).candidates.map(({ offer }) => offer.provider),
      why: (...asked: Parameters<typeof plan>) => Result.getOrThrow(Result.flip(plan(...asked))).reason,
      plan
    }
  })

const EMBEDDING = "text-embedding-3-small"

describe("planWork", () => {
  it.live("skips providers without a price for this many pixels, and says so when none is left", () =>
    Effect.gen(function* () {
      const { who, why } = yield* scene({ sandbox: true })
      for (const model of ["flux-dev", "flux-schnell", "flux-1.1-pro"]) {
        assert.deepStrictEqual(who(model, "image", {}, { pixels: 1_024 * 1_024 }), ["fal"])
        assert.deepStrictEqual(who(model, "image"), ["fal"])
        assert.deepStrictEqual(why(model, "image", {}, { pixels: 1_024 * 1_024 + 1 }), {
          _tag: "ValidationError",
          problems: [{ field: "size", message: `must have at most 1048576 pixels for ${model}` }]
        })
      }
      assert.deepStrictEqual(who("imagen-4", "image", {}, { pixels: 3_840 * 2_160 }), ["fal"])
      assert.deepStrictEqual(who("flux-dev", "image", { maxPrice: { image: 0.025 } }), ["fal"])
      assert.strictEqual(why("flux-dev", "image", { maxPrice: { image: 0.024 } })?._tag, "NoProviderAvailable")
    }).pipe(Effect.scoped)
  )

  it.live("plans all providers that offer the model at a price, in the catalogue's order", () =>
    Effect.gen(function* () {
      const { catalogue, plan, who } = yield* scene({ sandbox: true })
      const offers = catalogue.find(EMBEDDING)!.offers.filter(({ price }) => price !== undefined)
      assert.isAbove(offers.length, 1)
      assert.deepStrictEqual(
        who(EMBEDDING, "embedding"),
        offers.map(({ provider }) => provider)
      )
      for (const model of catalogue.all.filter(({ modality }) => modality !== "text")) {
        const planned = plan(model.id, model.modality)
        assert.strictEqual(Result.isSuccess(planned), catalogue.isServable(model), model.id)
      }
    }).pipe(Effect.scoped)
  )

  it.live("plans only available providers", () =>
    Effect.gen(function* () {
      const { who, why } = yield* scene({ sandbox: false, keyed: ["openai"] })
      assert.deepStrictEqual(who(EMBEDDING, "embedding"), ["openai"])
      assert.deepStrictEqual(why("rerank-2.5", "rerank"), {
        _tag: "NoProviderAvailable",
        detail: "No provider serves rerank-2.5 at present"
      })
    }).pipe(Effect.scoped)
  )

  it.live("obeys only, ignore, order and allow_fallbacks", () =>
    Effect.gen(function* () {
      const { who } = yield* scene({ sandbox: true })
      const [first, second] = who(EMBEDDING, "embedding")
      assert.deepStrictEqual(who(EMBEDDING, "embedding", { only: [second!.toUpperCase()] }), [second])
      assert.notInclude(who(EMBEDDING, "embedding", { ignore: [first!] }), first)
      assert.deepStrictEqual(who(EMBEDDING, "embedding", { order: [second!.toUpperCase()] }).slice(0, 2), [
        second,
        first
      ])
      assert.deepStrictEqual(who(EMBEDDING, "embedding", { allowFallbacks: false }), [first])
    }).pipe(Effect.scoped)
  )

  it.live("fails rather than break the data policy or a price limit, and names the restriction", () =>
    Effect.gen(function* () {
      const { why } = yield* scene({ sandbox: true })
      const left = (name: string): Reason => ({
        _tag: "NoProviderAvailable",
        detail: `No provider meets the routing restrictions of this request: of 1 candidate, ${name} excludes 1`
      })
      assert.deepStrictEqual(why("rerank-2.5", "rerank", { dataPolicy: "no_training" }), left("data_policy"))
      assert.deepStrictEqual(why("rerank-2.5", "rerank", { maxPrice: { prompt: 0.04 } }), left("max_price"))
      assert.deepStrictEqual(why("tavily-search", "search", { maxPrice: { request: 0.001 } }), left("max_price"))
    }).pipe(Effect.scoped)
  )

  it.live("accepts only models of the modality", () =>
    Effect.gen(function* () {
      const { why } = yield* scene({ sandbox: true })
      assert.deepStrictEqual(why("nothing", "embedding"), { _tag: "UnknownModel", model: "nothing" })
      assert.deepStrictEqual(why("rerank-2.5", "embedding"), {
        _tag: "UnknownModel",
        model: "rerank-2.5",
        detail: "rerank-2.5 is not an embedding model"
      })
      assert.deepStrictEqual(why(EMBEDDING, "audio"), {
        _tag: "UnknownModel",
        model: EMBEDDING,
        detail: `${EMBEDDING} is not a speech model`
      })
    }).pipe(Effect.scoped)
  )

  it.live("reports input that fits no context window as too long", () =>
    Effect.gen(function* () {
      const { who, why } = yield* scene({ sandbox: true })
      const long = { promptBound: 9_000, fits: (window: number) => window >= 9_000 }
      assert.deepStrictEqual(why(EMBEDDING, "embedding", {}, long), {
        _tag: "ContextLengthExceeded",
        tokens: 9_000,
        window: 8_192
      })
      assert.deepStrictEqual(who("voyage-4", "embedding", {}, long), ["voyage"])
    }).pipe(Effect.scoped)
  )
})
