import { assert, describe, it } from "@effect/vitest"
import type { Reason } from "../../src/domain/Failure.ts"
import { keepReason, type KeptReason, restoreReason } from "../../src/inference/Receipt.ts"

describe("a reason that is kept", () => {
  const amounts = { needed: 2n ** 62n, available: -1n, posted: 0n }
  const reasons: ReadonlyArray<Reason> = [
    { _tag: "InsufficientCredits", limitSource: "balance", ...amounts },
    { _tag: "NoModelInBudget", budgetCents: 7, least: 70_000_001n },
    { _tag: "UpstreamError", detail: "d" },
    { _tag: "InternalError" }
  ]
  for (const reason of reasons) {
    it(`is the same again: ${reason._tag}`, () => {
      const kept = JSON.parse(JSON.stringify(keepReason(reason))) as KeptReason
      assert.deepStrictEqual(restoreReason(kept), reason)
    })
  }
})
