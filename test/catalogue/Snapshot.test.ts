import { calcPrice } from "@pydantic/genai-prices"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Changes, noChanges } from "../../src/catalogue/Changes.ts"
import { entries } from "../../src/catalogue/models.ts"
import { bundledOverlay } from "../../src/catalogue/Overlay.ts"
import { listedProviders } from "../../src/catalogue/Providers.ts"
import { type Snapshot, snapshotAt } from "../../src/catalogue/Snapshot.ts"
import type { Model, Offer } from "../../src/domain/Model.ts"
import { usdFromNano, usdFromPico } from "../../src/domain/Money.ts"
import { maximumCost, tokenCost, type TokenPrice } from "../../src/domain/Pricing.ts"
import type { Host } from "../../src/platform/config/ProvidersFile.ts"
import { promptTokens, type TokenUsage } from "../../src/domain/Usage.ts"

const overlay = Effect.runSync(bundledOverlay)
const everyone = new Set(listedProviders.map((provider) => provider.id))
const at = (
  iso: string,
  options: {
    sandbox?: boolean
    keyed?: ReadonlySet<string>
    changes?: Partial<Changes>
    hosts?: ReadonlyArray<Host>
  } = {}
) =>
  snapshotAt(
    {
      sandbox: options.sandbox ?? false,
      keyed: options.keyed ?? everyone,
      hosts: options.hosts ?? [],
      overlay,
      changes: { ...noChanges, ...options.changes }
    },
    Date.parse(iso)
  )

const now = "2026-11-21T12:00:00Z"
const { snapshot } = at(now)
const texts = snapshot.all.filter((model) => model.modality === "text")
const pricedAs = new Map(listedProviders.map((provider) => [provider.id, provider.pricedAs]))

const tokenOffers = (snapshot: Snapshot): ReadonlyArray<readonly [Model, Offer, TokenPrice]> =>
  snapshot.all.flatMap((model) =>
    model.offers.flatMap((offer) => (offer.price?.unit === "token" ? [[model, offer, offer.price] as const] : []))
  )

const found = (id: string): Model => {
  const model = snapshot.find(id)
  assert.isDefined(model, id)
  return model
}

