import { assert, describe, it } from "@effect/vitest"
import type { Strategy } from "../../src/domain/Plan.ts"
import {
  arrange,
  expectedOf,
  EXPLORATION_SHARE,
  explorationPriceBound,
  explore,
  type Figures,
  LOWEST_SUCCESS_RATE,
  PRIOR_SUCCESS_RATE,
  score,
  type WeighedProvider,
  weights
} from "../../src/router/Strategy.ts"
import { Random } from "../ledger/Random.ts"

const strategies: ReadonlyArray<Strategy> = ["balanced", "cost", "latency", "quality"]
const unknown: Figures = { samples: 0, successRate: null, medianTtftMs: null, p50Ms: null, p95Ms: null }

const seen = (figures: Partial<Figures>): Figures => ({
  samples: 1_000,
  successRate: 1,
  medianTtftMs: 400,
  p50Ms: 2_000,
  p95Ms: 5_000,
  ...figures
})

/** Providers named a, b, c … with these figures and prices. The first is the preferred one. */
const providers = (
  all: ReadonlyArray<Partial<Figures> & { readonly priceUsd?: number }>,
  thin: ReadonlyArray<number> = []
): ReadonlyArray<WeighedProvider> => {
  const expected = expectedOf(all.map((one) => ({ ...unknown, ...one })))
  return all.map(({ priceUsd = 1 }, index) => ({
    provider: "abcdefgh"[index]!,
    priceUsd,
    preferred: index === 0,
    thin: thin.includes(index),
    expected: expected[index]!
  }))
}

const names = (arranged: ReadonlyArray<WeighedProvider>) => arranged.map(({ provider }) => provider).join("")
const order = (strategy: Strategy, all: ReadonlyArray<WeighedProvider>, preferred: ReadonlyArray<string> = []) =>
  names(arrange(all, { strategy, order: preferred }))

const given = process.env["ROUTING_SEED"]
const seed = given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given)
const CASES = 5_000

/** Random figures of any size, from few enough values that equal ones are common. */
const randomFigures = (random: Random, samples: number): Figures => ({
  samples,
  successRate: random.pick([0, 0.5, 0.8, 0.97, 1]),
  medianTtftMs: random.pick([100, 400, 1_600]),
  p50Ms: random.pick([1_000, 4_000, 30_000]),
  p95Ms: random.pick([2_000, 9_000, 60_000])
})

const randomSamples = (random: Random) => random.pick([0, 1, 5, 19, 20, 200, 100_000])
const randomPrice = (random: Random) => random.pick([0, 1e-7, 0.0001, 0.001, 0.0011, 0.5])

/** The properties that a strategy weighs, each so that less is better. */
const weighed = (strategy: Strategy, { expected, preferred, priceUsd }: WeighedProvider): ReadonlyArray<number> => {
  const { medianTtft, p50, p95, preferred: place, price, successRate } = weights[strategy]
  return [
    ...(price > 0 ? [priceUsd] : []),
    ...(successRate > 0 ? [-expected.successRate] : []),
    ...(medianTtft > 0 ? [expected.medianTtftMs] : []),
    ...(p50 > 0 ? [expected.p50Ms] : []),
    ...(p95 > 0 ? [expected.p95Ms] : []),
    ...(place > 0 ? [preferred ? 0 : 1] : [])
  ]
}

const dominates = (better: ReadonlyArray<number>, worse: ReadonlyArray<number>) =>
  better.every((figure, index) => figure <= worse[index]!) && better.some((figure, index) => figure < worse[index]!)

/** Every pair of an order in which the later provider dominates the earlier one. */
const inverted = (strategy: Strategy, arranged: ReadonlyArray<WeighedProvider>) =>
  arranged.flatMap((earlier, index) =>
    arranged
      .slice(index + 1)
      .filter((later) => dominates(weighed(strategy, later), weighed(strategy, earlier)))
      .map((later) => `${earlier.provider} before ${later.provider}`)
  )

