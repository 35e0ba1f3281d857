import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { listedProviders } from "../../src/catalogue/Providers.ts"
import { basePolicy, decodePolicy, ignoredRouting } from "../../src/dialects/Routing.ts"
import { defaultPolicy, type RoutingPolicy } from "../../src/domain/Plan.ts"

const policyOf = (body: Readonly<Record<string, unknown>>): RoutingPolicy => Result.getOrThrow(decodePolicy(body))

const fieldsOf = (body: Readonly<Record<string, unknown>>): ReadonlyArray<string> => {
  const result = decodePolicy(body)
  if (Result.isSuccess(result) || result.failure.reason._tag !== "ValidationError")
    assert.fail("the decoder did not reject it by field")
  return result.failure.reason.problems.map(({ field }) => field)
}

describe("the account's markup", () => {
  it("stays in the policy, whatever routing a key, a preset or a request sets", () => {
    const terms = { markupBasisPoints: 1_250, markupOf: "account" } as const
    const base = basePolicy({ terms, routing: { strategy: "cost" } })
    assert.strictEqual(basePolicy({ terms }).terms, terms)
    assert.notProperty(basePolicy({}), "terms")
    const bodies = [
      {},
      { routing: { strategy: "latency" } },
      { provider: { sort: "price" } },
      { routing: { providers: { only: ["openai"] } }, provider: { zdr: true } }
    ]
    for (const body of bodies) {
      const policy = Result.getOrThrow(decodePolicy(body, base))
      assert.strictEqual(policy.terms, terms, JSON.stringify(body))
    }
    assert.isTrue(Result.isFailure(decodePolicy({ routing: { terms: { markupBasisPoints: 0 } } }, base)))
  })
})

