import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Catalogue, type CatalogueOptions } from "../../src/catalogue/Catalogue.ts"
import { type Changes, noChanges } from "../../src/catalogue/Changes.ts"
import type { Model } from "../../src/domain/Model.ts"
import type { Host } from "../../src/platform/config/ProvidersFile.ts"
import { StartError } from "../../src/platform/config/Variables.ts"

const none: CatalogueOptions = { sandbox: false, keyed: new Set(), hosts: [] }

const host: Host = {
  id: "basement",
  name: "Basement",
  baseUrl: new URL("http://127.0.0.1:8000/v1"),
  apiKey: undefined,
  keyed: true,
  trainsOnData: false,
  zeroRetention: true,
  models: new Map([
    ["meta-llama/llama-3.3-70b-instruct", "llama3.3"],
    ["seedance-2.0", "video"]
  ])
}

const inputRate = (model: Model | undefined) => {
  const price = model?.offers[0]?.price
  return price?.unit === "token" ? price.tiers[0].rates.input : undefined
}

describe("Catalogue", () => {
  it.effect("applies a scheduled price change at its time, and leaves earlier snapshots unchanged", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse("2026-12-31T20:00:00Z"))
      const catalogue = yield* Catalogue
      const before = catalogue.current()
      assert.strictEqual(catalogue.current(), before)
      assert.strictEqual(inputRate(catalogue.find("gemini-3.6-flash")), 750_000n)
      yield* TestClock.adjust("4 hours")
      assert.strictEqual(inputRate(catalogue.find("gemini-3.6-flash")), 1_500_000n)
      assert.strictEqual(inputRate(before.find("gemini-3.6-flash")), 750_000n)
      assert.strictEqual(catalogue.all.length, before.all.length)
    }).pipe(Effect.provide(Catalogue.layerFrom(none)))
  )

  it.effect("adds a custom host's offers at the price of the model's first priced offer", () =>
    Effect.gen(function* () {
      const catalogue = yield* Catalogue
      const model = catalogue.find("meta-llama/llama-3.3-70b-instruct")
      assert.isDefined(model)
      const offer = model.offers.at(-1)
      assert.deepInclude(offer, { provider: "basement", upstreamId: "llama3.3", price: model.offers[0]?.price })
      assert.strictEqual(catalogue.provider("basement")?.serving, "real")
      assert.strictEqual(catalogue.provider("basement")?.zeroRetention, true)
      // No other provider has a key here.
      assert.strictEqual(catalogue.preferredOffer(model), offer)
      assert.isTrue(catalogue.isServable(model))
      assert.isTrue(offer !== undefined && catalogue.isOverlay(model, offer))
      assert.isFalse(catalogue.isServable(catalogue.find("gpt-4o") ?? model))
    }).pipe(Effect.provide(Catalogue.layerFrom({ ...none, hosts: [host] })))
  )

  it.effect("replaces a listed provider by a custom host with the same id, at that provider's price", () =>
    Effect.gen(function* () {
      const catalogue = yield* Catalogue
      const model = catalogue.find("meta-llama/llama-3.3-70b-instruct")
      const offers = model?.offers.filter((offer) => offer.provider === "together") ?? []
      assert.strictEqual(offers.length, 1)
      assert.strictEqual(offers[0]?.upstreamId, "llama3.3")
      const price = offers[0]?.price
      assert.strictEqual(price?.unit === "token" ? price.tiers[0].rates.input : undefined, 880_000n)
      assert.strictEqual(catalogue.provider("together")?.serving, "real")
    }).pipe(Effect.provide(Catalogue.layerFrom({ ...none, hosts: [{ ...host, id: "together" }] })))
  )

  it.effect("serves a host without a key by a double in the sandbox, and not at all elsewhere", () =>
    Effect.gen(function* () {
      const hosts = [{ ...host, keyed: false }]
      const closed = yield* Catalogue.pipe(Effect.provide(Catalogue.layerFrom({ ...none, hosts })))
      const open = yield* Catalogue.pipe(Effect.provide(Catalogue.layerFrom({ ...none, hosts, sandbox: true })))
      assert.strictEqual(closed.provider("basement")?.serving, "none")
      assert.strictEqual(open.provider("basement")?.serving, "double")
    })
  )

  it.effect("prefers an overlay price to the published price", () =>
    Effect.gen(function* () {
      const catalogue = yield* Catalogue
      const model = catalogue.find("gpt-4o")
      assert.strictEqual(inputRate(model), 7_000_000n)
      assert.isTrue(model?.offers[0] !== undefined && catalogue.isOverlay(model, model.offers[0]))
      assert.isFalse(catalogue.isServable(catalogue.find("tts-1") ?? assert.fail()))
    }).pipe(
      Effect.provide(
        Catalogue.layerFrom({
          ...none,
          sandbox: true,
          overlay: [
            {
              model: "gpt-4o",
              provider: "openai",
              unit: "token",
              inputUsdPerMillion: 7,
              outputUsdPerMillion: 8,
              source: "test"
            }
          ]
        })
      )
    )
  )

  const price = { model: "tts-1", provider: "openai", unit: "character", usd: 1, source: "test" } as const
  for (const [problem, overlay] of [
    ["no such model", [{ ...price, model: "tts-9" }]],
    ["no such provider", [{ ...price, provider: "nobody" }]],
    ["listed twice", [price, price]]
  ] as const) {
    it.effect(`rejects an overlay entry: ${problem}`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(Catalogue.pipe(Effect.provide(Catalogue.layerFrom({ ...none, overlay }))))
        assert.include(error.message, problem)
        assert.include(error.message, overlay[0].model)
      })
    )
  }
})