describe(`with random figures (ROUTING_SEED=${seed})`, () => {
  it("no provider precedes one that is better in some figure and worse in none", () => {
    const random = new Random(seed)
    let pairs = 0
    for (let run = 0; run < CASES; run++) {
      const all = providers(
        Array.from({ length: 2 + random.below(5) }, () => ({
          ...randomFigures(random, randomSamples(random)),
          priceUsd: randomPrice(random)
        }))
      )
      for (const strategy of strategies) {
        const arranged = arrange(all, { strategy, order: [] })
        assert.deepStrictEqual(inverted(strategy, arranged), [], `case ${run}, ${strategy}: ${JSON.stringify(all)}`)
        pairs += inverted(strategy, arranged.toReversed()).length
      }
    }
    assert.isAbove(pairs, CASES)
  })

  it("of two equally sampled providers, the one with better measurements never scores worse", () => {
    const random = new Random(seed)
    const keys = ["medianTtftMs", "p50Ms", "p95Ms"] as const
    for (let run = 0; run < CASES; run++) {
      const samples = 1 + random.below(1_000)
      const worse = randomFigures(random, samples)
      const better = { ...worse, successRate: 1 }
      for (const key of keys) if (random.chance(0.5)) better[key] = worse[key]! * 0.7
      const all = providers([{ ...seen({ samples: random.below(500) }), priceUsd: 9 }, worse, better])
      for (const strategy of strategies) {
        const [, b, c] = all.map((one) => score(strategy, one))
        assert.isAtMost(c!, b!, `case ${run}, ${strategy}`)
      }
    }
  })

  it("the cost strategy orders by price, whatever the other figures", () => {
    const random = new Random(seed)
    for (let run = 0; run < CASES; run++) {
      const all = providers(
        Array.from({ length: 6 }, () => ({
          ...randomFigures(random, randomSamples(random)),
          priceUsd: random.chance(0.5) ? randomPrice(random) : random.next()
        }))
      )
      const prices = arrange(all, { strategy: "cost", order: [] }).map(({ priceUsd }) => priceUsd)
      assert.deepStrictEqual(
        prices,
        prices.toSorted((a, b) => a - b),
        `case ${run}`
      )
    }
  })

  it("no strategy ranks a provider lower for being cheaper", () => {
    const random = new Random(seed)
    for (let run = 0; run < CASES; run++) {
      const all = providers(
        Array.from({ length: 5 }, () => ({
          ...randomFigures(random, randomSamples(random)),
          priceUsd: randomPrice(random)
        }))
      )
      const which = random.below(5)
      const cheaper = all.map((one, index) => (index === which ? { ...one, priceUsd: one.priceUsd / 2 } : one))
      const name = all[which]!.provider
      for (const strategy of strategies) {
        assert.isAtMost(
          order(strategy, cheaper).indexOf(name),
          order(strategy, all).indexOf(name),
          `case ${run}, ${strategy}`
        )
      }
    }
  })

  it("exploring moves one provider, and never one that the client or the price forbids", () => {
    const random = new Random(seed)
    let explored = 0
    for (let run = 0; run < CASES; run++) {
      const all = providers(
        Array.from({ length: 4 }, () => ({ priceUsd: randomPrice(random) })),
        [0, 1, 2, 3].filter(() => random.chance(0.5))
      )
      for (const strategy of strategies) {
        const preferred = { strategy, order: random.chance(0.3) ? [random.pick(["a", "b", "x"])] : [] }
        const arranged = arrange(all, preferred)
        const [first] = explore(arranged, preferred, random.next() * EXPLORATION_SHARE)
        if (first === arranged[0]) continue
        explored += 1
        assert.isTrue(first!.thin && !arranged[0]!.thin, `case ${run}`)
        assert.notInclude(preferred.order, arranged[0]!.provider, `case ${run}`)
        assert.isAtMost(first!.priceUsd, arranged[0]!.priceUsd * explorationPriceBound[strategy]!, `case ${run}`)
      }
    }
    assert.isAbove(explored, 100)
  })
})

describe("expected figures", () => {
  it("equal the prior for a provider without samples, and the other providers' times", () => {
    const [known, none] = expectedOf([seen({}), unknown])
    assert.approximately(none!.successRate, PRIOR_SUCCESS_RATE, 1e-9)
    assert.approximately(none!.medianTtftMs, 400, 1e-6)
    assert.approximately(none!.p95Ms, 5_000, 1e-6)
    assert.approximately(known!.medianTtftMs, 400, 1e-6)
  })

  it("move from the prior to the measurements as samples increase", () => {
    const rateAt = (samples: number) => expectedOf([seen({ samples, successRate: 0 })])[0]!.successRate
    assert.approximately(rateAt(1), 0.933, 0.001)
    assert.approximately(rateAt(20), 0.49, 0.001)
    assert.isBelow(rateAt(10_000), 0.002)
    const timeAt = (samples: number) =>
      expectedOf([seen({ samples, medianTtftMs: 100 }), seen({ samples: 1e6, medianTtftMs: 900 })])[0]!.medianTtftMs
    assert.isAbove(timeAt(1), 880)
    assert.approximately(timeAt(20), 208, 1)
    assert.isBelow(timeAt(10_000), 101)
  })

  it("include no time where a provider has none, and never a success rate of zero", () => {
    const [silent] = expectedOf([{ ...unknown, samples: 1e9, successRate: 0 }])
    assert.isAbove(silent!.successRate, 0)
    assert.approximately(silent!.p50Ms, 1_000, 1e-6)
  })
})

