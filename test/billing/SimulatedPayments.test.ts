import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeSimulated } from "../../src/billing/SimulatedPayments.ts"
import { stripeEvent, stripeSession } from "../support/Stripe.ts"

const request = { id: "0123456789abcdef01234567", amount_cents: 2_550, return_url: "http://localhost:8787" }

describe("simulated payments", () => {
  it.effect("open a link that nobody can guess, and report its payment in Stripe's form", () =>
    Effect.gen(function* () {
      const processor = makeSimulated()
      const { sessionId, url } = yield* processor.open(request)
      assert.match(url, /^http:\/\/localhost:8787\/api\/v1\/payments\/simulated\/cs_simulated_[0-9a-f]{32}$/)
      assert.isTrue(url.endsWith(sessionId))
      assert.notStrictEqual((yield* processor.open(request)).sessionId, sessionId)
      const { raw, signature } = processor.pay!({ ...request, session_id: sessionId })
      assert.deepStrictEqual(yield* processor.read(raw, signature), {
        _tag: "Checkout",
        topUpId: request.id,
        state: { _tag: "Paid", sessionId, amount: 2_550, currency: "usd", paymentId: `pi_simulated_${sessionId}` }
      })
    })
  )

  it.effect("accept only their own events", () =>
    Effect.gen(function* () {
      const [processor, other] = [makeSimulated(), makeSimulated()]
      const foreign = other.pay!({ ...request, session_id: "cs_simulated_1" })
      const stripes = stripeEvent("checkout.session.completed", stripeSession())
      for (const { raw, signature } of [foreign, stripes]) {
        assert.strictEqual((yield* Effect.flip(processor.read(raw, signature)))._tag, "NotSigned")
      }
    })
  )

  it.effect("stay open until they are ended", () =>
    Effect.gen(function* () {
      const { ask, expire } = makeSimulated()
      assert.deepStrictEqual(yield* ask("cs_1"), { _tag: "Open", sessionId: "cs_1" })
      assert.deepStrictEqual(yield* expire("cs_1"), { _tag: "Expired", sessionId: "cs_1" })
    })
  )
})
