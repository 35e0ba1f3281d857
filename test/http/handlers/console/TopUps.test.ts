import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TopUpList, TopUpReport } from "../../../../schemas/console/TopUps.ts"
import { page } from "../../../support/Console.ts"
import { postbox } from "../../../support/Postbox.ts"
import { startService } from "../../../support/Service.ts"
import { stripeServer } from "../../../support/Stripe.ts"

const report = Schema.decodeUnknownSync(TopUpReport, { onExcessProperty: "error" })
const list = Schema.decodeUnknownSync(TopUpList, { onExcessProperty: "error" })

const nothing = "0".repeat(24)

/** A service with these settings, and somebody who is signed in there to an account without money. */
const signedIn = (env: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const mail = yield* postbox()
    const service = yield* startService({ ...mail.settings, ...env })
    const owner = Effect.gen(function* () {
      const { account } = yield* service.account(0)
      const { ask, signIn } = page(service.origin)
      assert.strictEqual((yield* signIn(mail, account.email)).status, 200)
      return { ask, account, posted: Effect.map(service.balance(account.id), ({ posted }) => posted) }
    })
    return { service, owner, ...(yield* owner) }
  })

describe("/console/top-ups in the sandbox", () => {
  it.live("are opened, paid at their link or by a simulation, and listed", () =>
    Effect.gen(function* () {
      const { ask, posted, service } = yield* signedIn()
      const made = yield* ask("POST", "/top-ups", { amount_usd: 19.99 })
      assert.strictEqual(made.status, 200)
      const { data } = report(made.body)
      assert.deepInclude(data, { object: "top_up", status: "open", amount_usd: 19.99, paid_at: null })
      assert.strictEqual(made.headers.get("cache-control"), "no-store")
      assert.match(
        data.checkout_url ?? "",
        new RegExp(`^http://localhost:\\d+/api/v1/payments/simulated/cs_simulated_`)
      )
      assert.strictEqual(yield* posted, 0n)

      for (const _ of [1, 2]) {
        const paid = yield* Effect.promise(() => fetch(data.checkout_url!.replace(/^http:\/\/[^/]+/, service.origin)))
        assert.strictEqual(paid.status, 200)
        const { data: after } = report(yield* Effect.promise(() => paid.json()))
        assert.deepInclude(after, { id: data.id, status: "paid", checkout_url: null })
      }
      assert.strictEqual(yield* posted, 19_990_000_000n)

      const second = report((yield* ask("POST", "/top-ups", { amount_usd: 10_000 })).body).data
      const simulated = yield* ask("POST", `/top-ups/${second.id}/simulate`)
      assert.strictEqual(report(simulated.body).data.status, "paid")
      assert.strictEqual((yield* ask("POST", `/top-ups/${second.id}/simulate`)).status, 200)
      assert.strictEqual(yield* posted, 10_019_990_000_000n)

      assert.deepStrictEqual(report((yield* ask("GET", `/top-ups/${second.id}`)).body), report(simulated.body))
      const first = list((yield* ask("GET", "/top-ups?limit=1")).body)
      assert.deepStrictEqual([first.data.map(({ id }) => id), first.next_cursor], [[second.id], second.id])
      const rest = list((yield* ask("GET", `/top-ups?cursor=${second.id}`)).body)
      assert.deepStrictEqual([rest.data.map(({ id }) => id), rest.next_cursor], [[data.id], null])
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("are opened once under an idempotency key", () =>
    Effect.gen(function* () {
      const { ask } = yield* signedIn()
      const once = (amount_usd: number) => ask("POST", "/top-ups", { amount_usd }, { "idempotency-key": "the-same" })
      const [made, again] = [yield* once(5), yield* once(5)]
      assert.deepStrictEqual([made.status, again.status], [200, 200])
      assert.deepStrictEqual(again.body, made.body)
      assert.isNull(made.headers.get("idempotency-replayed"))
      assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
      assert.strictEqual((yield* once(6)).body.error.code, "idempotency_key_reused")
      assert.lengthOf(list((yield* ask("GET", "/top-ups")).body).data, 1)
    }).pipe(Effect.scoped)
  )

  it.live("are of $5.00 to $10,000.00 in whole cents", () =>
    Effect.gen(function* () {
      const { ask } = yield* signedIn()
      for (const amount of [4.99, 10_000.01, 5.001, 0, -5, "5", null]) {
        const { body, status } = yield* ask("POST", "/top-ups", { amount_usd: amount })
        assert.deepStrictEqual(
          [status, body.error.code, body.error.param],
          [400, "validation_error", "amount_usd"],
          `${amount}`
        )
      }
      const more = yield* ask("POST", "/top-ups", { amount_usd: 5, currency: "eur" })
      assert.deepStrictEqual([more.status, more.body.error.param], [400, "currency"])
      for (const amount of [5, 10_000, 8.1, 1234.56]) {
        assert.strictEqual((yield* ask("POST", "/top-ups", { amount_usd: amount })).body.data.amount_usd, amount)
      }
    }).pipe(Effect.scoped)
  )

  it.live("of other accounts are not found", () =>
    Effect.gen(function* () {
      const { ask, owner, posted } = yield* signedIn()
      const other = yield* owner
      const { id } = report((yield* other.ask("POST", "/top-ups", { amount_usd: 5 })).body).data
      for (const [method, path] of [
        ["GET", ""],
        ["POST", "/simulate"]
      ] as const) {
        const theirs = yield* ask(method, `/top-ups/${id}${path}`)
        const none = yield* ask(method, `/top-ups/${nothing}${path}`)
        assert.strictEqual(theirs.status, 404)
        assert.strictEqual(none.status, 404)
        assert.deepStrictEqual(JSON.stringify(theirs.body).replaceAll(id, nothing), JSON.stringify(none.body))
      }
      assert.deepStrictEqual(list((yield* ask("GET", "/top-ups")).body).data, [])
      assert.strictEqual((yield* posted) + (yield* other.posted), 0n)
    }).pipe(Effect.scoped)
  )

  it.live("require a signed-in owner and a page of this service", () =>
    Effect.gen(function* () {
      const { ask, service } = yield* signedIn()
      const stranger = page(service.origin)
      assert.strictEqual((yield* stranger.ask("GET", "/top-ups")).status, 401)
      assert.strictEqual((yield* stranger.ask("POST", "/top-ups", { amount_usd: 5 })).status, 401)
      const foreign = { "sec-fetch-site": "cross-site" }
      assert.strictEqual((yield* ask("POST", "/top-ups", { amount_usd: 5 }, foreign)).status, 403)
      assert.deepStrictEqual(list((yield* ask("GET", "/top-ups")).body).data, [])
    }).pipe(Effect.scoped)
  )
})

describe("/console/top-ups by Stripe", () => {
  it.live("open its checkout, and a repeat after a lost answer opens the same one", () =>
    Effect.gen(function* () {
      const stripe = yield* stripeServer
      const { ask } = yield* signedIn(stripe.env)
      stripe.state.mood = "broken"
      const once = ask("POST", "/top-ups", { amount_usd: 25 }, { "idempotency-key": "one" })
      const failed = yield* once
      assert.deepStrictEqual([failed.status, failed.body.error.code], [503, "service_unavailable"])
      assert.strictEqual(failed.headers.get("retry-after"), "5")
      const [waiting] = list((yield* ask("GET", "/top-ups")).body).data
      assert.deepInclude(waiting, { status: "open", checkout_url: null })
      stripe.state.mood = "well"
      const made = report((yield* once).body).data
      assert.deepInclude(made, { id: waiting!.id, checkout_url: "https://checkout.stripe.com/c/pay/cs_test_1" })
      assert.deepStrictEqual(report((yield* once).body).data, made)
      assert.strictEqual(stripe.sessions.size, 1)
      assert.strictEqual((yield* ask("POST", `/top-ups/${made.id}/simulate`)).status, 404)
      const [request] = stripe.requests.slice(-1)
      assert.match(request!.body.get("success_url") ?? "", /^http:\/\/localhost:\d+\/billing\?top_up=/)
    }).pipe(Effect.scoped)
  )

  it.live("are refused outside the sandbox when Stripe is not set up", () =>
    Effect.gen(function* () {
      const { ask } = yield* signedIn({ SANDBOX: "off" })
      const { body, status } = yield* ask("POST", "/top-ups", { amount_usd: 25 })
      assert.deepStrictEqual([status, body.error.code], [503, "service_unavailable"])
      assert.deepStrictEqual(list((yield* ask("GET", "/top-ups")).body).data, [])
    }).pipe(Effect.scoped)
  )
})
