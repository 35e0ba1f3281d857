import { assert, describe, it } from "@effect/vitest"
import { axisMoney, briefMoney, exactMoney, money, perMillion, signedMoney } from "../../../src/console/format/Money.ts"

describe("money", () => {
  for (const [usd, short] of [
    [0, "$0.00"],
    [123_456.78, "$123,456.78"],
    [2.028_876_81, "$2.03"],
    [0.6, "$0.60"],
    [0.000_123_4, "$0.0001234"],
    [0.000_123_45, "$0.0001235"],
    [0.000_000_3, "$0.0000003"],
    [0.999_96, "$1.00"],
    [-5, "−$5.00"],
    [-0.000_009_9, "−$0.0000099"]
  ] as const) {
    it(`writes ${usd} as ${short}`, () => assert.strictEqual(money(usd), short))
  }

  it("keeps every digit in the exact form, without floating-point noise", () => {
    assert.strictEqual(exactMoney(0.1 + 0.2), "$0.30")
    assert.strictEqual(exactMoney(0.000_180_525), "$0.000180525")
  })

  it("has a sign when the amount is not zero", () => {
    assert.deepStrictEqual(
      [2.5, -2.5, 0, -0].map((usd) => signedMoney(usd)),
      ["+$2.50", "−$2.50", "$0.00", "$0.00"]
    )
    assert.strictEqual(signedMoney(-0.000_180_525, exactMoney), "−$0.000180525")
  })

  it("is rounded down in its brief form", () => {
    assert.deepStrictEqual([0, 0.009, 4.999, 9.1, 191.93, 999.99, 12_399, 123_456.78].map(briefMoney), [
      "$0.00",
      "$0.00",
      "$4.99",
      "$9.10",
      "$191",
      "$999",
      "$12.3K",
      "$123.4K"
    ])
  })

  it("writes an axis with the digits of its step", () => {
    assert.strictEqual(axisMoney(3, 1), "$3")
    assert.strictEqual(axisMoney(0.5, 0.25), "$0.50")
    assert.strictEqual(axisMoney(0.0004, 0.0002), "$0.0004")
    assert.strictEqual(axisMoney(-0.5, 0.25), "−$0.50")
  })

  it("writes a price per million tokens, and a dash for a missing price", () => {
    assert.strictEqual(perMillion(0.000_000_15), "$0.15")
    assert.strictEqual(perMillion(null), "—")
  })
})
