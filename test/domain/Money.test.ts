import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { decimalUsd, formatUsd, nanoFromPico, nanoFromUsd, picoPerUnit, usdFromNano } from "../../src/domain/Money.ts"

describe("Money", () => {
  it("reads decimal dollars to the ninth digit, and rejects other text", () => {
    assert.strictEqual(nanoFromUsd("12.345678901"), 12_345_678_901n)
    assert.strictEqual(nanoFromUsd("0.0000000019"), 1n)
    assert.strictEqual(nanoFromUsd("-3"), -3_000_000_000n)
    assert.strictEqual(nanoFromUsd(0.1), 100_000_000n)
    for (const bad of ["", "1e3", "abc", "1.", ".5", "1,000", "0x10", Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.isUndefined(nanoFromUsd(bad), String(bad))
    }
  })
  it("rounds a cost up once", () => {
    assert.deepStrictEqual([0n, 1n, 1_000n, 1_001n].map(nanoFromPico), [0n, 1n, 1n, 2n])
  })
  it("reads a published rate as whole pico-dollars", () => {
    assert.strictEqual(picoPerUnit(0.15), 150_000n)
    assert.strictEqual(picoPerUnit(0.0375), 37_500n)
  })
  it("formats an amount with at least two decimals", () => {
    assert.deepStrictEqual(
      [0n, 1n, 1_500_000_000n, -20_000_000n, 999_000_000_000n, -1_234_567_000_000_001n].map(formatUsd),
      ["$0.00", "$0.000000001", "$1.50", "-$0.02", "$999.00", "-$1,234,567.000000001"]
    )
    assert.deepStrictEqual([-1_234_567_000_000_001n, 1_500_000_000n].map(decimalUsd), ["-1234567.000000001", "1.50"])
  })
  it.prop(
    "converts any amount to a number that converts back to it",
    [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000_000_000 }))],
    ([nano]) => assert.strictEqual(BigInt(Math.round(usdFromNano(BigInt(nano)) * 1e9)), BigInt(nano))
  )
})