describe("the list of models", () => {
  it("has at least 60 servable text models of at least 8 vendors", () => {
    const servable = texts.filter(snapshot.isServable)
    assert.isAtLeast(servable.length, 60)
    assert.isAtLeast(new Set(servable.map((model) => model.vendor)).size, 8)
  })

  it("has the models that the API contract names", () => {
    const named = {
      "text-embedding-3-small": "embedding",
      "voyage-4-large": "embedding",
      "rerank-2.5": "rerank",
      "rerank-2.5-lite": "rerank",
      "tts-1": "audio",
      "tts-1-hd": "audio"
    }
    for (const [id, modality] of Object.entries(named)) {
      assert.strictEqual(found(id).modality, modality)
      assert.isTrue(snapshot.isServable(found(id)), id)
    }
    const auto = found("svc/auto")
    assert.deepStrictEqual(
      [auto.modality, auto.status, auto.virtual, auto.offers.length, snapshot.isServable(auto)],
      ["text", "preview", true, 0, true]
    )
  })

  it("has a servable model of every modality, and a video model that accepts references", () => {
    for (const modality of ["image", "image_edit", "video", "search", "audio", "embedding", "rerank"] as const) {
      assert.isTrue(
        snapshot.all.some((model) => model.modality === modality && snapshot.isServable(model)),
        modality
      )
    }
    const referencing = snapshot.all.filter((model) => model.capabilities.includes("reference_media"))
    assert.isAtLeast(referencing.length, 1)
    for (const model of referencing) {
      assert.strictEqual(model.modality, "video")
      assert.includeMembers([...model.supportedParameters], ["reference_images", "reference_video"])
    }
  })

  it("lists `parallel_tool_calls` for every model with tools, except for OpenAI's o series", () => {
    for (const { capabilities, id, modality, supportedParameters, virtual } of snapshot.all) {
      if (modality !== "text" || virtual) continue
      const told = capabilities.includes("tools") && !/^o\d/.test(id)
      assert.strictEqual(supportedParameters.includes("parallel_tool_calls"), told, id)
    }
  })

  it("has the limits of every video model, and one that takes four reference images and a reference video", () => {
    const videos = snapshot.all.filter((model) => model.modality === "video")
    for (const { capabilities, id, video } of videos) {
      assert.isDefined(video, id)
      const { aspectRatios, durations, referenceImages, referenceVideo } = video!
      assert.deepStrictEqual(
        [...durations],
        [...new Set(durations)].toSorted((a, b) => a - b)
      )
      assert.isTrue(durations.length > 0 && durations.every((seconds) => seconds >= 4 && seconds <= 15), id)
      assert.includeMembers(["16:9", "9:16"], [...aspectRatios])
      assert.strictEqual(capabilities.includes("reference_media"), referenceImages > 0 || referenceVideo)
    }
    const takers = videos.filter(({ video }) => video?.referenceImages === 4 && video.referenceVideo)
    assert.lengthOf(takers, 1)
    // The host's model for references does not accept a first image.
    assert.isFalse(takers[0]?.video?.imageWithReferences)
    assert.isTrue(snapshot.all.every(({ modality, video }) => modality === "video" || video === undefined))
    const grok = snapshot.find("grok-imagine-video")
    assert.deepStrictEqual(grok?.offers[0]?.price, { unit: "second", perUnit: 70_000_000_000n })
    assert.strictEqual(grok?.offers[0]?.provider, "xai")
  })

  it("has unique ids of 1 to 160 characters that cannot be confused with a chain or a preset", () => {
    assert.strictEqual(new Set(snapshot.all.map((model) => model.id)).size, snapshot.all.length)
    for (const { id } of snapshot.all) {
      assert.isAtMost(id.length, 160)
      assert.match(id, /^[a-z0-9][a-z0-9._-]*(\/[a-z0-9][a-z0-9._-]*)?$/)
    }
  })

  it("names only listed providers, each once per model", () => {
    for (const model of snapshot.all) {
      const names = model.offers.map((offer) => offer.provider)
      assert.strictEqual(new Set(names).size, names.length, model.id)
      for (const name of names) assert.isDefined(snapshot.provider(name), `${model.id} at ${name}`)
    }
  })

  it("offers more than half of the text models at several providers", () => {
    const several = texts.filter((model) => model.offers.filter((offer) => offer.price !== undefined).length > 1)
    assert.isAbove(several.length, texts.length / 2)
  })

  it("has plausible limits and dates", () => {
    for (const model of snapshot.all) {
      assert.isAbove(model.created, Date.parse("2022-01-01") / 1_000, model.id)
      assert.isAtMost(model.created, Date.parse(now) / 1_000, model.id)
      assert.isNotEmpty(model.description)
      if (model.modality !== "text") continue
      assert.isAbove(model.maxOutputTokens, 0, model.id)
      for (const offer of model.offers) {
        assert.isAtMost(offer.contextWindow, model.contextWindow, `${model.id} at ${offer.provider}`)
        assert.isAtMost(offer.maxOutputTokens, offer.contextWindow, `${model.id} at ${offer.provider}`)
      }
    }
  })

  it("assumes that every reasoning model hides its reasoning", () => {
    for (const id of ["o3", "gpt-5-mini", "gemini-2.5-flash", "grok-4.6", "deepseek-r1", "claude-opus-5-5"]) {
      assert.isTrue(found(id).hiddenReasoning, id)
    }
    for (const id of ["gpt-4o-mini", "gpt-4.1", "meta-llama/llama-3.3-70b-instruct", "codestral-2508"]) {
      assert.isFalse(found(id).hiddenReasoning, id)
    }
  })
})

