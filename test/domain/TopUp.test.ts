import { assert, describe, it } from "@effect/vitest"
import { type CheckoutState, nextOf, type RecordedTopUp, type TopUpStatus } from "../../src/domain/TopUp.ts"

const sessionId = "cs_1"
const paid: CheckoutState = { _tag: "Paid", sessionId, amount: 2_500, currency: "usd", paymentId: "pi_1" }
const quiet = (["Open", "Pending", "Failed", "Expired", "Unknown"] as const).map((_tag): CheckoutState => ({
  _tag,
  sessionId
}))
const open: RecordedTopUp = { status: "open", amountCents: 2_500, sessionId, refundedCents: 0 }

/** Every order of these values. */
const orders = <A>(all: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  all.length === 0
    ? [[]]
    : all.flatMap((one, index) => orders(all.toSpliced(index, 1)).map((others) => [one, ...others]))

/** The total refunded so far, in cents. */
interface Refunded {
  readonly _tag: "Refunded"
  readonly cents: number
}

/** The status of a top-up after these reports, and how often it was credited. */
const after = (said: ReadonlyArray<CheckoutState | Refunded>) => {
  let status: TopUpStatus = "open"
  let credits = 0
  let refundedCents = 0
  for (const one of said) {
    if (one._tag === "Refunded") {
      refundedCents = Math.max(refundedCents, one.cents)
      continue
    }
    const step = nextOf({ ...open, status, refundedCents }, one)
    if (step._tag === "Credits") {
      status = "paid"
      credits += 1
    }
    if (step._tag === "Ends") status = step.status
  }
  return { status, credits }
}

describe("a top-up", () => {
  it("is credited once for a payment, however often and in whatever order it is reported", () => {
    for (const order of orders([paid, ...quiet])) {
      assert.deepStrictEqual(
        after([...order, ...order]),
        { status: "paid", credits: 1 },
        order.map(({ _tag }) => _tag).join()
      )
    }
  })

  it("is credited once after a partial refund, and never when a full refund was reported before the payment", () => {
    const refund = (cents: number): Refunded => ({ _tag: "Refunded", cents })
    for (const order of orders([paid, refund(1_000), refund(2_499), quiet[0]!, quiet[2]!, quiet[3]!])) {
      assert.deepStrictEqual(after([...order, ...order]), { status: "paid", credits: 1 })
    }
    for (const order of orders([paid, refund(1_000), refund(2_500), quiet[0]!, quiet[2]!, quiet[3]!])) {
      const before = order.findIndex((one) => one._tag === "Refunded" && one.cents === 2_500) < order.indexOf(paid)
      const { credits, status } = after([...order, ...order])
      assert.deepStrictEqual([credits, status === "paid"], before ? [0, false] : [1, true])
    }
    for (const status of ["open", "expired", "failed"] as const) {
      assert.deepStrictEqual(nextOf({ ...open, status, refundedCents: 2_500 }, paid), {
        _tag: "Attends",
        reason: "the full amount was refunded before it was credited"
      })
    }
  })

  it("is never credited for any other state, and ends with the first final one", () => {
    for (const order of orders(quiet)) {
      const first = order.find(({ _tag }) => _tag === "Failed" || _tag === "Expired")
      const status = first?._tag === "Failed" ? "failed" : "expired"
      assert.deepStrictEqual(after([...order, ...order]), { status, credits: 0 })
    }
    assert.deepStrictEqual(after([quiet[0]!, quiet[1]!]), { status: "open", credits: 0 })
  })

  it("is left to an operator when another amount or currency was paid", () => {
    for (const other of [
      { amount: 2_499 },
      { amount: 2_501 },
      { amount: null },
      { currency: "eur" },
      { currency: null }
    ]) {
      for (const status of ["open", "expired", "failed"] as const) {
        assert.strictEqual(nextOf({ ...open, status }, { ...paid, ...other })._tag, "Attends", JSON.stringify(other))
      }
    }
    assert.deepStrictEqual(nextOf(open, { ...paid, amount: 1, currency: "eur" }), {
      _tag: "Attends",
      reason: "paid 1 eur instead of 2500 usd, in the smallest unit"
    })
  })

  it("is left to an operator when the payment processor does not know it, unless it has ended", () => {
    assert.strictEqual(nextOf(open, { _tag: "Unknown", sessionId })._tag, "Attends")
    assert.strictEqual(nextOf({ ...open, status: "expired" }, { _tag: "Unknown", sessionId })._tag, "Nothing")
  })

  it("ignores reports of another checkout, unless that was paid", () => {
    for (const said of quiet)
      assert.strictEqual(nextOf({ ...open, sessionId: "cs_2" }, said)._tag, "Nothing", said._tag)
    for (const status of ["open", "paid", "expired", "failed"] as const) {
      assert.deepStrictEqual(nextOf({ ...open, status, sessionId: "cs_2" }, paid), {
        _tag: "Attends",
        reason: "another checkout was paid for it: cs_1"
      })
    }
    assert.strictEqual(nextOf({ ...open, sessionId: null }, paid)._tag, "Credits")
  })
})
