import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { ModelDetail, ModelList, type ModelQuery } from "../../schemas/catalogue/Models.ts"
import { type Changes, noChanges } from "../../src/catalogue/Changes.ts"
import { type Performance, unknownPerformance } from "../../src/catalogue/LiveFigures.ts"
import { pageOf, select, toWire } from "../../src/catalogue/Listing.ts"
import { bundledOverlay } from "../../src/catalogue/Overlay.ts"
import { type Snapshot, snapshotAt } from "../../src/catalogue/Snapshot.ts"

const overlay = Effect.runSync(bundledOverlay)
const build = (keyed: ReadonlySet<string>, sandbox: boolean) =>
  snapshotAt({ sandbox, keyed, hosts: [], overlay, changes: noChanges }, Date.parse("2026-11-21T12:00:00Z")).snapshot
const snapshot = build(new Set(), true)

const known: Performance = {
  samples: 40,
  successRate: 0.975,
  p50Ms: 812,
  p95Ms: 2_900,
  medianTtftMs: 210,
  p95TtftMs: 640,
  streamed: 30,
  thin: false
}
const published = (performance: Performance) => {
  const { p95TtftMs: _, streamed: __, ...shown } = performance
  return shown
}
const live = { performance: (model: string) => (model === "gpt-4o" ? known : unknownPerformance) }
const wire = snapshot.all.map((model) => toWire(snapshot, live, model))
const shown = (id: string): ModelDetail => {
  const model = wire.find((one) => one.id === id)
  assert.isDefined(model, id)
  return model
}

