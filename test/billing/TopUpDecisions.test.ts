import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../src/account/Audit.ts"
import { makeStripe } from "../../src/billing/StripePayments.ts"
import { decideTopUp, type DecisionRequest } from "../../src/billing/TopUpDecisions.ts"
import { TopUps } from "../../src/billing/TopUps.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import { freshDatabase } from "../support/Database.ts"
import { stripeEvent, stripeServer, stripeSession } from "../support/Stripe.ts"
import { actor, faults, node, payer } from "./TopUpScene.ts"

const COMPLETED = "checkout.session.completed"
const CENT = 10_000_000n

/** A node with a payer, and what Stripe tells it. */
const scene = Effect.gen(function* () {
  const stripe = yield* stripeServer
  const context = yield* Layer.build(node(yield* freshDatabase("decisions"), makeStripe(stripe.settings)))
  return yield* Effect.gen(function* () {
    const [sql, topUps] = [yield* SqlClient.SqlClient, yield* TopUps]
    const deps = { sql, audit: yield* Audit, ledger: yield* Ledger }
    let events = 0
    const told = (type: string, body: object) => {
      const { raw, signature } = stripeEvent(type, body, { id: `evt_${events++}` })
      return topUps.receive(raw, signature)
    }
    return {
      ...(yield* payer),
      stripe,
      told,
      faults: Effect.provideService(faults, SqlClient.SqlClient, sql),
      decide: (topUpId: string, request: Partial<DecisionRequest> = {}) =>
        decideTopUp(deps, { topUpId, action: "settled", reason: "checked", reference: "T-1", actor, ...request })
    }
  }).pipe(Effect.provide(context))
})

const messageOf = <A, E>(work: Effect.Effect<A, E>) =>
  Effect.map(Effect.flip(work), (error) => (error as { readonly message: string }).message)