describe("the operator's changes", () => {
  /** Returns a source of changes that a test can replace. It fails to load while they are `undefined`. */
  const edited = (first: Changes | undefined) => {
    const state = { changes: first, version: 0, loads: 0 }
    const unreadable = new StartError({ message: "CATALOGUE_FILE x: is not valid JSON" })
    return {
      state,
      write: (changes: Changes | undefined) => {
        state.changes = changes
        state.version += 1
      },
      source: {
        load: Effect.suspend(() => {
          state.loads += 1
          return state.changes === undefined ? Effect.fail(unreadable) : Effect.succeed(state.changes)
        }),
        version: Effect.sync(() => String(state.version))
      }
    }
  }

  /** Sets the clock before the catalogue starts to poll the file. */
  const startingAt =
    (iso: string) =>
    <A, E>(test: Effect.Effect<A, E>) =>
      Effect.andThen(TestClock.setTime(Date.parse(iso)), test)

  const winter: Changes = {
    ...noChanges,
    promotions: [
      {
        model: "gpt-4o",
        label: "Winter",
        discountPercent: 25,
        startsAt: "2026-12-01T00:00:00Z",
        endsAt: "2026-12-01T00:10:00Z"
      }
    ]
  }

  it.effect("lower a price for exactly the period of a promotion, and leave earlier snapshots unchanged", () =>
    Effect.gen(function* () {
      const catalogue = yield* Catalogue
      assert.strictEqual(inputRate(catalogue.find("gpt-4o")), 2_500_000n)
      yield* TestClock.adjust("1 millis")
      const during = catalogue.current()
      assert.strictEqual(inputRate(catalogue.find("gpt-4o")), 1_875_000n)
      yield* TestClock.setTime(Date.parse("2026-12-01T00:09:59.999Z"))
      assert.strictEqual(inputRate(catalogue.find("gpt-4o")), 1_875_000n)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(inputRate(catalogue.find("gpt-4o")), 2_500_000n)
      assert.strictEqual(inputRate(during.find("gpt-4o")), 1_875_000n)
      assert.isUndefined(catalogue.find("gpt-4o")?.offers[0]?.promotion)
    }).pipe(
      Effect.provide(Catalogue.layerFrom({ ...none, changes: edited(winter).source })),
      startingAt("2026-11-30T23:59:59.999Z")
    )
  )

  it.effect("are reloaded when they change, and kept when the new version is invalid", () => {
    const { source, state, write } = edited(noChanges)
    return Effect.gen(function* () {
      const catalogue = yield* Catalogue
      const rate = () => inputRate(catalogue.find("gpt-4o"))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(state.loads, 1)
      write(winter)
      assert.strictEqual(rate(), 2_500_000n)
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(rate(), 1_875_000n)
      write(undefined)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(state.loads, 3)
      assert.strictEqual(rate(), 1_875_000n)
      write({ ...winter, statuses: [{ model: "gpt-4o", status: "retired" }] })
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(catalogue.find("gpt-4o")?.status, "retired")
      write(noChanges)
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(rate(), 2_500_000n)
      assert.strictEqual(catalogue.find("gpt-4o")?.status, "ga")
    }).pipe(Effect.provide(Catalogue.layerFrom({ ...none, changes: source })), startingAt("2026-12-01T00:00:01Z"))
  })

  it.effect("prevent the start when they are invalid", () =>
    Effect.gen(function* () {
      const layer = Catalogue.layerFrom({ ...none, changes: edited(undefined).source })
      const error = yield* Effect.flip(Catalogue.pipe(Effect.provide(layer)))
      assert.include(error.message, "CATALOGUE_FILE")
    })
  )
})
