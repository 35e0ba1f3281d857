import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  discounted,
  longCachePrice,
  markedUp,
  MARKUP_BOUNDS,
  maximumCost,
  outputWithin,
  providerCost,
  tokenCost,
  type TokenPrice,
  unitCost
} from "../../src/domain/Pricing.ts"
import { promptTokens, type TokenUsage } from "../../src/domain/Usage.ts"
import { Random, seeds } from "../ledger/Random.ts"

const tiered: TokenPrice = {
  unit: "token",
  perRequest: 5_000_000n,
  tiers: [
    {
      abovePromptTokens: 0,
      rates: { input: 1_250_000n, cached: 125_000n, cacheWrite: 1_600_000n, output: 10_000_000n }
    },
    {
      abovePromptTokens: 200_000,
      rates: { input: 2_500_000n, cached: 250_000n, cacheWrite: 3_200_000n, output: 15_000_000n }
    }
  ]
}
const count = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))

describe("Pricing", () => {
  it("chooses the tier for the whole request by all prompt tokens", () => {
    const usage = { input: 150_000, cached: 50_000, cacheWrite: 0, output: 10, reasoning: 0 }
    assert.strictEqual(tokenCost(tiered, usage), 5_000n + 187_500_000n + 6_250_000n + 100_000n)
    const above = { ...usage, cacheWrite: 1 }
    assert.strictEqual(tokenCost(tiered, above), 5_000n + 375_000_000n + 12_500_000n + 3_200n + 150_000n)
  })
  it("charges cache writes for an hour at their own rate, and holds at that rate when a request may use them", () => {
    const [first] = tiered.tiers
    const listed: TokenPrice = {
      ...tiered,
      tiers: [{ ...first, rates: { ...first.rates, cacheWriteLong: 2_500_000n } }]
    }
    const long = longCachePrice(listed)
    const usage = { input: 0, cached: 0, cacheWrite: 1_000, cacheWriteLong: 400, output: 0, reasoning: 0 }
    assert.strictEqual(tokenCost(long, usage), 5_000n + 960_000n + 1_000_000n)
    const all = { ...usage, cacheWriteLong: 1_000 }
    assert.strictEqual(maximumCost(long, 1_000, 0), tokenCost(long, all))
    assert.isBelow(outputWithin(long, 1_000, 10_000_000n), outputWithin(listed, 1_000, 10_000_000n))
    // Without the long price, the hold never includes it.
    assert.isTrue(tokenCost(listed, all) <= maximumCost(listed, 1_000, 0))
    assert.strictEqual(longCachePrice(listed), long)
    assert.strictEqual(longCachePrice(tiered), tiered)
    const [cut] = (discounted(long, 50) as TokenPrice).tiers
    assert.strictEqual(cut.rates.cacheWriteLong, 1_250_000n)
  })
  it("computes the operator's cost from the provider's report, else from usage and the provider's price, else as unknown", () => {
    const usage = { input: 1_000, cached: 0, cacheWrite: 0, output: 10, reasoning: 0 }
    assert.strictEqual(providerCost(tiered, usage), tokenCost(tiered, usage))
    assert.strictEqual(providerCost(tiered, { ...usage, billedNano: 7 }), 7n)
    assert.strictEqual(providerCost(undefined, { ...usage, billedNano: 7 }), 7n)
    assert.isUndefined(providerCost(undefined, usage))
    assert.strictEqual(providerCost({ unit: "image", perUnit: 2_000n }, { unit: "image", units: 3 }), 6n)
    assert.isUndefined(providerCost({ unit: "second", perUnit: 2_000n }, { unit: "image", units: 3 }))
    assert.isUndefined(providerCost(tiered, { unit: "image", units: 3 }))
    // An hour in the cache has its cost, whether or not the price sells it.
    const [first] = tiered.tiers
    const hour: TokenPrice = { ...tiered, tiers: [{ ...first, rates: { ...first.rates, cacheWriteLong: 2_500_000n } }] }
    const kept = { ...usage, cacheWrite: 1_000, cacheWriteLong: 1_000 }
    assert.strictEqual(providerCost(hour, kept), tokenCost(longCachePrice(hour), kept))
  })
  it("prices units", () => {
    assert.strictEqual(unitCost({ unit: "image", perUnit: 40_000_000_000n }, 3), 120_000_000n)
  })
  it.prop(
    "holds at least what any usage within the bounds can cost",
    {
      input: count(150_000),
      cached: count(150_000),
      cacheWrite: count(150_000),
      output: count(50_000),
      slack: count(100)
    },
    ({ slack, ...buckets }) => {
      const usage = { ...buckets, reasoning: 0 }
      const most = maximumCost(tiered, promptTokens(usage) + slack, usage.output + slack)
      assert.isTrue(tokenCost(tiered, usage) <= most)
    }
  )
  it.prop(
    "holds at least what any usage within the bounds can cost, under every markup, which rounds rates up by less than a pico-USD",
    {
      input: count(150_000),
      cached: count(150_000),
      cacheWrite: count(150_000),
      output: count(50_000),
      markup: Schema.Int.check(Schema.isBetween(MARKUP_BOUNDS))
    },
    ({ markup, ...buckets }) => {
      const usage = { ...buckets, reasoning: 0 }
      const price = markedUp(tiered, markup)
      const cost = tokenCost(price, usage)
      assert.isTrue(cost <= maximumCost(price, promptTokens(usage), usage.output))
      const exact = tokenCost(tiered, usage) * (10_000n + BigInt(markup))
      assert.isTrue(cost * 10_000n >= exact - 10_000n - BigInt(Math.max(0, markup)))
      assert.strictEqual(markedUp(tiered, markup), price)
    }
  )
  it("returns a price without a markup unchanged, and never makes one free", () => {
    assert.strictEqual(markedUp(tiered, 0), tiered)
    const image = { unit: "image", perUnit: 3n } as const
    assert.deepStrictEqual(markedUp(image, -9_999), { unit: "image", perUnit: 1n })
    assert.deepStrictEqual(markedUp(image, 2_500), { unit: "image", perUnit: 4n })
  })
  it("holds the most expensive rate for every prompt token, including cache writes", () => {
    const usage = { input: 0, cached: 0, cacheWrite: 200_001, output: 10, reasoning: 0 }
    assert.strictEqual(maximumCost(tiered, 200_001, 10), tokenCost(tiered, usage))
    const [{ abovePromptTokens, rates }] = tiered.tiers
    const odd: TokenPrice = {
      ...tiered,
      tiers: [{ abovePromptTokens, rates: { ...rates, cached: rates.cacheWrite + 1n } }]
    }
    const read = { ...usage, cached: 200_001, cacheWrite: 0 }
    assert.strictEqual(maximumCost(odd, 200_001, 10), tokenCost(odd, read))
  })
  it.prop(
    "finds the largest output that a hold covers",
    { prompt: count(300_000), granted: count(2_000_000_000) },
    ({ granted, prompt }) => {
      const output = outputWithin(tiered, prompt, BigInt(granted))
      if (output > 0) assert.isTrue(maximumCost(tiered, prompt, output) <= BigInt(granted))
      assert.isTrue(maximumCost(tiered, prompt, output + 1) > BigInt(granted))
    }
  )
  it("finds no limit on output when output is free", () => {
    const free: TokenPrice = {
      unit: "token",
      perRequest: 0n,
      tiers: [{ abovePromptTokens: 0, rates: { input: 0n, cached: 0n, cacheWrite: 0n, output: 0n } }]
    }
    assert.strictEqual(outputWithin(free, 1_000, 0n), Number.MAX_SAFE_INTEGER)
  })
})

