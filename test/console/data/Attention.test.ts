import { assert, describe, it } from "@effect/vitest"
import { attentionWords, isPaidTwice } from "../../../src/console/data/Attention.ts"

describe("the reason why a top-up needs an operator", () => {
  it("is shown in words, with amounts in dollars", () => {
    for (const [attention, words] of [
      ["paid 49500 usd instead of 50000 usd, in the smallest unit", "Paid $495.00 instead of $500.00"],
      ["paid 2500 eur instead of 2500 usd, in the smallest unit", "Paid 2500 EUR (smallest unit) instead of $25.00"],
      ["another checkout was paid for it: cs_live_b1", "Another checkout was paid: cs_live_b1"],
      ["charge.refunded", "The processor reports a refund"],
      ["charge.dispute.created", "The payment is disputed (dispute.created)"],
      ["there is no checkout cs_1", "There is no checkout cs_1"]
    ] as const) {
      assert.strictEqual(attentionWords(attention), words)
    }
  })

  it("shows whether the top-up was paid twice", () => {
    assert.deepStrictEqual(["another checkout was paid for it: a", "charge.refunded", null].map(isPaidTwice), [
      true,
      false,
      false
    ])
  })
})