describe("prices", () => {
  it("exist for every listing", () => {
    const unpriced = snapshot.all.flatMap((model) =>
      model.offers.filter((offer) => offer.price === undefined).map((offer) => `${model.id} at ${offer.provider}`)
    )
    assert.deepStrictEqual(unpriced, [])
  })

  it("are positive and below 1,000 USD per million tokens, and a cached token never costs more than a fresh one", () => {
    for (const [model, offer, price] of tokenOffers(snapshot)) {
      const place = `${model.id} at ${offer.provider}`
      for (const { rates } of price.tiers) {
        for (const rate of [rates.input, rates.cached, rates.cacheWrite]) {
          assert.isAbove(usdFromPico(rate), 0, place)
          assert.isBelow(usdFromPico(rate) * 1e6, 1_000, place)
        }
        assert.isAtMost(usdFromPico(rates.cached), usdFromPico(rates.input), place)
        assert.isBelow(usdFromPico(rates.output) * 1e6, 1_000, place)
        if (model.modality === "text") assert.isAbove(usdFromPico(rates.output), 0, place)
      }
      const thresholds = price.tiers.map((tier) => tier.abovePromptTokens)
      assert.strictEqual(thresholds[0], 0, place)
      assert.deepStrictEqual(
        thresholds,
        thresholds.toSorted((a, b) => a - b),
        place
      )
    }
  })

  /** Returns usages on both sides of every tier of a price, with and without cached and written tokens. */
  const usagesFor = (price: TokenPrice): ReadonlyArray<TokenUsage> =>
    [1_000, ...price.tiers.slice(1).flatMap(({ abovePromptTokens: edge }) => [edge, edge + 1, edge + 50_000])].flatMap(
      (prompt) => [
        { input: prompt, cached: 0, cacheWrite: 0, output: 777, reasoning: 0 },
        { input: prompt - 700, cached: 400, cacheWrite: 300, output: 1, reasoning: 0 }
      ]
    )

  // Midday, both peaks of DeepSeek's day, and after the announced changes of January 2027.
  for (const moment of [now, "2026-11-21T02:30:00Z", "2026-11-21T06:00:00Z", "2027-02-01T20:00:00Z"]) {
    it(`give the same cost as the published list's own calculation at ${moment}`, () => {
      let compared = 0
      for (const [model, offer, price] of tokenOffers(at(moment).snapshot)) {
        const list = pricedAs.get(offer.provider)
        if (list === undefined || overlay.some((one) => one.model === model.id)) continue
        for (const usage of usagesFor(price)) {
          const theirs = calcPrice(
            {
              input_tokens: promptTokens(usage),
              cache_read_tokens: usage.cached,
              cache_write_tokens: usage.cacheWrite,
              output_tokens: model.modality === "text" ? usage.output : 0
            },
            offer.upstreamId,
            { providerId: list, timestamp: new Date(moment) }
          )
          const ours = usdFromNano(tokenCost(price, model.modality === "text" ? usage : { ...usage, output: 0 }))
          assert.isNotNull(theirs)
          assert.approximately(ours, theirs.total_price, 1.001e-9, `${model.id} at ${offer.provider}`)
          compared += 1
        }
      }
      assert.isAbove(compared, 600)
    })
  }

  it("have Anthropic's rate for cache writes, and a hold covers a prompt that is written to the cache in full", () => {
    let checked = 0
    for (const [model, offer, price] of tokenOffers(snapshot)) {
      const caches = model.capabilities.includes("prompt_caching") && !offer.unsupported.includes("prompt_caching")
      if (offer.provider !== "anthropic" || !caches) continue
      for (const { abovePromptTokens, rates } of price.tiers) {
        assert.strictEqual(rates.cacheWrite * 4n, rates.input * 5n, model.id)
        const prompt = abovePromptTokens + 1_000
        const written = { input: 0, cached: 0, cacheWrite: prompt, output: 777, reasoning: 0 }
        assert.isTrue(maximumCost(price, prompt, 777) >= tokenCost(price, written), model.id)
        assert.isTrue(tokenCost(price, written) > tokenCost(price, { ...written, input: prompt, cacheWrite: 0 }))
      }
      checked += 1
    }
    assert.isAbove(checked, 10)
  })

  it("in other units come from the overlay", () => {
    for (const model of snapshot.all) {
      for (const offer of model.offers) {
        if (offer.price?.unit === "token") continue
        assert.isTrue(snapshot.isOverlay(model, offer), model.id)
        assert.isAbove(Number(offer.price?.perUnit), 0, model.id)
      }
    }
    assert.deepStrictEqual(found("tts-1").offers[0]?.price, { unit: "character", perUnit: 15_000_000n })
    assert.deepStrictEqual(found("seedance-2.0").offers[0]?.price, { unit: "second", perUnit: 302_400_000_000n })
  })

  it("change at the times in the published list, and the snapshot is valid until the next one", () => {
    const input = (dated: { readonly snapshot: Snapshot }, id: string) => {
      const price = dated.snapshot.find(id)?.offers[0]?.price
      return price?.unit === "token" ? Number(price.tiers[0].rates.input) : undefined
    }
    const morning = at("2026-11-21T00:59:59Z")
    assert.strictEqual(morning.until, Date.parse("2026-11-21T01:00:00Z"))
    const peak = at("2026-11-21T01:00:00Z")
    assert.strictEqual(peak.until, Date.parse("2026-11-21T04:00:00Z"))
    assert.strictEqual(input(morning, "deepseek-v4-flash"), 220_000)
    assert.strictEqual(input(peak, "deepseek-v4-flash"), 440_000)
    const evening = at("2026-12-31T20:00:00Z")
    assert.strictEqual(evening.until, Date.parse("2027-01-01T00:00:00Z"))
    assert.strictEqual(input(evening, "gemini-3.6-flash"), 750_000)
    assert.strictEqual(input(at("2027-01-01T00:00:00Z"), "gemini-3.6-flash"), 1_500_000)
  })

  it("include the fixed price per request", () => {
    const price = found("sonar-pro").offers[0]?.price
    assert.strictEqual(price?.unit === "token" ? price.perRequest : undefined, 14_000_000_000n)
    assert.include(found("sonar-pro").pricingNote, "fixed price")
  })

  it("determine which models and offers support prompt caching", () => {
    const model = found("gpt-4o")
    assert.include(model.capabilities, "prompt_caching")
    const missing = model.offers.filter((offer) => offer.unsupported.includes("prompt_caching"))
    assert.deepStrictEqual(
      missing.map((offer) => offer.provider),
      ["openrouter"]
    )
    assert.notInclude(found("command-a").capabilities, "prompt_caching")
  })
})