describe("an order", () => {
  it("is the catalogue's when nothing is known and all prices are equal", () => {
    for (const strategy of strategies) assert.strictEqual(order(strategy, providers([{}, {}, {}])), "abc", strategy)
  })

  it("puts the client's names first, in their order, whatever the score", () => {
    const all = providers([{ priceUsd: 1 }, { priceUsd: 3 }, { priceUsd: 2 }, { priceUsd: 9 }])
    for (const strategy of strategies) {
      assert.strictEqual(order(strategy, all, ["d", "nobody", "b"]).slice(0, 2), "db", strategy)
    }
    assert.strictEqual(order("cost", all, ["d"]), "dacb")
  })

  it("puts a provider that often fails behind others of equal price", () => {
    const failing = { samples: 500, successRate: LOWEST_SUCCESS_RATE - 0.1 }
    assert.strictEqual(order("cost", providers([failing, {}, { priceUsd: 0.5 }])), "cba")
    assert.strictEqual(order("balanced", providers([failing, seen({})])), "ba")
    assert.strictEqual(order("quality", providers([failing, seen({})])), "ba")
  })

  it("puts the fastest first, by figures with enough samples", () => {
    const slow = seen({ medianTtftMs: 900 })
    const quick = seen({ medianTtftMs: 200 })
    assert.strictEqual(order("latency", providers([slow, quick])), "ba")
    assert.strictEqual(order("latency", providers([seen({ p95Ms: 60_000 }), seen({})])), "ba")
    const once = seen({ samples: 1, medianTtftMs: 1 })
    assert.strictEqual(order("latency", providers([quick, once])), "ab")
  })

  it("of the quality strategy keeps the preferred provider first until it fails noticeably", () => {
    const other = seen({ medianTtftMs: 10 })
    assert.strictEqual(order("quality", providers([seen({ successRate: 0.93 }), other])), "ab")
    assert.strictEqual(order("quality", providers([seen({ successRate: 0.88 }), other])), "ba")
  })

  it("of the balanced strategy trades price for time", () => {
    const slow = seen({ medianTtftMs: 4_000, p50Ms: 20_000, p95Ms: 50_000 })
    assert.strictEqual(order("balanced", providers([seen({}), { ...slow, priceUsd: 0.8 }])), "ab")
    assert.strictEqual(order("balanced", providers([seen({}), { ...slow, priceUsd: 0.1 }])), "ba")
  })
})

describe("exploring", () => {
  const all = providers([seen({}), unknown, { ...unknown, priceUsd: 1.4 }, { ...unknown, priceUsd: 1.6 }], [1, 2, 3])
  const tried = (strategy: Strategy, draw: number, preferred: ReadonlyArray<string> = []) =>
    names(explore(all, { strategy, order: preferred }, draw))

  it("affects a small share of draws, spread over the eligible providers", () => {
    assert.strictEqual(tried("balanced", 0), "bacd")
    assert.strictEqual(tried("balanced", EXPLORATION_SHARE * 0.6), "cabd")
    assert.strictEqual(tried("balanced", EXPLORATION_SHARE), "abcd")
    assert.strictEqual(tried("balanced", 0.999), "abcd")
    assert.strictEqual(tried("latency", EXPLORATION_SHARE * 0.99), "dabc")
  })

  it("may cost little with the cost strategy, and never happens with the quality strategy", () => {
    assert.strictEqual(tried("cost", EXPLORATION_SHARE * 0.99), "bacd")
    assert.strictEqual(tried("quality", 0), "abcd")
  })

  it("never displaces the client's first choice, or a provider that is little known itself", () => {
    assert.strictEqual(tried("balanced", 0, ["a"]), "abcd")
    assert.strictEqual(names(explore(all.slice(1), { strategy: "balanced", order: [] }, 0)), "bcd")
    assert.deepStrictEqual(explore([], { strategy: "balanced", order: [] }, 0), [])
  })
})
