import { assert, describe, it } from "@effect/vitest"
import { defaultPolicy, type Candidate, type RoutingPolicy } from "../../src/domain/Plan.ts"
import { arrange, type Figures } from "../../src/router/Strategy.ts"

const candidate = (provider: string, input: bigint, output: bigint) =>
  ({
    offer: { provider },
    price: { unit: "token", perRequest: 0n, tiers: [{ abovePromptTokens: 0, rates: { input, output } }] }
  }) as unknown as Candidate

const all = [candidate("a", 3n, 9n), candidate("b", 1n, 20n), candidate("c", 2n, 2n), candidate("d", 2n, 2n)]
const unknown: Figures = { thin: true, successRate: null, p50Ms: null, medianTtftMs: null }

const order = (policy: Partial<RoutingPolicy>, figures: Record<string, Partial<Figures>> = {}) =>
  arrange(all, { ...defaultPolicy, ...policy }, ({ offer }) => ({ ...unknown, ...figures[offer.provider] }))
    .map(({ offer }) => offer.provider)
    .join("")

describe("arrange", () => {
  it("keeps the catalogue's order where nothing is known or asked", () => {
    assert.strictEqual(order({}), "abcd")
    assert.strictEqual(order({ strategy: "quality" }), "abcd")
    assert.strictEqual(order({ strategy: "latency" }), "abcd")
  })
  it("goes by the price of a typical exchange, ties as they came", () => {
    assert.strictEqual(order({ strategy: "cost" }), "cdab")
  })
  it("goes by time to first token, else by duration, and never by thin figures", () => {
    const figures = {
      a: { thin: false, medianTtftMs: 300 },
      b: { thin: false, p50Ms: 200 },
      c: { thin: true, medianTtftMs: 1 }
    }
    assert.strictEqual(order({ strategy: "latency" }, figures), "bacd")
  })
  it("puts who fails a lot last, when balanced", () => {
    assert.strictEqual(order({}, { a: { thin: false, successRate: 0.5 }, b: { thin: true, successRate: 0 } }), "bcda")
  })
  it("puts the caller's order before all", () => {
    assert.strictEqual(order({ strategy: "cost", order: ["b", "nobody", "d"] }), "bdca")
  })
})