describe("serving", () => {
  it("is `real` with a key, else `double` in the sandbox and `none` elsewhere", () => {
    const keyed = new Set(["openai"])
    const sandbox = at(now, { sandbox: true, keyed }).snapshot
    assert.strictEqual(sandbox.provider("openai")?.serving, "real")
    assert.strictEqual(sandbox.provider("anthropic")?.serving, "double")
    const live = at(now, { sandbox: false, keyed }).snapshot
    assert.strictEqual(live.provider("anthropic")?.serving, "none")
    assert.isTrue(live.isServable(found("gpt-4o-mini")))
    assert.isFalse(live.isServable(found("claude-haiku-4-5")))
    assert.isUndefined(live.provider("nobody"))
    assert.isUndefined(live.find("nothing"))
  })

  it("prefers the first callable offer, or the first offer when none is callable", () => {
    const model = found("gpt-4o-mini")
    const live = at(now, { keyed: new Set(["azure", "openrouter"]) }).snapshot
    assert.strictEqual(live.preferredOffer(model)?.provider, "azure")
    const nobody = at(now, { keyed: new Set() }).snapshot
    assert.strictEqual(nobody.preferredOffer(model)?.provider, "openai")
    assert.isFalse(nobody.isServable(model))
  })
})

describe("the operator's changes", () => {
  const input = (offer: Offer | undefined) => (offer?.price?.unit === "token" ? offer.price.tiers[0].rates.input : 0n)
  const offersOf = (snapshot: Snapshot, id: string) =>
    new Map(snapshot.find(id)?.offers.map((offer) => [offer.provider, offer]))
  const winter = { label: "Winter", discountPercent: 10, startsAt: "2026-12-01", endsAt: "2026-12-24T18:00:00Z" }
  const promotions = [
    { model: "gpt-4o", ...winter },
    { model: "gpt-4o", provider: "azure", ...winter, label: "Azure", discountPercent: 40 }
  ]

  it("lower the price at every provider or at one, and keep the list price", () => {
    const before = offersOf(snapshot, "gpt-4o")
    const during = offersOf(at("2026-12-05T00:00:00Z", { changes: { promotions } }).snapshot, "gpt-4o")
    assert.isAbove(during.size, 2)
    for (const [provider, offer] of during) {
      const percent = provider === "azure" ? 40n : 10n
      assert.strictEqual(input(offer), (input(before.get(provider)) * (100n - percent)) / 100n, provider)
      assert.deepStrictEqual(offer.promotion?.listPrice, before.get(provider)?.price)
      assert.strictEqual(offer.promotion?.now.label, provider === "azure" ? "Azure" : "Winter")
    }
    assert.deepStrictEqual(
      offersOf(at("2026-12-05T00:00:00Z", { changes: { promotions } }).snapshot, "o3"),
      offersOf(snapshot, "o3")
    )
  })

  it("end the validity of the snapshot when a promotion begins or ends", () => {
    const until = (iso: string) => {
      // Hourly prices change several times a day, so this returns only the promotion's own times.
      const ends = [at(iso, { changes: { promotions } }).until, at(iso).until]
      return ends[0] === ends[1] ? undefined : new Date(ends[0]!).toISOString()
    }
    assert.strictEqual(until("2026-11-30T23:59:59.999Z"), "2026-12-01T00:00:00.000Z")
    assert.strictEqual(until("2026-12-24T17:59:59.999Z"), "2026-12-24T18:00:00.000Z")
    assert.isUndefined(until("2026-12-24T18:00:00Z"))
  })

  it("set the price of a custom host, and discount it only by its own promotions", () => {
    const id = "meta-llama/llama-3.3-70b-instruct"
    const host: Host = {
      id: "basement",
      name: "Basement",
      baseUrl: new URL("http://127.0.0.1:8000/v1"),
      apiKey: undefined,
      keyed: true,
      trainsOnData: false,
      zeroRetention: true,
      models: new Map([[id, "llama3.3"]])
    }
    const first = snapshot.find(id)?.offers[0] ?? assert.fail()
    const one = { model: id, provider: first.provider, ...winter }
    const moment = "2026-12-05T00:00:00Z"
    const stood = offersOf(at(moment, { hosts: [host], changes: { promotions: [one] } }).snapshot, id)
    assert.strictEqual(input(stood.get("basement")), input(first))
    assert.isBelow(Number(input(stood.get(first.provider))), Number(input(first)))
    const price = { model: id, provider: "basement", unit: "token", source: "test" } as const
    const changes: Partial<Changes> = {
      prices: [{ ...price, inputUsdPerMillion: 1, outputUsdPerMillion: 2 }],
      promotions: [{ ...one, provider: "basement" }]
    }
    const priced = at(moment, { hosts: [host], changes }).snapshot
    assert.strictEqual(input(offersOf(priced, id).get("basement")), 900_000n)
    assert.strictEqual(input(offersOf(priced, id).get(first.provider)), input(first))
  })

  it("keep the published limits of an offer when they change its price", () => {
    const price = { unit: "token", inputUsdPerMillion: 1, outputUsdPerMillion: 2, source: "test" } as const
    for (const model of texts) {
      const prices = model.offers.map(({ provider }) => ({ ...price, model: model.id, provider }))
      const changed = offersOf(at(now, { changes: { prices } }).snapshot, model.id)
      for (const { contextWindow, maxOutputTokens, provider } of model.offers) {
        assert.deepInclude(changed.get(provider), { contextWindow, maxOutputTokens }, `${model.id} at ${provider}`)
      }
    }
  })

  it("set a status: a retired model is not servable from its day on", () => {
    const changes = { statuses: [{ model: "gpt-4o", status: "retired", startsAt: "2026-12-01" } as const] }
    const before = at("2026-11-30T23:59:59.999Z", { changes })
    assert.isTrue(before.snapshot.isServable(found("gpt-4o")))
    assert.isFalse(before.snapshot.hasOwnStatus(found("gpt-4o")))
    assert.isAtMost(before.until, Date.parse("2026-12-01"))
    const after = at("2026-12-01T00:00:00Z", { changes }).snapshot
    assert.isFalse(after.isServable(found("gpt-4o")))
    assert.isTrue(after.hasOwnStatus(found("gpt-4o")))
    assert.isFalse(after.hasOwnStatus(found("gpt-4o-mini")))
    assert.deepStrictEqual(after.historyOf(found("gpt-4o")).at(-1), { event: "retired", date: "2026-12-01" })
  })

  it("can also retire a virtual model, which only chooses among others", () => {
    const { snapshot } = at(now, { changes: { statuses: [{ model: "svc/auto", status: "retired" }] } })
    assert.isFalse(snapshot.isServable(found("svc/auto")))
    assert.isTrue(snapshot.isServable(found("gpt-4o")))
  })
})

