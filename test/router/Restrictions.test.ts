import { assert, describe, it } from "@effect/vitest"
import { defaultPolicy, type RoutingPolicy } from "../../src/domain/Plan.ts"
import { explain, noneLeft, restrictionsOf } from "../../src/router/Restrictions.ts"
import { MeasuredCandidates } from "../../src/router/MeasuredCandidates.ts"
import { syntheticCatalogue } from "../support/SyntheticCatalogue.ts"

const catalogue = syntheticCatalogue({
  m: [
    { id: "trains", trainsOnData: true, prompt: 1 },
    { id: "keeps", prompt: 2, completion: 8 },
    { id: "forgets", zeroRetention: true, prompt: 5, completion: 20, request: 0.01 },
    { id: "plain", unsupported: ["tools"] }
  ]
})
const unseen = {
  samples: 0,
  successRate: null,
  p50Ms: null,
  p95Ms: null,
  medianTtftMs: null,
  p95TtftMs: null,
  streamed: 0
}
const able = new MeasuredCandidates(() => ({ ...unseen, thin: true })).of(catalogue, catalogue.find("m")!, 0)

const restrictions = (policy: Partial<RoutingPolicy>, parameters: ReadonlyArray<string> = []) =>
  restrictionsOf({ policy: { ...defaultPolicy, ...policy }, parameters, promptBound: 1_000 })

const left = (...asked: Parameters<typeof restrictions>) => {
  const rules = restrictions(...asked)
  return able.filter((one) => rules.every(({ excludes }) => !excludes(one))).map(({ provider }) => provider.id)
}

const said = (...asked: Parameters<typeof restrictions>) => explain(able, restrictions(...asked))

describe("a restriction", () => {
  it("is absent when the request asks for none", () => {
    assert.deepStrictEqual(restrictions({}, ["tools"]), [])
    assert.deepStrictEqual(restrictions({ requireParameters: true }), [])
  })

  it("keeps the providers that meet it", () => {
    assert.deepStrictEqual(left({ only: ["keeps", "nobody"] }), ["keeps"])
    assert.deepStrictEqual(left({ only: [] }), [])
    assert.deepStrictEqual(left({ ignore: ["keeps", "nobody"] }), ["trains", "forgets", "plain"])
    assert.deepStrictEqual(left({ dataPolicy: "no_training" }), ["keeps", "forgets", "plain"])
    assert.deepStrictEqual(left({ dataPolicy: "zero_retention" }), ["forgets"])
    assert.deepStrictEqual(left({ requireParameters: true }, ["temperature", "tools"]), ["trains", "keeps", "forgets"])
    assert.deepStrictEqual(left({ requireParameters: true }, ["seed"]), [])
    assert.deepStrictEqual(left({ maxPrice: { prompt: 1 } }), ["trains", "plain"])
    assert.deepStrictEqual(left({ maxPrice: { completion: 8 } }), ["trains", "keeps", "plain"])
    assert.deepStrictEqual(left({ maxPrice: { request: 0 } }), ["trains", "keeps", "plain"])
  })

  it("accepts an offer's exact price as the limit, whatever its binary fraction", () => {
    const prices = Array.from({ length: 2_000 }, (_, index) => (index + 1) / 200)
    const offers = prices.map((prompt, index) => ({ id: `p${index}`, prompt, completion: prompt * 4 }))
    const found = syntheticCatalogue({ m: offers })
    const priced = new MeasuredCandidates(() => ({ ...unseen, thin: true })).of(found, found.find("m")!, 0)
    const out = priced.filter((one, index) => {
      const prompt = prices[index]!
      const [rule] = restrictions({ maxPrice: { prompt, completion: prompt * 4 } })
      const [cheaper] = restrictions({ maxPrice: { prompt: prompt - 0.000_001 } })
      return rule!.excludes(one) || !cheaper!.excludes(one)
    })
    assert.deepStrictEqual(out, [])
  })

  it("accepts names in any case", () => {
    assert.deepStrictEqual(left({ only: ["Keeps"] }), ["keeps"])
    assert.deepStrictEqual(left({ ignore: ["KEEPS", "Trains"] }), ["forgets", "plain"])
  })
})

const begin = "No provider meets the routing restrictions of this request: "

describe("the explanation when no provider is left", () => {
  it("names the one responsible restriction with its count", () => {
    const of = `${begin}of 4 candidates, `
    assert.strictEqual(said({ only: ["nobody"] }), `${of}providers.only excludes 4`)
    assert.strictEqual(said({ requireParameters: true }, ["seed"]), `${of}require_parameters excludes 4`)
    assert.strictEqual(said({ maxPrice: { prompt: 0 } }), `${of}max_price excludes 4`)
    const all = able.map(({ provider }) => provider.id)
    assert.strictEqual(said({ ignore: all }), `${of}providers.ignore excludes 4`)
    assert.strictEqual(
      explain(able.slice(0, 1), restrictions({ dataPolicy: "no_training" })),
      `${begin}of 1 candidate, data_policy excludes 1`
    )
  })

  it("lists what each of several restrictions excludes, and which one the client could drop", () => {
    assert.strictEqual(
      said({ only: ["trains", "keeps"], dataPolicy: "zero_retention", maxPrice: { prompt: 2 } }),
      `${begin}of 4 candidates, providers.only excludes 2, data_policy excludes 3 and max_price excludes 1; ` +
        "without data_policy 2 would be left"
    )
    assert.strictEqual(
      said({ ignore: ["trains"], only: ["trains"] }),
      `${begin}of 4 candidates, providers.only excludes 3 and providers.ignore excludes 1; ` +
        "without providers.only 3 would be left and without providers.ignore 1 would be left"
    )
    assert.strictEqual(
      said({ only: ["nobody"], ignore: ["nobody"], maxPrice: { prompt: 0 } }),
      `${begin}of 4 candidates, providers.only excludes 4 and max_price excludes 4`
    )
  })
  it("names the field that excludes every provider on its own, and the unknown names in it", () => {
    const failed = (policy: Partial<RoutingPolicy>) =>
      noneLeft(able, restrictions(policy), policy as RoutingPolicy, (id) => catalogue.provider(id) !== undefined).reason
    const onlyField = "provider.only"
    assert.deepInclude(failed({ only: ["Nobody", "nobody", "Keeps"], onlyField, maxPrice: { prompt: 0 } }), {
      unknownProviders: ["Nobody", "nobody"]
    })
    assert.deepInclude(failed({ only: ["nobody"], onlyField }), { param: onlyField, unknownProviders: ["nobody"] })
    assert.notProperty(failed({ only: ["keeps"], onlyField, maxPrice: { prompt: 0 } }), "param")
    assert.notProperty(failed({ only: ["nobody"] }), "param", "a key or a preset sets it")
  })
})