describe("the routing of a request", () => {
  it("is the default when the request sets none", () => {
    for (const body of [{}, { routing: null }, { provider: null }])
      assert.deepStrictEqual(policyOf(body), defaultPolicy)
  })

  it("has the source `request` as soon as the request sets `routing` or `provider`", () => {
    for (const body of [{ routing: {} }, { provider: {} }]) {
      assert.deepStrictEqual(policyOf(body), { ...defaultPolicy, source: "request" })
    }
  })

  it("is read from `routing`", () => {
    const routing = {
      strategy: "latency",
      providers: { only: ["a", "b"], order: ["b"], ignore: ["c"] },
      allow_fallbacks: false,
      data_policy: "no_training",
      caching: "auto",
      require_parameters: true,
      max_price: { prompt: 1, completion: 2, request: 0 },
      timeouts: { connect_ms: 1, first_token_ms: 2, total_ms: 3 }
    }
    assert.deepStrictEqual(policyOf({ routing }), {
      strategy: "latency",
      only: ["a", "b"],
      onlyField: "routing.providers.only",
      order: ["b"],
      ignore: ["c"],
      allowFallbacks: false,
      dataPolicy: "no_training",
      caching: "auto",
      requireParameters: true,
      maxPrice: { prompt: 1, completion: 2, request: 0 },
      timeouts: { connectMs: 1, firstTokenMs: 2, totalMs: 3 },
      source: "request"
    })
  })

  it("keeps an empty `only` list, which allows no provider", () => {
    assert.deepStrictEqual(policyOf({ routing: { providers: { only: [] } } }).only, [])
  })

  it("is read from OpenRouter's `provider`", () => {
    const of = (provider: object) => policyOf({ provider })
    assert.deepStrictEqual(of({ only: ["a"], order: null, ignore: ["c"], allow_fallbacks: false }), {
      ...defaultPolicy,
      only: ["a"],
      onlyField: "provider.only",
      ignore: ["c"],
      allowFallbacks: false,
      source: "request"
    })
    const strategies = { price: "cost", latency: "latency", throughput: "latency", exacto: "quality" }
    for (const [sort, strategy] of Object.entries(strategies)) assert.strictEqual(of({ sort }).strategy, strategy)
    assert.strictEqual(of({ data_collection: "deny" }).dataPolicy, "no_training")
    assert.strictEqual(of({ data_collection: "allow" }).dataPolicy, "default")
    assert.strictEqual(of({ data_collection: "deny", zdr: true }).dataPolicy, "zero_retention")
    assert.deepStrictEqual(of({ max_price: { prompt: "0.5", completion: 2 } }).maxPrice, { prompt: 0.5, completion: 2 })
    assert.isTrue(of({ require_parameters: true, quantizations: ["fp8"] }).requireParameters)
  })

  it("maps OpenRouter's names of providers to their ids here", () => {
    const names = ["google-vertex", "Google-AI-Studio", "amazon-bedrock", "z-ai", "moonshotai", "openai", "deepinfra"]
    const ours = ["vertex", "gemini", "bedrock", "zai", "moonshot", "openai", "deepinfra"]
    const { ignore, only, order } = policyOf({ provider: { only: names, order: names, ignore: names } })
    assert.deepStrictEqual({ ignore, only, order }, { ignore: ours, only: ours, order: ours })
    const known = new Set(listedProviders.map(({ id }) => id))
    assert.isTrue(ours.slice(0, -1).every((id) => known.has(id)))
  })

  it("prefers `routing` to `provider` when the request has both", () => {
    assert.strictEqual(policyOf({ routing: { strategy: "cost" }, provider: { sort: "latency" } }).strategy, "cost")
    assert.strictEqual(policyOf({ routing: null, provider: { sort: "latency" } }).strategy, "latency")
  })

  it("takes the stricter data policy of `routing` and `provider`", () => {
    const of = (data_policy: string | undefined, provider: object) =>
      policyOf({ routing: data_policy === undefined ? {} : { data_policy }, provider }).dataPolicy
    assert.strictEqual(of(undefined, { zdr: true }), "zero_retention")
    assert.strictEqual(of("no_training", { zdr: true }), "zero_retention")
    assert.strictEqual(of("default", { data_collection: "deny" }), "no_training")
    assert.strictEqual(of("zero_retention", { data_collection: "deny" }), "zero_retention")
    assert.strictEqual(of("no_training", { data_collection: "allow" }), "no_training")
    assert.deepStrictEqual(
      policyOf({ routing: { providers: { only: ["a"] } }, provider: { only: ["b"], order: ["b"], zdr: true } }),
      {
        ...defaultPolicy,
        only: ["a"],
        onlyField: "routing.providers.only",
        dataPolicy: "zero_retention",
        source: "request"
      }
    )
    assert.deepStrictEqual(fieldsOf({ routing: {}, provider: { zdr: 1 } }), ["provider.zdr"])
  })

  it("has limits on the lists and prices in `provider` too", () => {
    for (const name of ["only", "order", "ignore"]) {
      assert.deepStrictEqual(fieldsOf({ provider: { [name]: Array.from({ length: 33 }, () => "a") } }), [
        `provider.${name}`
      ])
      assert.deepStrictEqual(fieldsOf({ provider: { [name]: ["a", ""] } }), [`provider.${name}[1]`])
      assert.deepStrictEqual(fieldsOf({ provider: { [name]: ["p".repeat(129)] } }), [`provider.${name}[0]`])
    }
    for (const name of ["prompt", "completion", "request"]) {
      // The last value would take minutes with a pattern that backtracks over its digits.
      for (const value of [-1, "-1", "x", "", `${"1".repeat(500_000)}!`]) {
        const fields = new Set(fieldsOf({ provider: { max_price: { [name]: value } } }))
        assert.deepStrictEqual([...fields], [`provider.max_price.${name}`])
      }
    }
  })

  it("overrides a preset's routing field by field, from `routing` and from `provider`", () => {
    const { onlyField: _, ...base } = policyOf({
      routing: {
        strategy: "cost",
        providers: { only: ["a", "b"], order: ["b"], ignore: ["c"] },
        allow_fallbacks: false,
        data_policy: "no_training",
        caching: "auto",
        require_parameters: true,
        max_price: { prompt: 1, request: 2 },
        timeouts: { connect_ms: 1, total_ms: 3 }
      }
    })
    const over = (body: Readonly<Record<string, unknown>>) => Result.getOrThrow(decodePolicy(body, base))
    for (const body of [
      {},
      { routing: null },
      { routing: {} },
      { provider: {} },
      { provider: { quantizations: [] } }
    ]) {
      assert.deepStrictEqual(over(body), base)
    }
    const changed = { ...base, order: ["a"], maxPrice: { prompt: 5, request: 2 } }
    assert.deepStrictEqual(over({ provider: { order: ["a"], max_price: { prompt: "5" } } }), changed)
    assert.deepStrictEqual(
      over({ routing: { providers: { order: ["a"] }, max_price: { prompt: 5 }, timeouts: { total_ms: 4 } } }),
      { ...changed, timeouts: { connectMs: 1, totalMs: 4 } }
    )
    assert.isTrue(over({ routing: { allow_fallbacks: true } }).allowFallbacks)
    const dataPolicy = (body: Readonly<Record<string, unknown>>) => over(body).dataPolicy
    assert.strictEqual(dataPolicy({ routing: { data_policy: "default" } }), "default")
    assert.strictEqual(dataPolicy({ provider: { data_collection: "allow" } }), "no_training")
    assert.strictEqual(dataPolicy({ provider: { zdr: false } }), "no_training")
    assert.strictEqual(dataPolicy({ provider: { zdr: true } }), "zero_retention")
    assert.strictEqual(dataPolicy({ routing: { data_policy: "default" }, provider: { sort: "price" } }), "default")
    assert.strictEqual(dataPolicy({ routing: {}, provider: { data_collection: "allow" } }), "no_training")
  })

  it("tightens a preset's data policy by `provider`, but loosens it only by `routing`", () => {
    const base = policyOf({ routing: { data_policy: "zero_retention" } })
    const of = (body: Readonly<Record<string, unknown>>) => Result.getOrThrow(decodePolicy(body, base)).dataPolicy
    for (const provider of [{ data_collection: "allow" }, { data_collection: "deny" }, { zdr: false }]) {
      assert.strictEqual(of({ provider }), "zero_retention")
      assert.strictEqual(of({ provider, routing: {} }), "zero_retention")
    }
    const routing = { data_policy: "default" }
    assert.strictEqual(of({ routing, provider: { data_collection: "allow", zdr: false } }), "default")
  })

  it("defaults to the routing of its key, whose data policy it can tighten but not loosen", () => {
    assert.strictEqual(basePolicy({}), defaultPolicy)
    const routing = { strategy: "cost", providers: { ignore: ["a"] }, data_policy: "no_training" } as const
    const base = basePolicy({ routing })
    assert.deepInclude(base, { strategy: "cost", ignore: ["a"], dataPolicy: "no_training", source: "project" })
    const of = (body: Readonly<Record<string, unknown>>, from = base) => Result.getOrThrow(decodePolicy(body, from))
    assert.strictEqual(of({}), base)
    assert.deepInclude(of({ routing: { strategy: "latency" } }), {
      strategy: "latency",
      ignore: ["a"],
      dataPolicy: "no_training",
      source: "request"
    })
    for (const body of [{ routing: { data_policy: "default" } }, { provider: { data_collection: "allow" } }]) {
      assert.strictEqual(of(body).dataPolicy, "no_training")
    }
    for (const body of [{ routing: { data_policy: "zero_retention" } }, { provider: { zdr: true } }]) {
      assert.strictEqual(of(body).dataPolicy, "zero_retention")
      // A request can loosen the data policy of its preset, down to that of its key.
      assert.strictEqual(of({ routing: { data_policy: "default" } }, of(body)).dataPolicy, "no_training")
    }
  })

  it("lists its fields that have no effect", () => {
    const of = (body: Readonly<Record<string, unknown>>) => ignoredRouting(body)
    for (const body of [{}, { routing: null, provider: null }, { routing: { max_price: { prompt: 1 } } }]) {
      assert.deepStrictEqual(of(body), [])
    }
    assert.deepStrictEqual(of({ routing: { max_price: { image: 1 } } }), ["routing.max_price.image"])
    const provider = { only: ["a"], zdr: true, quantizations: ["fp8"], sort: null, max_price: { image: 1 } }
    assert.deepStrictEqual(of({ provider }), ["provider.quantizations", "provider.max_price.image"])
    assert.deepStrictEqual(of({ routing: {}, provider }), [
      "provider.only",
      "provider.quantizations",
      "provider.max_price"
    ])
  })

  it("rejects unknown fields in `routing`, but not in `provider`", () => {
    assert.deepStrictEqual(fieldsOf({ routing: { speed: 1, providers: { never: [] } } }), [
      "routing.speed",
      "routing.providers.never"
    ])
    assert.deepStrictEqual(fieldsOf({ routing: "cost" }), ["routing"])
    assert.deepStrictEqual(fieldsOf({ provider: ["openai"] }), ["provider"])
    assert.deepStrictEqual(fieldsOf({ provider: { only: "openai", zdr: 1, new_word: 1 } }), [
      "provider.only",
      "provider.zdr"
    ])
  })
})
