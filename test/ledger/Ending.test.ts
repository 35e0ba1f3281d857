import { assert, describe, it } from "@effect/vitest"
import { endResultOf, endOf, withoutResult } from "../../src/ledger/Ending.ts"

const request = { requestId: "req_1", accountId: "acc_1", charged: undefined }
const facts = withoutResult("cancelled", null)

describe("the end of a request", () => {
  it("settles or releases a hold", () => {
    const close = { ...facts, _tag: "Close", requestId: "req_1", accountId: "acc_1", onlyIfExpired: false }
    assert.deepStrictEqual(endOf(request, 0n, facts), { ...close, settle: { cost: 0n } } as never)
    assert.deepStrictEqual(endOf(request, undefined, facts), { ...close, settle: undefined } as never)
  })

  it("refunds the unused part of a charge, and never takes more than was charged", () => {
    const refundAt = (cost: bigint | undefined) => endOf({ ...request, charged: 10n }, cost, facts)
    const conclusion = { ...facts, requestId: "req_1", accountId: "acc_1" }
    assert.deepStrictEqual(refundAt(undefined), { ...conclusion, refund: 10n })
    assert.deepStrictEqual(refundAt(3n), { ...conclusion, refund: 7n })
    assert.deepStrictEqual(refundAt(12n), { ...conclusion, refund: 0n })
  })

  it("returns the cost and balance of either, and no balance when the request had ended before", () => {
    const closed = { _tag: "Closed", settled: 3n, absorbed: 0n, posted: 7n, held: 0n } as const
    assert.deepStrictEqual(endResultOf(closed), { cost: 3n, posted: 7n })
    assert.deepStrictEqual(endResultOf({ _tag: "Gone", settled: 3n }), { cost: 3n, posted: undefined })
    assert.deepStrictEqual(endResultOf({ _tag: "Concluded", cost: 3n, posted: 7n }), { cost: 3n, posted: 7n })
    assert.deepStrictEqual(endResultOf({ _tag: "Gone", cost: 3n }), { cost: 3n, posted: undefined })
  })
})
