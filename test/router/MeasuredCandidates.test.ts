import { assert, describe, it } from "@effect/vitest"
import { unknownPerformance } from "../../src/catalogue/LiveFigures.ts"
import type { Model } from "../../src/domain/Model.ts"
import { tokenCost } from "../../src/domain/Pricing.ts"
import { noTokens } from "../../src/domain/Usage.ts"
import { FIGURES_LIFE_MS, likelyPriceUsd, MeasuredCandidates } from "../../src/router/MeasuredCandidates.ts"
import { syntheticCatalogue } from "../support/SyntheticCatalogue.ts"

const catalogue = syntheticCatalogue({
  m: [
    { id: "away", keyed: false },
    { id: "one", prompt: 3, completion: 15, request: 0.002 },
    { id: "two", unsupported: ["tools", "json_mode"] }
  ]
})
const model = catalogue.find("m")!

/** Candidates with figures that the test controls, with a count of reads. */
const watched = () => {
  const seen = { figures: unknownPerformance, reads: 0 }
  const measured = new MeasuredCandidates(() => {
    seen.reads += 1
    return seen.figures
  })
  return { seen, measured }
}

describe("the measured candidates of a model", () => {
  it("list the callable providers in the catalogue's order, the first one preferred", () => {
    const candidates = watched().measured.of(catalogue, model, 0)
    assert.deepStrictEqual(
      candidates.map(({ preferred, provider }) => [provider.id, preferred]),
      [
        ["one", true],
        ["two", false]
      ]
    )
    assert.strictEqual(candidates[0]!.candidate.offer, model.offers[1])
  })

  it("contain the parameters that each provider accepts", () => {
    const [one, two] = watched().measured.of(catalogue, model, 0)
    assert.deepStrictEqual([...one!.parameters], model.supportedParameters)
    assert.deepStrictEqual([...two!.parameters], ["max_tokens", "temperature"])
  })

  it("refresh their figures when these are old, and not before", () => {
    const { seen, measured } = watched()
    const thin = (nowMs: number) => measured.of(catalogue, model, nowMs)[0]!.thin
    assert.isTrue(thin(5_000))
    seen.figures = { ...unknownPerformance, samples: 100, successRate: 1, thin: false }
    assert.isTrue(thin(5_000 + FIGURES_LIFE_MS - 1))
    assert.strictEqual(seen.reads, 2)
    assert.isFalse(thin(5_000 + FIGURES_LIFE_MS))
    assert.strictEqual(seen.reads, 4)
    seen.figures = unknownPerformance
    assert.isTrue(thin(0))
  })

  it("are computed again for another snapshot", () => {
    const { measured } = watched()
    measured.of(catalogue, model, 0)
    const other = syntheticCatalogue({ m: [{ id: "away" }] })
    const ids = measured.of(other, other.find("m")!, 0).map(({ provider }) => provider.id)
    assert.deepStrictEqual(ids, ["away"])
  })
})

describe("an estimated price", () => {
  const size = { promptTokens: 1_000, outputTokens: 200 }

  it("equals the cost of the same usage", () => {
    const [one] = watched().measured.of(catalogue, model, 0)
    const cost = tokenCost(one!.candidate.price, { ...noTokens, input: 1_000, output: 200 })
    assert.approximately(likelyPriceUsd(one!, size), Number(cost) / 1e9, 1e-12)
    assert.approximately(likelyPriceUsd(one!, size), 0.008, 1e-12)
  })

  it("uses the tier that the prompt reaches", () => {
    const [offer] = model.offers.slice(1)
    const price = offer!.price
    assert.isTrue(price?.unit === "token")
    if (price?.unit !== "token") return
    const rates = { ...price.tiers[0].rates, input: price.tiers[0].rates.input * 2n }
    const tiered: Model = {
      ...model,
      offers: [{ ...offer!, price: { ...price, tiers: [price.tiers[0], { abovePromptTokens: 1_000, rates }] } }]
    }
    const [one] = watched().measured.of(catalogue, tiered, 0)
    assert.approximately(likelyPriceUsd(one!, size), 0.008, 1e-12)
    assert.approximately(likelyPriceUsd(one!, { ...size, promptTokens: 1_001 }), 0.002 + 0.006006 + 0.003, 1e-12)
  })
})