describe("a top-up that needs an operator", () => {
  it.live("is credited once with the amount that an operator settles, whatever later events report", () =>
    Effect.gen(function* () {
      const { audited, decide, faults, opened, posted, row, stripe, told } = yield* scene
      const { id, sessionId } = yield* opened()
      const paid = { ...stripe.pay(sessionId), amount_total: 2_499 }
      yield* told(COMPLETED, paid)
      const done = yield* decide(id, { amount: 2_499n * CENT })
      assert.deepInclude(done, { amount: 2_499n * CENT, balance: 2_499n * CENT, status: "paid", repeated: false })
      assert.deepInclude(yield* decide(id, { amount: 2_499n * CENT }), { balance: 2_499n * CENT, repeated: true })
      assert.match(
        yield* messageOf(decide(id, { amount: 5n * CENT })),
        /^The reference T-1 was used on .* settled with \$24\.99$/
      )
      assert.match(yield* messageOf(decide(id, { reference: "T-2" })), /is paid and needs no operator$/)
      yield* told(COMPLETED, paid)
      assert.deepInclude(yield* row(id), { status: "paid", attention: null, credited_cents: 2_499 })
      assert.strictEqual(yield* posted, 2_499n * CENT)
      assert.deepStrictEqual(yield* audited, ["top_up.settled", "top_up.created"])
      assert.deepStrictEqual(yield* faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("is credited for the checkout that was paid, and a later payment of its own checkout is noticed", () =>
    Effect.gen(function* () {
      const { decide, faults, opened, posted, row, stripe, told } = yield* scene
      const { id, sessionId } = yield* opened()
      const second = {
        ...stripeSession({ metadata: { top_up_id: id }, status: "complete", payment_status: "paid" }),
        id: "cs_2"
      }
      yield* told(COMPLETED, second)
      assert.strictEqual((yield* row(id)).attention, "another checkout was paid for it: cs_2")
      assert.deepInclude(yield* decide(id), { amount: 2_500n * CENT, status: "paid" })
      assert.deepInclude(yield* row(id), { session_id: "cs_2", attention: null })
      yield* told(COMPLETED, stripe.pay(sessionId))
      assert.strictEqual((yield* row(id)).attention, `another checkout was paid for it: ${sessionId}`)
      // It was paid twice, so both payments are the customer's.
      assert.deepInclude(yield* decide(id, { reference: "T-2" }), { amount: 2_500n * CENT, status: "paid" })
      assert.strictEqual(yield* posted, 5_000n * CENT)
      yield* told(COMPLETED, stripe.pay(sessionId))
      assert.isNull((yield* row(id)).attention)
      assert.deepStrictEqual(yield* faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("is debited once, by the reported amount and at most what is available", () =>
    Effect.gen(function* () {
      const { decide, faults, opened, posted, row, stripe, told } = yield* scene
      const { id, sessionId } = yield* opened()
      const session = stripe.pay(sessionId)
      yield* told(COMPLETED, session)
      const charge = { id: "ch_1", payment_intent: session.payment_intent, metadata: { top_up_id: id } }
      yield* told("charge.refunded", { ...charge, amount_refunded: 1_000 })
      assert.match(
        yield* messageOf(decide(id, { amount: 2_600n * CENT })),
        /^\$26\.00 cannot be taken back: \$25\.00 of the balance is not held$/
      )
      assert.strictEqual((yield* row(id)).attention, "charge.refunded")
      assert.deepInclude(yield* decide(id), { amount: -1_000n * CENT, balance: 1_500n * CENT, status: "paid" })
      assert.deepInclude(yield* decide(id), { balance: 1_500n * CENT, repeated: true })
      yield* told("charge.refunded", { ...charge, amount_refunded: 1_700 })
      assert.deepInclude(yield* decide(id, { reference: "T-2" }), { amount: -700n * CENT, balance: 800n * CENT })
      yield* told("charge.dispute.created", { ...charge, id: "dp_1", metadata: {}, amount: 2_500 })
      assert.match(yield* messageOf(decide(id, { reference: "T-3" })), /name the amount to take back$/)
      yield* decide(id, { reference: "T-3", amount: 800n * CENT })
      assert.strictEqual(yield* posted, 0n)
      assert.deepStrictEqual(yield* faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("ends without a credit when it is dismissed, and is credited if its own payment still arrives", () =>
    Effect.gen(function* () {
      const { audited, decide, faults, opened, posted, row, stripe, told } = yield* scene
      const { id, sessionId } = yield* opened()
      const wrong = { ...stripe.pay(sessionId), currency: "eur" }
      yield* told(COMPLETED, wrong)
      const dismissal = { action: "dismissed", reason: "paid back at Stripe" } as const
      assert.deepInclude(yield* decide(id, dismissal), { amount: 0n, status: "expired", repeated: false })
      assert.deepInclude(yield* decide(id, dismissal), { repeated: true })
      yield* told(COMPLETED, wrong)
      assert.deepInclude(yield* row(id), { status: "expired", attention: null })
      assert.strictEqual(yield* posted, 0n)
      assert.deepStrictEqual(yield* audited, ["top_up.dismissed", "top_up.created"])
      yield* told(COMPLETED, stripe.pay(sessionId))
      assert.strictEqual(yield* posted, 2_500n * CENT)
      assert.deepStrictEqual(yield* faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("is decided once when twenty operators decide at the same time", () =>
    Effect.gen(function* () {
      const { decide, faults, opened, posted, stripe, told } = yield* scene
      const { id, sessionId } = yield* opened()
      yield* told(COMPLETED, { ...stripe.pay(sessionId), amount_total: 2_499 })
      const decisions = Array.from({ length: 20 }, (_, at) => Effect.exit(decide(id, { reference: `T-${at}` })))
      const ends = yield* Effect.all(decisions, { concurrency: 20 })
      assert.strictEqual(ends.filter(({ _tag }) => _tag === "Success").length, 1)
      assert.strictEqual(yield* posted, 2_500n * CENT)
      assert.deepStrictEqual(yield* faults, [])
    }).pipe(Effect.scoped)
  )
})