describe("history", () => {
  it("begins with the release, is in order of days, and has no future events", () => {
    for (const model of snapshot.all) {
      const history = snapshot.historyOf(model)
      const days = history.map((one) => one.date)
      assert.deepStrictEqual(history[0], {
        event: "released",
        date: new Date(model.created * 1_000).toISOString().slice(0, 10)
      })
      assert.deepStrictEqual(days, days.toSorted(), model.id)
      assert.isTrue(
        days.every((day) => day <= now.slice(0, 10)),
        model.id
      )
    }
  })

  it("has the published price changes at each provider, with the new price", () => {
    const first = snapshot.historyOf(found("o3")).find((one) => one.event === "price_changed")
    assert.deepInclude(first, { date: "2025-06-10", provider: "openai" })
    assert.strictEqual(first?.price?.unit === "token" ? first.price.tiers[0].rates.input : undefined, 2_000_000n)
    assert.deepStrictEqual(first?.price, found("o3").offers[0]?.price)
    // The night price is a change of August 2026. The day price is not a change.
    const hourly = snapshot.historyOf(found("deepseek-v4-flash"))
    assert.deepStrictEqual(hourly.map(({ date, event, provider }) => [event, date, provider]).slice(1), [
      ["price_changed", "2026-08-17", "deepseek"]
    ])
  })

  it("has an announced change from its day on", () => {
    const events = (iso: string) =>
      at(iso)
        .snapshot.historyOf(found("gemini-3.6-flash"))
        .map(({ date, event }) => `${date} ${event}`)
    assert.notInclude(events("2026-12-31T23:59:59Z").join(), "2027-01-01")
    assert.include(events("2027-01-01T00:00:00Z"), "2027-01-01 price_changed")
  })
})

it("the snapshot turns every listing into an offer", () => {
  for (const entry of entries) assert.strictEqual(found(entry.id).offers.length, entry.listings.length, entry.id)
})
