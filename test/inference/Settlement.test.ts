import { assert, describe, it } from "@effect/vitest"
import type { TokenPrice } from "../../src/domain/Pricing.ts"
import { noTokens, type TokenUsage } from "../../src/domain/Usage.ts"
import { type Outcome, settlementOf } from "../../src/inference/Settlement.ts"

const price: TokenPrice = {
  unit: "token",
  perRequest: 0n,
  tiers: [
    { abovePromptTokens: 0, rates: { input: 1_000_000n, cached: 100_000n, cacheWrite: 1_250_000n, output: 4_000_000n } }
  ]
}
const counted: TokenUsage = { ...noTokens, input: 10, output: 5 }
const delivered = (reported?: TokenUsage) => ({ reported, counted: () => counted })
const whole = (reported?: TokenUsage): Outcome => ({ _tag: "Whole", finish: "stop", delivered: delivered(reported) })

describe("settlementOf", () => {
  it("charges the usage that the provider reported, count by count", () => {
    const usage = { input: 100, cached: 50, cacheWrite: 20, output: 30, reasoning: 10 }
    assert.deepStrictEqual(settlementOf(whole(usage), price), {
      cost: 100_000n + 5_000n + 25_000n + 120_000n,
      usage,
      basis: "reported",
      status: "succeeded",
      final: true
    })
  })
  it("accepts a reported zero", () => {
    assert.deepInclude(settlementOf(whole(noTokens), price), { cost: 0n, basis: "reported" })
  })
  it("counts the delivered output when the provider reported no usage", () => {
    assert.deepInclude(settlementOf(whole(), price), { cost: 10_000n + 20_000n, basis: "counted", usage: counted })
  })
  it("charges the output delivered before a break or a disconnect", () => {
    const broken = settlementOf({ _tag: "Partial", error: { _tag: "InternalError" }, delivered: delivered() }, price)
    assert.deepInclude(broken, { cost: 30_000n, status: "failed", final: true })
    const left = settlementOf({ _tag: "Partial", error: undefined, delivered: delivered() }, price)
    assert.deepInclude(left, { cost: 30_000n, status: "cancelled", final: true })
  })
  it("charges nothing without output, and frees the idempotency key unless the request itself was rejected", () => {
    const failed = settlementOf({ _tag: "NoOutput", error: { _tag: "EmptyCompletion" } }, price)
    assert.deepInclude(failed, { cost: undefined, basis: "none", status: "failed", final: false })
    const left = settlementOf({ _tag: "NoOutput", error: undefined }, price)
    assert.deepInclude(left, { cost: undefined, status: "cancelled", final: false })
    const refused = settlementOf(
      { _tag: "NoOutput", error: { _tag: "ProviderRefused", provider: "p", detail: "" } },
      price
    )
    assert.deepInclude(refused, { cost: undefined, final: true })
    const images = [
      { _tag: "ImageTooLarge", param: "p", limitBytes: 1 },
      { _tag: "ValidationError", problems: [{ field: "p", message: "" }] }
    ] as const
    for (const error of images) {
      assert.deepInclude(settlementOf({ _tag: "NoOutput", error }, price), { cost: undefined, final: true })
    }
    const passing = { ...images[1], passing: "soon" } as const
    assert.isFalse(settlementOf({ _tag: "NoOutput", error: passing }, price).final)
  })
})

describe("settlementOf for work other than chat", () => {
  const perCharacter = { unit: "character", perUnit: 15_000_001n } as const
  const done = (reported: number | undefined) => ({ _tag: "Whole", delivered: { reported, counted: () => 7 } }) as const

  it("charges prompt tokens or units, reported or counted, rounded up once", () => {
    assert.deepStrictEqual(settlementOf(done(3), price), {
      cost: 3_000n,
      usage: { ...noTokens, input: 3 },
      basis: "reported",
      status: "succeeded",
      final: true
    })
    assert.deepStrictEqual(settlementOf(done(undefined), perCharacter), {
      cost: 105_001n,
      usage: { units: 7, unit: "character" },
      basis: "counted",
      status: "succeeded",
      final: true
    })
    assert.deepInclude(settlementOf(done(0), perCharacter), { cost: 0n, basis: "reported" })
  })

  it("charges the delivered part of a broken answer, by the gateway's count", () => {
    const error = { _tag: "UpstreamError", detail: "broke off" } as const
    assert.deepStrictEqual(
      settlementOf({ _tag: "Partial", delivered: { reported: undefined, counted: () => 7 }, error }, price),
      {
        cost: 7_000n,
        usage: { ...noTokens, input: 7 },
        basis: "counted",
        status: "failed",
        final: true
      }
    )
  })

  it("charges nothing without output, in the unit of the price", () => {
    const nothing = (error: Extract<Outcome, { _tag: "NoOutput" }>["error"]) => ({ _tag: "NoOutput", error }) as const
    assert.deepStrictEqual(settlementOf(nothing({ _tag: "EmptyCompletion" }), perCharacter), {
      cost: undefined,
      usage: { units: 0, unit: "character" },
      basis: "none",
      status: "failed",
      final: false
    })
    assert.deepInclude(settlementOf(nothing(undefined), price), { usage: noTokens, status: "cancelled" })
    const refused = nothing({ _tag: "ProviderRefused", provider: "p", detail: "" })
    assert.isTrue(settlementOf(refused, price).final)
  })
})
