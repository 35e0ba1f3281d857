import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { makeStripe } from "../../src/billing/StripePayments.ts"
import { closedOrigin } from "../providers/upstream.ts"
import { STRIPE_KEY, stripeEvent, stripeServer, stripeSession } from "../support/Stripe.ts"

const request = { id: "0".repeat(24), amount_cents: 2_500, return_url: "https://gateway.example" }

describe("Stripe", () => {
  it.live("opens a checkout in dollars for one top-up, with the URLs that lead back to the console", () =>
    Effect.gen(function* () {
      const stripe = yield* stripeServer
      const checkout = yield* makeStripe(stripe.settings).open(request)
      assert.deepStrictEqual(checkout, {
        sessionId: "cs_test_1",
        url: "https://checkout.stripe.com/c/pay/cs_test_1"
      })
      assert.deepStrictEqual(
        stripe.requests.map(({ body, method, path }) => ({ method, path, body: Object.fromEntries(body) })),
        [
          {
            method: "POST",
            path: "/v1/checkout/sessions",
            body: {
              mode: "payment",
              client_reference_id: request.id,
              "metadata[top_up_id]": request.id,
              "payment_intent_data[metadata][top_up_id]": request.id,
              "line_items[0][quantity]": "1",
              "line_items[0][price_data][currency]": "usd",
              "line_items[0][price_data][unit_amount]": "2500",
              "line_items[0][price_data][product_data][name]": "Balance top-up",
              "adaptive_pricing[enabled]": "false",
              success_url: `https://gateway.example/billing?top_up=${request.id}`,
              cancel_url: `https://gateway.example/billing?top_up=${request.id}&cancelled=1`
            }
          }
        ]
      )
    }).pipe(Effect.scoped)
  )

  it.live("has one checkout per top-up, however many callers request it and how often", () =>
    Effect.gen(function* () {
      const stripe = yield* stripeServer
      stripe.state.conflicts = 2
      const nodes = [makeStripe(stripe.settings), makeStripe(stripe.settings)]
      const opened = yield* Effect.forEach(Array.from({ length: 20 }), (_, index) => nodes[index % 2]!.open(request), {
        concurrency: 20
      })
      assert.deepStrictEqual([...new Set(opened.map(({ sessionId }) => sessionId))], ["cs_test_1"])
      assert.strictEqual(stripe.sessions.size, 1)
    }).pipe(Effect.scoped)
  )

  it.live("opens one checkout even after a failure that Stripe replays under the idempotency key", () =>
    Effect.gen(function* () {
      const stripe = yield* stripeServer
      const nodes = [makeStripe(stripe.settings), makeStripe(stripe.settings)]
      stripe.state.mood = "fails"
      for (const one of nodes)
        assert.strictEqual((yield* Effect.flip(one.open(request))).reason._tag, "ServiceUnavailable")
      stripe.state.mood = "well"
      const opened = yield* Effect.forEach([0, 1, 0, 1], (n) => nodes[n]!.open(request), { concurrency: 4 })
      assert.deepStrictEqual([...new Set(opened.map(({ sessionId }) => sessionId))], ["cs_test_1"])
      assert.strictEqual(stripe.sessions.size, 1)
    }).pipe(Effect.scoped)
  )

  it.live("reports the state of a checkout, and expires it", () =>
    Effect.gen(function* () {
      const stripe = yield* stripeServer
      const { ask, expire, open } = makeStripe(stripe.settings)
      const ids = yield* Effect.forEach([..."12345"], (digit) =>
        Effect.map(open({ ...request, id: digit.repeat(24) }), ({ sessionId }) => sessionId)
      )
      const [paid, waiting, lost, still, ended] = ids as [string, string, string, string, string]
      stripe.pay(paid)
      stripe.pay(waiting, "processing")
      stripe.pay(lost, "requires_payment_method")
      assert.deepStrictEqual(yield* expire(ended), { _tag: "Expired", sessionId: ended })
      assert.deepStrictEqual(yield* Effect.forEach([...ids, "cs_test_none"], ask), [
        { _tag: "Paid", sessionId: paid, amount: 2_500, currency: "usd", paymentId: `pi_${paid}` },
        { _tag: "Pending", sessionId: waiting },
        { _tag: "Failed", sessionId: lost },
        { _tag: "Open", sessionId: still },
        { _tag: "Expired", sessionId: ended },
        { _tag: "Unknown", sessionId: "cs_test_none" }
      ])
      assert.strictEqual((yield* Effect.flip(expire(paid))).reason._tag, "ServiceUnavailable")
    }).pipe(Effect.scoped)
  )

  it.live("is reported as unavailable when it fails, is unreachable or refuses the key, without the reason", () =>
    Effect.gen(function* () {
      const stripe = yield* stripeServer
      stripe.state.mood = "broken"
      const other = { ...stripe.settings, secretKey: Redacted.make("sk_test_another") }
      const away = { ...stripe.settings, baseUrl: new URL(yield* closedOrigin) }
      for (const settings of [stripe.settings, other, away]) {
        const { ask, open } = makeStripe(settings)
        const asked: ReadonlyArray<Effect.Effect<unknown, { readonly reason: object; readonly log?: unknown }>> = [
          open(request),
          ask("cs_test_1")
        ]
        for (const work of asked) {
          const { log, reason } = yield* Effect.flip(work)
          assert.deepInclude(reason, { _tag: "ServiceUnavailable", retryAfterSeconds: 5 })
          assert.notMatch(`${String(log)} ${JSON.stringify(reason)}`, new RegExp(`${STRIPE_KEY}|sk_test`))
          assert.match(String(log), /^Stripe\w+Error/)
        }
      }
    }).pipe(Effect.scoped)
  )

  it.effect("has its signed events read", () =>
    Effect.gen(function* () {
      const settings = {
        secretKey: Redacted.make(STRIPE_KEY),
        webhookSecret: Redacted.make("whsec_own"),
        baseUrl: undefined
      }
      const { read } = makeStripe(settings)
      const event = stripeEvent("checkout.session.expired", stripeSession(), { secret: "whsec_own" })
      assert.strictEqual((yield* read(event.raw, event.signature))._tag, "Checkout")
      const foreign = stripeEvent("checkout.session.expired", stripeSession())
      assert.strictEqual((yield* Effect.flip(read(foreign.raw, foreign.signature)))._tag, "NotSigned")
    })
  )
})
