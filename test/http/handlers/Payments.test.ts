import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { EventReceived } from "../../../schemas/payments/PaymentsGroup.ts"
import { page } from "../../support/Console.ts"
import { giveBack, onceBack, takeAway } from "../../support/Outage.ts"
import { postbox } from "../../support/Postbox.ts"
import { json, type Service, startService } from "../../support/Service.ts"
import { stripeEvent, stripeServer, stripeSession } from "../../support/Stripe.ts"

const received = Schema.decodeUnknownSync(EventReceived, { onExcessProperty: "error" })

const COMPLETED = "checkout.session.completed"

const deliver = ({ api }: Service, payload: string | Uint8Array<ArrayBuffer>, signature?: string) =>
  Effect.promise(() =>
    fetch(`${api}/payments/stripe`, {
      method: "POST",
      headers: {
        "content-type": "application/json; charset=utf-8",
        ...(signature === undefined ? {} : { "stripe-signature": signature })
      },
      body: payload
    })
  )

/** A service that takes money by Stripe, and somebody with an open checkout there of $25.00. */
const paying = (env: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const [mail, stripe] = [yield* postbox(), yield* stripeServer]
    const service = yield* startService({ ...mail.settings, ...stripe.env, ...env })
    const { account } = yield* service.account(0)
    const { ask, signIn } = page(service.origin)
    yield* signIn(mail, account.email)
    const made = yield* ask("POST", "/top-ups", { amount_usd: 25 })
    assert.strictEqual(made.status, 200)
    const sessionId = new URL(made.body.data.checkout_url).pathname.split("/").at(-1)!
    return { service, stripe, sessionId, posted: Effect.map(service.balance(account.id), ({ posted }) => posted) }
  })

describe("POST /payments/stripe", () => {
  it.live("accepts Stripe's events without a key, and credits each payment once", () =>
    Effect.gen(function* () {
      const { posted, service, sessionId, stripe } = yield* paying()
      const { payload, signature } = stripeEvent(COMPLETED, stripe.pay(sessionId))
      for (const _ of [1, 2, 3]) {
        const response = yield* deliver(service, payload, signature)
        assert.strictEqual(response.status, 200)
        received(yield* json(response))
      }
      assert.strictEqual(yield* posted, 25_000_000_000n)
      for (const event of [
        stripeEvent("customer.created", {}),
        stripeEvent(COMPLETED, stripeSession({ id: "cs_other" }))
      ]) {
        assert.strictEqual((yield* deliver(service, event.payload, event.signature)).status, 200)
      }
      assert.strictEqual(yield* posted, 25_000_000_000n)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("rejects unsigned events, and events over 256 KiB", () =>
    Effect.gen(function* () {
      const { posted, service, sessionId, stripe } = yield* paying()
      const session = stripe.pay(sessionId)
      const { payload, signature } = stripeEvent(COMPLETED, session)
      const forged = stripeEvent(COMPLETED, session, { secret: "whsec_another" })
      for (const [body, header] of [
        [payload, undefined],
        [payload, forged.signature],
        [`${payload}\n`, signature],
        ["", signature],
        ["\0\ud800", "t=1,v1=\u00ff"]
      ] as const) {
        const response = yield* deliver(service, body, header)
        const { error } = yield* json(response)
        assert.deepStrictEqual(
          [response.status, error.code, error.param],
          [400, "validation_error", "Stripe-Signature"]
        )
      }
      const large = yield* deliver(service, "x".repeat(262_145), signature)
      assert.strictEqual(large.status, 413)
      const { error } = yield* json(large)
      assert.deepStrictEqual(
        [error.code, error.message],
        ["request_too_large", "The body must have at most 262,144 bytes."]
      )
      const most = stripeEvent(COMPLETED, { ...session, filler: "x".repeat(262_144 - payload.length - 12) })
      assert.strictEqual(most.payload.length, 262_144)
      assert.strictEqual((yield* deliver(service, most.payload, most.signature)).status, 200)
      assert.strictEqual(yield* posted, 25_000_000_000n)
    }).pipe(Effect.scoped)
  )

  it.live("counts unsigned events against the sender's rate limit, and signed events not at all", () =>
    Effect.gen(function* () {
      const { service, sessionId, stripe } = yield* paying({ RATE_LIMIT_SCALE: "1" })
      const { payload, signature } = stripeEvent(COMPLETED, stripe.pay(sessionId))
      const statuses: Array<number> = []
      while (!statuses.includes(429) && statuses.length < 1_000) {
        statuses.push((yield* deliver(service, payload)).status)
      }
      assert.strictEqual(statuses.at(-1), 429)
      assert.strictEqual((yield* deliver(service, payload, signature)).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("returns 503 while the database is down, so that Stripe delivers the event again", () =>
    Effect.gen(function* () {
      const { posted, service, sessionId, stripe } = yield* paying()
      const { payload, signature } = stripeEvent(COMPLETED, stripe.pay(sessionId))
      yield* takeAway(service.databaseUrl)
      const away = yield* deliver(service, payload, signature)
      assert.deepStrictEqual([away.status, (yield* json(away)).error.code], [503, "store_unavailable"])
      yield* giveBack(service.databaseUrl)
      assert.strictEqual((yield* onceBack(deliver(service, payload, signature))).status, 200)
      assert.strictEqual(yield* posted, 25_000_000_000n)
    }).pipe(Effect.scoped)
  )

  it.live("rejects events when Stripe is not configured", () =>
    Effect.gen(function* () {
      const { payload, signature } = stripeEvent(COMPLETED, stripeSession())
      const sandbox = yield* startService()
      assert.strictEqual((yield* deliver(sandbox, payload, signature)).status, 400)
      const bare = yield* startService({ SANDBOX: "off" })
      const refused = yield* deliver(bare, payload, signature)
      assert.deepStrictEqual([refused.status, (yield* json(refused)).error.code], [503, "service_unavailable"])
      const unknown = `${bare.api}/payments/simulated/cs_simulated_${"0".repeat(32)}`
      assert.strictEqual((yield* Effect.promise(() => fetch(unknown))).status, 404)
    }).pipe(Effect.scoped)
  )
})
