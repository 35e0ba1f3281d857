import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readEvent, checkoutStateOf } from "../../src/billing/StripeEvents.ts"
import { STRIPE_SECRET, stripeEvent, stripeSession } from "../support/Stripe.ts"

const topUpId = "0123456789abcdef01234567"
const metadata = { top_up_id: topUpId }
const session = stripeSession({ metadata })
const paid = stripeSession({
  metadata,
  status: "complete",
  payment_status: "paid",
  payment_intent: "pi_1"
})
const done = stripeSession({ metadata, status: "complete" })

const read = (type: string, object: object) => {
  const { raw, signature } = stripeEvent(type, object)
  return readEvent(raw, signature, STRIPE_SECRET)
}

const said = { _tag: "Paid", sessionId: "cs_test_1", amount: 2_500, currency: "usd", paymentId: "pi_1" }

describe("an event from Stripe", () => {
  it.effect("reports the state of a checkout, which is paid only when Stripe says so", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [type: string, object: object, said: object]> = [
        ["checkout.session.completed", paid, said],
        ["checkout.session.async_payment_succeeded", paid, said],
        ["checkout.session.completed", done, { _tag: "Pending", sessionId: "cs_test_1" }],
        [
          "checkout.session.completed",
          { ...done, payment_status: "no_payment_required" },
          { _tag: "Pending", sessionId: "cs_test_1" }
        ],
        ["checkout.session.async_payment_succeeded", done, { _tag: "Pending", sessionId: "cs_test_1" }],
        ["checkout.session.async_payment_failed", done, { _tag: "Failed", sessionId: "cs_test_1" }],
        ["checkout.session.expired", session, { _tag: "Expired", sessionId: "cs_test_1" }]
      ]
      for (const [type, object, expected] of cases) {
        assert.deepStrictEqual(yield* read(type, object), { _tag: "Checkout", state: expected, topUpId } as never, type)
      }
    })
  )

  it.effect("reports refunds and disputes", () =>
    Effect.gen(function* () {
      const metadata = { top_up_id: topUpId }
      const charge = { id: "ch_1", payment_intent: "pi_1", metadata, amount_refunded: 700, currency: "usd" }
      assert.deepStrictEqual(yield* read("charge.refunded", charge), {
        _tag: "Notice",
        eventId: "evt_charge_refunded",
        type: "charge.refunded",
        about: "refund",
        paymentId: "pi_1",
        topUpId,
        amount: 700,
        currency: "usd"
      })
      for (const what of ["created", "closed", "funds_withdrawn", "funds_reinstated"]) {
        const dispute = { id: "dp_1", payment_intent: "pi_1", amount: 2_500, currency: "eur" }
        const event = yield* read(`charge.dispute.${what}`, dispute)
        assert.deepInclude(event, { _tag: "Notice", about: "dispute", paymentId: "pi_1", topUpId: null })
        assert.deepInclude(event, { amount: 2_500, currency: "eur" })
      }
    })
  )

  it.effect("is ignored when its type is unknown or its form is invalid", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* read("customer.created", {}), { _tag: "Other", type: "customer.created" })
      for (const object of [
        {},
        { ...paid, id: "a b" },
        { ...paid, id: "cs\0" },
        { ...paid, amount_total: "2500" },
        { ...paid, amount_total: 0.5 }
      ]) {
        const event = yield* read("checkout.session.completed", object)
        assert.deepStrictEqual(event, { _tag: "Unreadable", type: "checkout.session.completed" })
      }
      assert.strictEqual((yield* read("charge.refunded", { payment_intent: 7 }))._tag, "Unreadable")
    })
  )

  it.effect("identifies a top-up only by a valid id", () =>
    Effect.gen(function* () {
      for (const other of ["order-7", "", "0123456789ABCDEF01234567", "a\0b", null]) {
        const event = yield* read("checkout.session.completed", { ...paid, metadata: { top_up_id: other } })
        assert.deepInclude(event, { _tag: "Checkout", topUpId: null })
      }
      for (const none of [null, {}]) {
        // Buyers at a payment link choose the reference.
        const event = yield* read("checkout.session.completed", {
          ...paid,
          metadata: none,
          client_reference_id: topUpId
        })
        assert.deepInclude(event, { _tag: "Checkout", topUpId: null })
      }
    })
  )

  it.effect("is accepted with a valid signature of its bytes that is at most five minutes old", () =>
    Effect.gen(function* () {
      const now = Math.floor(Date.now() / 1_000)
      const [type, object] = ["checkout.session.completed", paid]
      const good = stripeEvent(type, object)
      const refused: ReadonlyArray<readonly [raw: Uint8Array, signature: string | undefined]> = [
        [good.raw, undefined],
        [good.raw, ""],
        [good.raw, "t=1,v1=00"],
        [good.raw, good.signature.replace("v1=", "v0=")],
        [good.raw, good.signature.replace(/t=\d+/, `t=${now + 1}`)],
        [good.raw, stripeEvent(type, object, { secret: "whsec_another" }).signature],
        [good.raw, stripeEvent(type, object, { timestamp: now - 400 }).signature],
        [Buffer.from(good.payload.replace("2500", "9500")), good.signature],
        [Buffer.from(`${good.payload} `), good.signature],
        [new Uint8Array(), good.signature]
      ]
      for (const [index, [raw, signature]] of refused.entries()) {
        assert.strictEqual((yield* Effect.flip(readEvent(raw, signature, STRIPE_SECRET)))._tag, "NotSigned", `${index}`)
      }
      const aged = stripeEvent(type, object, { timestamp: now - 200 })
      assert.strictEqual((yield* readEvent(aged.raw, aged.signature, STRIPE_SECRET))._tag, "Checkout")
      const rolled = `${stripeEvent(type, object, { secret: "whsec_old" }).signature},${good.signature.split(",")[1]}`
      assert.strictEqual((yield* readEvent(good.raw, rolled, STRIPE_SECRET))._tag, "Checkout")
    })
  )

  it("has the same content as the session that Stripe's API returns", () => {
    assert.deepStrictEqual(checkoutStateOf(paid), said as never)
    assert.deepStrictEqual(
      checkoutStateOf({ ...paid, payment_intent: { id: "pi_1", status: "succeeded" } }),
      said as never
    )
    assert.strictEqual(checkoutStateOf({ ...done, payment_intent: { id: "pi_1", status: "canceled" } })?._tag, "Failed")
    assert.strictEqual(checkoutStateOf({ ...done, payment_intent: "pi_1" })?._tag, "Pending")
    assert.isUndefined(checkoutStateOf({ id: "cs_1" }))
  })
})