describe("toWire", () => {
  it("returns a value that the schema encodes and decodes unchanged, for every model", () => {
    for (const model of wire) {
      const encoded: unknown = JSON.parse(JSON.stringify(Schema.encodeSync(ModelDetail)(model)))
      const decode = Schema.decodeUnknownSync(ModelDetail, { onExcessProperty: "error" })
      assert.deepStrictEqual(decode(encoded), model)
    }
    const list = pageOf(wire, {})
    assert.deepStrictEqual(Schema.encodeSync(ModelList)(list), list)
  })

  it("shows the rates of the preferred callable provider", () => {
    const { pricing, providers, overlay } = shown("claude-sonnet-4-5")
    assert.deepStrictEqual(pricing, {
      unit: "token",
      typicalRequestUsd: 0.0105,
      meteredPromptPerToken: 0.000003,
      meteredCachedPromptPerToken: 0.0000003,
      meteredCacheWritePromptPerToken: 0.00000375,
      meteredCompletionPerToken: 0.000015,
      perRequestUsd: 0,
      perUnitUsd: null,
      listPerUnitUsd: null,
      promotion: null,
      prompt: "0.000003",
      completion: "0.000015",
      request: "0",
      input_cache_read: "0.0000003",
      input_cache_write: "0.00000375"
    })
    assert.deepStrictEqual(
      providers.map((one) => one.role),
      ["primary", "fallback", "fallback", "fallback"]
    )
    assert.deepStrictEqual(overlay, { isOverlay: false, dispatch: "provider", overrideStatus: "none" })
    const hosted = build(new Set(["groq"]), false)
    const oss = hosted.find("openai/gpt-oss-120b") ?? assert.fail()
    assert.deepStrictEqual(
      toWire(hosted, live, oss).providers.flatMap((one) => (one.available ? [one.provider] : [])),
      ["groq"]
    )
  })

  it("names the first callable provider `primary`, or the first one when none is callable", () => {
    const primaries = (catalogue: Snapshot, id: string) =>
      toWire(catalogue, live, catalogue.find(id) ?? assert.fail()).providers.flatMap(({ provider, role }) =>
        role === "primary" ? [provider] : []
      )
    const [first = "", second = ""] = shown("gpt-4o-mini").providers.map(({ provider }) => provider)
    assert.deepStrictEqual(primaries(build(new Set([first, second]), false), "gpt-4o-mini"), [first])
    assert.deepStrictEqual(primaries(build(new Set([second]), false), "gpt-4o-mini"), [second])
    assert.deepStrictEqual(primaries(build(new Set(), false), "gpt-4o-mini"), [first])
  })

  it("shows null for prices that do not apply to the model's unit", () => {
    const unit = (id: string) => {
      const { unit, perUnitUsd, listPerUnitUsd, perRequestUsd, typicalRequestUsd, meteredPromptPerToken } =
        shown(id).pricing
      return { unit, perUnitUsd, listPerUnitUsd, perRequestUsd, typicalRequestUsd, meteredPromptPerToken }
    }
    const nothing = { meteredPromptPerToken: null, perRequestUsd: null }
    assert.deepStrictEqual(unit("flux-dev"), {
      ...nothing,
      unit: "image",
      perUnitUsd: 0.025,
      listPerUnitUsd: 0.025,
      typicalRequestUsd: 0.025
    })
    assert.deepStrictEqual(unit("seedance-2.0"), {
      ...nothing,
      unit: "second",
      perUnitUsd: 0.3024,
      listPerUnitUsd: 0.3024,
      typicalRequestUsd: 1.512
    })
    assert.deepStrictEqual(unit("tavily-search"), {
      ...nothing,
      unit: "request",
      perUnitUsd: 0.008,
      listPerUnitUsd: 0.008,
      perRequestUsd: 0.008,
      typicalRequestUsd: 0.008
    })
    const { meteredCompletionPerToken, meteredPromptPerToken } = shown("text-embedding-3-small").pricing
    assert.deepStrictEqual([meteredPromptPerToken, meteredCompletionPerToken], [0.00000002, null])
    assert.isNull(shown("svc/auto").pricing.typicalRequestUsd)
    assert.strictEqual(shown("svc/auto").overlay.dispatch, "router")
    assert.deepStrictEqual(shown("tts-1").overlay, {
      isOverlay: true,
      dispatch: "provider",
      overrideStatus: "price"
    })
  })

  it("shows a promotion, the list price, and what the operator set", () => {
    const winter = {
      label: "Winter",
      discountPercent: 20,
      startsAt: "2026-11-01T00:00:00.000Z",
      endsAt: "2027-01-01T00:00:00.000Z"
    }
    const changes: Changes = {
      prices: [
        {
          model: "claude-haiku-4-5",
          provider: "anthropic",
          unit: "token",
          inputUsdPerMillion: 2,
          outputUsdPerMillion: 4,
          source: "test",
          startsAt: "2026-11-10"
        },
        { model: "flux-dev", provider: "fal", unit: "image", usd: 0.03, source: "test", startsAt: "2026-11-11" }
      ],
      costs: [],
      statuses: [
        { model: "claude-haiku-4-5", status: "deprecated", startsAt: "2026-11-12" },
        { model: "o3", status: "preview" }
      ],
      promotions: ["claude-haiku-4-5", "flux-dev", "sonar-pro"].map((model) => ({ model, ...winter })),
      history: [{ model: "o3", event: "weights_updated", date: "2026-11-01", provider: "azure", detail: "a note" }]
    }
    const options = { sandbox: true, keyed: new Set<string>(), hosts: [], overlay, changes }
    const promoted = snapshotAt(options, Date.parse("2026-11-21T12:00:00Z")).snapshot
    const wire = (id: string) => toWire(promoted, live, promoted.find(id) ?? assert.fail(id))
    const haiku = wire("claude-haiku-4-5")
    assert.deepInclude(haiku.pricing, {
      meteredPromptPerToken: 0.0000016,
      meteredCompletionPerToken: 0.0000032,
      typicalRequestUsd: 0.0032,
      perUnitUsd: null,
      listPerUnitUsd: 0.000002
    })
    assert.deepStrictEqual(haiku.pricing.promotion, winter)
    assert.deepStrictEqual(haiku.overlay, { isOverlay: true, dispatch: "provider", overrideStatus: "price_and_status" })
    const started = { event: "promotion_started", date: "2026-11-01", detail: "Winter: 20 % off" }
    assert.deepStrictEqual(haiku.history.slice(1), [
      started,
      {
        event: "price_changed",
        date: "2026-11-10",
        provider: "anthropic",
        meteredPromptPerToken: 0.000002,
        meteredCompletionPerToken: 0.000004
      },
      { event: "deprecated", date: "2026-11-12" }
    ])
    const flux = wire("flux-dev")
    assert.deepInclude(flux.pricing, { perUnitUsd: 0.024, listPerUnitUsd: 0.03, typicalRequestUsd: 0.024 })
    assert.deepStrictEqual(flux.history.slice(1), [
      started,
      { event: "price_changed", date: "2026-11-11", provider: "fal", perUnitUsd: 0.03 }
    ])
    // The fixed part of a price is lowered like every other.
    assert.strictEqual(wire("sonar-pro").pricing.perRequestUsd, 0.0112)
    assert.deepStrictEqual([wire("o3").overlay.overrideStatus, wire("o3").status], ["status", "preview"])
    assert.deepInclude(wire("o3").history, {
      event: "weights_updated",
      date: "2026-11-01",
      provider: "azure",
      detail: "a note"
    })
    for (const id of ["claude-haiku-4-5", "flux-dev", "o3"]) {
      Schema.decodeUnknownSync(ModelDetail, { onExcessProperty: "error" })(JSON.parse(JSON.stringify(wire(id))))
    }
  })

  it("shows the live performance of each provider", () => {
    assert.deepStrictEqual(shown("gpt-4o").providers[0]?.performance, published(known))
    assert.deepStrictEqual(shown("gpt-4o-mini").providers[0]?.performance, published(unknownPerformance))
  })
})