describe("a discount", () => {
  it("reduces every rate by its percentage, rounded up to the next pico-USD", () => {
    assert.deepStrictEqual(discounted({ unit: "image", perUnit: 1_001n }, 50), { unit: "image", perUnit: 501n })
    assert.deepStrictEqual(discounted({ unit: "image", perUnit: 1n }, 99.99), { unit: "image", perUnit: 1n })
    assert.deepStrictEqual(discounted(tiered, 12.5), {
      unit: "token",
      perRequest: 4_375_000n,
      tiers: [
        {
          abovePromptTokens: 0,
          rates: { input: 1_093_750n, cached: 109_375n, cacheWrite: 1_400_000n, output: 8_750_000n }
        },
        {
          abovePromptTokens: 200_000,
          rates: { input: 2_187_500n, cached: 218_750n, cacheWrite: 2_800_000n, output: 13_125_000n }
        }
      ]
    })
  })

  const [seed = 0] = seeds(1)
  it(`never exceeds its percentage, never raises a price, and keeps the order of prices (LEDGER_SEED=${seed})`, () => {
    const random = new Random(seed)
    // Rates of every size, small ones more often, because rounding shows there.
    const rate = () => random.amount(10 ** (1 + random.below(9)))
    const rates = () => ({ input: rate(), cached: rate(), cacheWrite: rate(), output: rate() })
    const priced = (): TokenPrice => ({
      unit: "token",
      perRequest: rate(),
      tiers: [
        { abovePromptTokens: 0, rates: rates() },
        { abovePromptTokens: random.below(500), rates: rates() }
      ]
    })
    for (let round = 0; round < 5_000; round++) {
      const list = priced()
      const [less, more] = [1 + random.below(9_999), 1 + random.below(9_999)].toSorted((a, b) => a - b) as [
        number,
        number
      ]
      const [cut, deeper] = [discounted(list, less / 100), discounted(list, more / 100)] as [TokenPrice, TokenPrice]
      const usage: TokenUsage = {
        input: random.below(500),
        cached: random.below(500),
        cacheWrite: random.below(500),
        output: random.below(500),
        reasoning: 0
      }
      const [full, reduced, lowest] = [list, cut, deeper].map((price) => tokenCost(price, usage)) as [
        bigint,
        bigint,
        bigint
      ]
      assert.isTrue(reduced <= full, `${round}: above the list price`)
      assert.isTrue(
        reduced * 10_000n >= full * BigInt(10_000 - less) - 10_000n,
        `${round}: below the promised discount`
      )
      assert.isTrue(lowest <= reduced, `${round}: a deeper discount costs more`)
      for (const [index, tier] of cut.tiers.entries()) {
        for (const name of ["input", "cached", "cacheWrite", "output"] as const) {
          const before = list.tiers[index]!.rates[name]
          const exact = before * BigInt(10_000 - less)
          assert.isTrue(tier.rates[name] * 10_000n >= exact && tier.rates[name] * 10_000n < exact + 10_000n)
          assert.isTrue(before === 0n || tier.rates[name] > 0n)
        }
      }
      // Admission relies on this: the hold covers any usage at the discounted price too.
      assert.isTrue(maximumCost(cut, promptTokens(usage), usage.output) >= reduced)
      const [one, other] = [rate(), rate()]
      const [low, high] = one < other ? [one, other] : [other, one]
      const unit = (perUnit: bigint) => {
        const price = discounted({ unit: "image", perUnit }, less / 100)
        return price.unit === "token" ? assert.fail("the unit changed") : price.perUnit
      }
      assert.isTrue(unit(low) <= unit(high), `${round}: ${low} above ${high}`)
    }
  })
})