describe("select", () => {
  const ids = (query: ModelQuery) => select(wire, query).map((model) => model.id)

  it("returns all models in order without a query", () => {
    assert.deepStrictEqual(select(wire, {}), wire)
  })

  it("filters by modality and provider", () => {
    assert.deepStrictEqual(ids({ modality: "rerank" }), ["rerank-2.5", "rerank-2.5-lite"])
    assert.sameMembers([...ids({ provider: "tavily" })], ["tavily-search", "tavily-search-advanced"])
    assert.deepStrictEqual(ids({ modality: "rerank", provider: "tavily" }), [])
  })

  it("filters by zero retention", () => {
    const kept = ids({ zdr: true })
    assert.include(kept, "claude-haiku-4-5")
    assert.notInclude(kept, "gpt-4o-mini")
    assert.strictEqual(ids({ zdr: false }).length, wire.length)
  })

  it("counts only callable providers, and requires one provider to match both `provider` and `zdr`", () => {
    const here = build(new Set(["openai", "anthropic"]), false)
    const models = here.all.map((model) => toWire(here, live, model))
    const found = (query: ModelQuery) => select(models, query).map((model) => model.id)
    assert.include(found({ provider: "openai" }), "gpt-4o-mini")
    assert.deepStrictEqual(found({ provider: "tavily" }), [])
    assert.deepStrictEqual(found({ zdr: true }), [], "neither OpenAI nor Anthropic has zero retention")
    assert.include(ids({ provider: "bedrock", zdr: true }), "claude-haiku-4-5")
    assert.include(ids({ provider: "anthropic" }), "claude-haiku-4-5")
    assert.deepStrictEqual(ids({ provider: "anthropic", zdr: true }), [])
  })

  it("keeps only models that support all given parameters", () => {
    const kept = select(wire, { supported_parameters: "tools, reasoning" })
    assert.isAbove(kept.length, 30)
    for (const model of kept) assert.includeMembers([...model.supportedParameters], ["tools", "reasoning"])
    assert.notInclude(ids({ supported_parameters: "tools,reasoning" }), "gpt-4o")
    assert.deepStrictEqual(ids({ supported_parameters: "telepathy" }), [])
  })

  it("filters by the prompt price, up to and including the limit", () => {
    const kept = select(wire, { max_price: 0.15 })
    assert.include(
      kept.map((model) => model.id),
      "gpt-4o-mini"
    )
    for (const { id, pricing } of kept) assert.isAtMost((pricing.meteredPromptPerToken ?? 1) * 1e6, 0.1500001, id)
    assert.notInclude(ids({ max_price: 0.1499 }), "gpt-4o-mini")
    assert.notInclude(ids({ max_price: 1_000 }), "flux-dev")
  })

  it("finds models with all words of `q`, in any case and order", () => {
    assert.deepStrictEqual(ids({ q: "GPT-4o MINI" }), ["gpt-4o-mini"])
    assert.deepStrictEqual(ids({ q: "mini gpt-4o" }), ["gpt-4o-mini"])
    assert.include(ids({ q: "reranker" }), "rerank-2.5")
    assert.deepStrictEqual(ids({ q: "no such thing anywhere" }), [])
  })

  it("sorts by price, creation, context window and name, with unpriced models last", () => {
    const prices = (sort: "price" | "-price") => select(wire, { sort }).map((model) => model.pricing.typicalRequestUsd)
    const cheapest = prices("price")
    assert.isNull(cheapest.at(-1))
    const known = cheapest.filter((price) => price !== null)
    assert.deepStrictEqual(
      known,
      known.toSorted((a, b) => a - b)
    )
    const dearest = prices("-price")
    assert.isNull(dearest.at(-1))
    assert.deepStrictEqual(
      dearest.filter((price) => price !== null),
      known.toReversed()
    )
    const created = select(wire, { sort: "created" }).map((model) => model.created)
    assert.deepStrictEqual(
      created,
      created.toSorted((a, b) => a - b)
    )
    const newest = select(wire, { sort: "-created" }).map((model) => model.created)
    assert.deepStrictEqual(newest, created.toReversed())
    const windows = select(wire, { sort: "context" }).map((model) => model.contextWindow)
    assert.deepStrictEqual(
      windows,
      windows.toSorted((a, b) => b - a)
    )
    const names = select(wire, { sort: "name" }).map((model) => model.name.toLowerCase())
    assert.deepStrictEqual(names, names.toSorted())
    assert.strictEqual(names.length, wire.length)
  })
})
