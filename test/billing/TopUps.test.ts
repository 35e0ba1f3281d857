import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { fileURLToPath } from "node:url"
import { Audit } from "../../src/account/Audit.ts"
import { makeSimulated } from "../../src/billing/SimulatedPayments.ts"
import { makeStripe } from "../../src/billing/StripePayments.ts"
import { TopUps } from "../../src/billing/TopUps.ts"
import { newResourceId } from "../../src/platform/Ids.ts"
import { Random, seeds } from "../ledger/Random.ts"
import { runScript } from "../platform/database/Child.ts"
import { freshDatabase } from "../support/Database.ts"
import { giveBack, takeAway, whenBack } from "../support/Outage.ts"
import { stripeEvent, stripeServer, stripeSession } from "../support/Stripe.ts"
import { eventually } from "../support/Eventually.ts"
import { actor, faults, node, payer } from "./TopUpScene.ts"

const script = fileURLToPath(new URL("topUpProcess.ts", import.meta.url))

const COMPLETED = "checkout.session.completed"

/** Two nodes on one database with one Stripe; what is provided is the first of them. */
const scene = Effect.gen(function* () {
  const url = yield* freshDatabase("payments")
  const stripe = yield* stripeServer
  const one = yield* Layer.build(node(url, makeStripe(stripe.settings)))
  const two = yield* Layer.build(node(url, makeStripe(stripe.settings)))
  const nodes = [yield* Effect.provide(TopUps, one), yield* Effect.provide(TopUps, two)] as const
  return { url, stripe, one, nodes }
})

type Scene = Effect.Success<typeof scene>

const within = <A, E>(
  body: (scene: Scene) => Effect.Effect<A, E, Layer.Success<ReturnType<typeof node>> | Scope.Scope>
): Effect.Effect<A, unknown> =>
  Effect.scoped(
    Effect.flatMap(scene, (made): Effect.Effect<A, unknown, Scope.Scope> => Effect.provide(body(made), made.one))
  )

const deliver = (
  topUps: TopUps["Service"],
  { raw, signature }: { readonly raw: Uint8Array; readonly signature: string }
) => topUps.receive(raw, signature)

/** Makes a top-up due to be asked about, as if it were so many hours old. */
const aged = (id: string, hours: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`UPDATE top_up SET ask_at = now(), created_at = now() - ${hours} * interval '1 hour' WHERE id = ${id}`
  )

describe("a payment", () => {
  it.live("is credited once for a hundred simultaneous deliveries at two nodes", () =>
    within(({ nodes, stripe }) =>
      Effect.gen(function* () {
        const { audited, opened, posted, row } = yield* payer
        const { id, sessionId } = yield* opened()
        const event = stripeEvent(COMPLETED, stripe.pay(sessionId))
        const deliveries = Array.from({ length: 100 }, (_, index) => deliver(nodes[index % 2]!, event))
        yield* Effect.all(deliveries, { concurrency: 100 })
        assert.strictEqual(yield* posted, 25_000_000_000n)
        assert.deepInclude(yield* row(id), { status: "paid", session_id: sessionId, attention: null })
        assert.deepStrictEqual(yield* audited, ["top_up.paid", "top_up.created"])
        const sql = yield* SqlClient.SqlClient
        assert.deepStrictEqual(yield* sql`SELECT kind, amount, reference FROM transfer`, [
          { kind: "credit", amount: 25_000_000_000n, reference: `stripe:${sessionId}` }
        ])
        assert.deepStrictEqual(yield* faults, [])
      })
    )
  )

  it.live("is credited when the money arrives, not when the customer finishes the checkout", () =>
    within(({ nodes: [topUps], stripe }) =>
      Effect.gen(function* () {
        const { opened, posted, row } = yield* payer
        const { id, sessionId } = yield* opened()
        const session = stripe.pay(sessionId, "processing")
        yield* deliver(topUps, stripeEvent(COMPLETED, session))
        assert.deepInclude(yield* row(id), { status: "open", attention: null })
        assert.strictEqual(yield* posted, 0n)
        yield* deliver(topUps, stripeEvent("checkout.session.async_payment_succeeded", stripe.pay(sessionId)))
        assert.deepInclude(yield* row(id), { status: "paid" })
        assert.strictEqual(yield* posted, 25_000_000_000n)

        const other = yield* opened()
        yield* deliver(topUps, stripeEvent(COMPLETED, stripe.pay(other.sessionId, "processing")))
        const failed = stripeEvent("checkout.session.async_payment_failed", stripe.pay(other.sessionId, "processing"))
        yield* deliver(topUps, failed)
        assert.deepInclude(yield* row(other.id), { status: "failed" })
        assert.strictEqual(yield* posted, 25_000_000_000n)
      })
    )
  )

  it.live("of another amount or currency is not credited, and waits for an operator", () =>
    within(({ nodes: [topUps], stripe }) =>
      Effect.gen(function* () {
        const { opened, posted, row } = yield* payer
        for (const other of [{ amount_total: 2_499 }, { amount_total: 250_000 }, { currency: "eur" }]) {
          const { id, sessionId } = yield* opened()
          yield* deliver(topUps, stripeEvent(COMPLETED, { ...stripe.pay(sessionId), ...other }))
          const found = yield* row(id)
          assert.strictEqual(found.status, "open")
          assert.match(found.attention ?? "", /^paid \d+ (usd|eur) instead of 2500 usd/)
        }
        assert.strictEqual(yield* posted, 0n)
        assert.deepStrictEqual(yield* faults, [])
      })
    )
  )

  it.live("is found by its top-up when the checkout is unknown to the gateway", () =>
    within(({ nodes: [topUps] }) =>
      Effect.gen(function* () {
        const { create, posted, row } = yield* payer
        const id = yield* create()
        const session = stripeSession({ metadata: { top_up_id: id }, status: "complete", payment_status: "paid" })
        yield* deliver(topUps, stripeEvent(COMPLETED, session))
        assert.deepInclude(yield* row(id), { status: "paid", session_id: session.id })
        const second = { ...session, id: "cs_test_second" }
        yield* deliver(topUps, stripeEvent(COMPLETED, second))
        assert.deepInclude(yield* row(id), { attention: "another checkout was paid for it: cs_test_second" })
        assert.strictEqual(yield* posted, 25_000_000_000n)
        assert.deepStrictEqual(yield* faults, [])
      })
    )
  )

  it.live("is credited at its next delivery after an outage of the database", () =>
    within(({ nodes: [topUps], stripe, url }) =>
      Effect.gen(function* () {
        const { opened, posted } = yield* payer
        const { sessionId } = yield* opened()
        const event = stripeEvent(COMPLETED, stripe.pay(sessionId))
        yield* takeAway(url)
        assert.strictEqual((yield* Effect.flip(deliver(topUps, event)))._tag, "Unavailable")
        yield* giveBack(url)
        yield* whenBack(deliver(topUps, event))
        assert.strictEqual(yield* posted, 25_000_000_000n)
      })
    )
  )
})

/** What Stripe may tell of a checkout that its customer did this with; all of it is true at some time. */
const tales = {
  pays: ["checkout.session.completed"],
  "pays by a bank": ["checkout.session.completed", "checkout.session.async_payment_succeeded"],
  "cannot pay by a bank": ["checkout.session.completed", "checkout.session.async_payment_failed"],
  leaves: ["checkout.session.expired"]
} as const

describe("many payments", () => {
  for (const seed of seeds(3)) {
    it.live(`reported in any order and repeatedly at two nodes credit what was paid (seed ${seed})`, () =>
      within(({ nodes, stripe }) =>
        Effect.gen(function* () {
          const random = new Random(seed)
          const payers = [yield* payer, yield* payer, yield* payer, yield* payer, yield* payer, yield* payer]
          const told: Array<Effect.Effect<void, unknown>> = []
          const expected = payers.map(() => 0n)
          for (let count = 0; count < 40; count++) {
            const whose = random.below(payers.length)
            const cents = 500 + random.below(100_000)
            const { sessionId } = yield* payers[whose]!.opened(cents)
            const tale = random.pick(["pays", "pays by a bank", "cannot pay by a bank", "leaves"] as const)
            if (tale.startsWith("pays")) expected[whose]! += BigInt(cents) * 10_000_000n
            const paid = stripe.pay(sessionId)
            for (const [index, type] of tales[tale].entries()) {
              const status = tale.startsWith("pays") && index === tales[tale].length - 1 ? "paid" : "unpaid"
              const event = stripeEvent(type, { ...paid, payment_status: status }, { id: `evt_${count}_${index}` })
              for (let times = 1 + random.below(3); times > 0; times--) {
                told.splice(random.below(told.length + 1), 0, deliver(random.pick(nodes), event))
              }
            }
          }
          yield* Effect.all(told, { concurrency: 12 })
          assert.deepStrictEqual(yield* Effect.all(payers.map(({ posted }) => posted)), expected)
          assert.deepStrictEqual(yield* faults, [])
        })
      )
    )
  }
})

describe("an event", () => {
  it.live("without a top-up, of an unknown type, or in an invalid form changes nothing", () =>
    within(({ nodes: [topUps] }) =>
      Effect.gen(function* () {
        const { create, posted, row } = yield* payer
        const id = yield* create()
        const before = yield* row(id)
        const paid = stripeSession({ status: "complete", payment_status: "paid" })
        yield* deliver(topUps, stripeEvent(COMPLETED, paid))
        yield* deliver(topUps, stripeEvent(COMPLETED, { ...paid, metadata: { top_up_id: newResourceId() } }))
        yield* deliver(topUps, stripeEvent(COMPLETED, { ...paid, client_reference_id: id }))
        yield* deliver(topUps, stripeEvent("customer.created", { client_reference_id: id }))
        yield* deliver(topUps, stripeEvent(COMPLETED, { metadata: { top_up_id: id } }))
        yield* deliver(topUps, stripeEvent("charge.refunded", { payment_intent: "pi_none" }))
        assert.deepStrictEqual(yield* row(id), before)
        assert.strictEqual(yield* posted, 0n)
      })
    )
  )

  it.live("is refused without a signature", () =>
    within(({ nodes: [topUps], stripe }) =>
      Effect.gen(function* () {
        const { opened, posted } = yield* payer
        const { sessionId } = yield* opened()
        const event = stripeEvent(COMPLETED, stripe.pay(sessionId), { secret: "whsec_another" })
        assert.strictEqual((yield* Effect.flip(deliver(topUps, event)))._tag, "NotSigned")
        assert.strictEqual(yield* posted, 0n)
      })
    )
  )

  it.live("of a refund or a dispute is recorded once, and moves no money", () =>
    within(({ nodes, stripe }) =>
      Effect.gen(function* () {
        const { audited, opened, posted, row } = yield* payer
        const { id, sessionId } = yield* opened()
        const session = stripe.pay(sessionId)
        // A charge carries what its payment was made with, so that it is known even before the payment is.
        const charge = { id: "ch_1", payment_intent: session.payment_intent, metadata: { top_up_id: id } }
        const refunded = stripeEvent("charge.refunded", { ...charge, amount_refunded: 1_000 })
        yield* deliver(nodes[0], refunded)
        yield* deliver(nodes[0], stripeEvent(COMPLETED, session))
        const disputed = stripeEvent("charge.dispute.created", { ...charge, id: "dp_1", metadata: {}, amount: 2_500 })
        const again = Array.from({ length: 10 }, (_, index) =>
          [refunded, disputed].map((one) => deliver(nodes[index % 2]!, one))
        )
        yield* Effect.all(again.flat(), { concurrency: 20 })
        assert.deepStrictEqual(yield* audited, [
          "top_up.dispute_reported",
          "top_up.paid",
          "top_up.refund_reported",
          "top_up.created"
        ])
        assert.deepInclude(yield* row(id), { status: "paid", attention: "charge.refunded" })
        assert.strictEqual(yield* posted, 25_000_000_000n)
        assert.deepStrictEqual(yield* faults, [])
      })
    )
  )
})

describe("a payment that was not credited", () => {
  it.live("is recorded when a bank disputes it", () =>
    within(({ nodes: [topUps], stripe }) =>
      Effect.gen(function* () {
        const { audited, opened, posted, row } = yield* payer
        const { id, sessionId } = yield* opened()
        const session = stripe.pay(sessionId)
        yield* deliver(topUps, stripeEvent(COMPLETED, { ...session, amount_total: 2_499 }))
        // A dispute carries nothing of what its payment was made with.
        const dispute = { id: "dp_1", payment_intent: session.payment_intent, amount: 2_499 }
        yield* deliver(topUps, stripeEvent("charge.dispute.created", dispute))
        assert.deepStrictEqual(yield* audited, ["top_up.dispute_reported", "top_up.created"])
        assert.match((yield* row(id)).attention ?? "", /^paid 2499 usd instead/)
        assert.strictEqual(yield* posted, 0n)
        assert.deepStrictEqual(yield* faults, [])
      })
    )
  )
})

describe("a refunded or disputed amount", () => {
  it.live("appears in the audit log as dollars if its currency is dollars", () =>
    within(({ nodes: [topUps], stripe }) =>
      Effect.gen(function* () {
        const audit = yield* Audit
        const { accountId, opened } = yield* payer
        const told = (currency: string) =>
          Effect.gen(function* () {
            const { id, sessionId } = yield* opened()
            const session = { ...stripe.pay(sessionId), currency }
            yield* deliver(topUps, stripeEvent(COMPLETED, session))
            const about = { payment_intent: session.payment_intent, metadata: { top_up_id: id }, currency }
            const refund = { ...about, amount_refunded: 2_500 }
            const event = (what: string) => ({ id: `evt_${what}_${sessionId}` })
            yield* deliver(topUps, stripeEvent("charge.refunded", refund, event("refund")))
            yield* deliver(topUps, stripeEvent("charge.dispute.created", { ...about, amount: 1_200 }, event("dispute")))
            const lines = yield* audit.list(accountId, 2)
            return lines.map(({ changes }) => {
              const { event: _, event_id: __, ...amounts } = changes as Record<string, unknown>
              return amounts
            })
          })
        assert.deepStrictEqual(yield* told("usd"), [{ amount_usd: 12 }, { amount_usd: 25 }])
        assert.deepStrictEqual(yield* told("jpy"), [
          { amount_usd: null, amount: 1_200, currency: "jpy" },
          { amount_usd: null, amount: 2_500, currency: "jpy" }
        ])
      })
    )
  )
})

describe("a refund that is reported before its payment", () => {
  /** Pays a top-up and gives so much of it back, of which nothing is told yet. */
  const paidAndRefunded = (stripe: Scene["stripe"], cents: number | null) =>
    Effect.gen(function* () {
      const made = yield* payer
      const { id, sessionId } = yield* made.opened()
      const session = stripe.pay(sessionId)
      const charge = { id: "ch_1", payment_intent: session.payment_intent, metadata: { top_up_id: id } }
      const refunded = stripeEvent("charge.refunded", { ...charge, amount_refunded: cents }, { id: `evt_${sessionId}` })
      return { ...made, id, refunded, completed: stripeEvent(COMPLETED, session) }
    })

  it.live("leaves the credit to an operator when it is the whole amount, however often both are reported", () =>
    within(({ nodes, stripe }) =>
      Effect.gen(function* () {
        for (const cents of [2_500, null]) {
          const { audited, completed, id, posted, refunded, row } = yield* paidAndRefunded(stripe, cents)
          yield* deliver(nodes[0], refunded)
          yield* Effect.all(
            Array.from({ length: 10 }, (_, index) =>
              deliver(nodes[index % 2]!, index % 3 === 0 ? refunded : completed)
            ),
            { concurrency: 10 }
          )
          assert.deepInclude(yield* row(id), { status: "open", attention: "charge.refunded" })
          assert.strictEqual(yield* posted, 0n)
          assert.deepStrictEqual(yield* audited, ["top_up.refund_reported", "top_up.created"])
          yield* aged(id, 25)
          assert.strictEqual(yield* nodes[0].sweep, 0)
        }
        assert.deepStrictEqual(yield* faults, [])
      })
    )
  )

  it.live("lets the sweep credit the payment when only a part was refunded", () =>
    within(({ nodes: [topUps], stripe }) =>
      Effect.gen(function* () {
        const part = yield* paidAndRefunded(stripe, 1_000)
        const whole = yield* paidAndRefunded(stripe, 2_500)
        for (const { id, refunded } of [part, whole]) {
          yield* deliver(topUps, refunded)
          yield* aged(id, 1)
        }
        assert.strictEqual(yield* topUps.sweep, 2)
        assert.deepInclude(yield* part.row(part.id), { status: "paid", attention: "charge.refunded" })
        assert.deepInclude(yield* whole.row(whole.id), { status: "open", attention: "charge.refunded" })
        assert.strictEqual(yield* part.posted, 25_000_000_000n)
        assert.strictEqual(yield* whole.posted, 0n)
        assert.deepStrictEqual(yield* faults, [])
      })
    )
  )
})

describe("a checkout", () => {
  it.live("is opened for at most twenty waiting top-ups of an account", () =>
    within(({ nodes, stripe }) =>
      Effect.gen(function* () {
        const { accountId, create, opened } = yield* payer
        const { sessionId } = yield* opened()
        const made = yield* Effect.all(
          Array.from({ length: 25 }, () => Effect.exit(create())),
          { concurrency: 5 }
        )
        assert.lengthOf(made.filter(Exit.isSuccess), 19)
        assert.deepInclude(yield* Effect.flip(create()), {
          reason: { _tag: "Conflict", detail: "An account has at most 20 open top-ups" }
        })
        assert.lengthOf((yield* nodes[1].list(accountId, { limit: 100, cursor: undefined })).rows, 20)
        yield* (yield* payer).create()
        yield* deliver(nodes[0], stripeEvent(COMPLETED, stripe.pay(sessionId)))
        yield* create()
      })
    )
  )

  it.live("blocks another one for at most a minute when it could not be opened", () =>
    within(({ nodes: [topUps], stripe }) =>
      Effect.gen(function* () {
        const { accountId, create, opened } = yield* payer
        stripe.state.mood = "broken"
        const ids = yield* Effect.forEach(Array.from({ length: 20 }), () => create())
        assert.isTrue(Exit.isFailure(yield* Effect.exit(topUps.checkout(accountId, ids[0]!))))
        stripe.state.mood = "well"
        assert.nestedPropertyVal(yield* Effect.flip(create()), "reason._tag", "Conflict")
        for (const id of ids) yield* aged(id, 0.02)
        yield* opened()
        // One that is opened all the same is one that waits.
        for (const id of ids.slice(1)) yield* topUps.checkout(accountId, id)
        assert.nestedPropertyVal(yield* Effect.flip(create()), "reason._tag", "Conflict")
      })
    )
  )

  it.live("blocks no other one while it waits for an operator", () =>
    within(({ nodes: [topUps], stripe }) =>
      Effect.gen(function* () {
        const { create, opened, row } = yield* payer
        const made = yield* Effect.forEach(Array.from({ length: 20 }), () => opened())
        assert.nestedPropertyVal(yield* Effect.flip(create()), "reason._tag", "Conflict")
        // As when another account of Stripe's is used from now on.
        stripe.sessions.clear()
        for (const { id } of made) yield* aged(id, 1)
        assert.strictEqual(yield* topUps.sweep, 20)
        assert.match((yield* row(made[0]!.id)).attention ?? "", /^there is no checkout/)
        yield* create()
      })
    )
  )

  it.live("of the sandbox blocks no checkout of Stripe", () =>
    within(({ stripe, url }) =>
      Effect.gen(function* () {
        const { accountId, create, opened } = yield* payer
        const simulated = yield* Effect.provide(TopUps, yield* Layer.build(Layer.fresh(node(url, makeSimulated()))))
        const sql = yield* SqlClient.SqlClient
        const request = { accountId, amountCents: 2_500, actor }
        const make = Effect.suspend(() => sql.withTransaction(simulated.create({ id: newResourceId(), ...request })))
        yield* Effect.forEach(Array.from({ length: 20 }), () => make)
        assert.nestedPropertyVal(yield* Effect.flip(make), "reason._tag", "Conflict")
        yield* opened()
        yield* create()
        assert.strictEqual(stripe.sessions.size, 1)
      })
    )
  )

  it.live("is opened once, even if the process is killed before Stripe's answer arrives", () =>
    within(({ nodes, stripe, url }) =>
      Effect.gen(function* () {
        const { accountId, create, row } = yield* payer
        const id = yield* create()
        stripe.state.mood = "hangs_after"
        const child = yield* runScript(script, [url, stripe.origin, "checkout", accountId, id])
        yield* eventually(
          Effect.sync(() => stripe.sessions.size),
          (opened) => opened === 1
        )
        child.process.kill("SIGKILL")
        assert.strictEqual((yield* child.exit).signal, "SIGKILL")
        assert.isNull((yield* row(id)).session_id)
        stripe.state.mood = "well"
        const found = yield* Effect.forEach(nodes, (one) => one.checkout(accountId, id), { concurrency: 2 })
        assert.deepStrictEqual(
          found.map(({ session_id: session }) => session),
          ["cs_test_1", "cs_test_1"]
        )
        assert.strictEqual(stripe.sessions.size, 1)
      })
    )
  )

  it.live("belongs to an account, like its top-up", () =>
    within(({ nodes: [topUps] }) =>
      Effect.gen(function* () {
        const [mine, other] = [yield* payer, yield* payer]
        const { id } = yield* other.opened()
        const absent = newResourceId()
        for (const read of [topUps.get, topUps.checkout, topUps.simulate]) {
          const [theirs, none] = [
            yield* Effect.flip(read(mine.accountId, id)),
            yield* Effect.flip(read(mine.accountId, absent))
          ]
          assert.deepInclude(theirs, { reason: { _tag: "NotFound", what: "top-up", id } })
          assert.deepInclude(none, { reason: { _tag: "NotFound", what: "top-up", id: absent } })
        }
        assert.deepStrictEqual(yield* topUps.list(mine.accountId, { limit: 10, cursor: undefined }), {
          rows: [],
          next: null
        })
      })
    )
  )

  it.live("is listed with the account's other top-ups, newest first, page by page", () =>
    within(({ nodes: [topUps] }) =>
      Effect.gen(function* () {
        const { accountId, create } = yield* payer
        const made = yield* Effect.forEach([1, 2, 3, 4, 5], () => create())
        const found: Array<string> = []
        let cursor: string | undefined
        for (let pages = 0; pages < 3; pages++) {
          const page = yield* topUps.list(accountId, { limit: 2, cursor })
          found.push(...page.rows.map(({ id }) => id))
          cursor = page.next ?? undefined
        }
        assert.isUndefined(cursor)
        assert.deepStrictEqual(found, made.toSorted().toReversed())
      })
    )
  )

  it.live("is refused without a payment processor, like events", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase("payments")
      yield* Effect.gen(function* () {
        const topUps = yield* TopUps
        const { create } = yield* payer
        assert.deepInclude(yield* Effect.flip(create()), {
          reason: { _tag: "ServiceUnavailable", detail: "Payments are not set up on this gateway" }
        })
        const event = stripeEvent(COMPLETED, stripeSession())
        assert.deepInclude(yield* Effect.flip(deliver(topUps, event)), {
          reason: { _tag: "ServiceUnavailable", detail: "Payments are not set up on this gateway" }
        })
        assert.strictEqual(yield* topUps.sweep, 0)
      }).pipe(Effect.provide(node(url, undefined)))
    }).pipe(Effect.scoped)
  )

  it.live("of the sandbox is paid once by its link, until it expires", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase("payments")
      yield* Effect.gen(function* () {
        const topUps = yield* TopUps
        const { accountId, create, opened, posted, row } = yield* payer
        const { sessionId } = yield* opened()
        const paid = yield* Effect.forEach(Array.from({ length: 10 }), () => topUps.simulateCheckout(sessionId), {
          concurrency: 10
        })
        assert.deepStrictEqual([...new Set(paid.map(({ status }) => status))], ["paid"])
        assert.strictEqual(yield* posted, 25_000_000_000n)
        assert.strictEqual((yield* topUps.simulate(accountId, yield* create())).status, "paid")
        assert.strictEqual(yield* posted, 50_000_000_000n)
        const old = yield* opened()
        yield* aged(old.id, 25)
        assert.strictEqual(yield* topUps.sweep, 1)
        assert.strictEqual((yield* row(old.id)).status, "expired")
        assert.deepInclude(yield* Effect.flip(topUps.simulate(accountId, old.id)), {
          reason: { _tag: "Conflict", detail: "This top-up is expired" }
        })
        assert.deepStrictEqual(yield* faults, [])
      }).pipe(Effect.provide(node(url, makeSimulated())))
    }).pipe(Effect.scoped)
  )

  it.live("of Stripe cannot be paid by a simulation", () =>
    within(({ nodes: [topUps] }) =>
      Effect.gen(function* () {
        const { accountId, opened, posted } = yield* payer
        const { id, sessionId } = yield* opened()
        for (const one of [topUps.simulate(accountId, id), topUps.simulateCheckout(sessionId)]) {
          assert.nestedPropertyVal(yield* Effect.flip(one), "reason._tag", "NotFound")
        }
        assert.strictEqual(yield* posted, 0n)
      })
    )
  )
})

describe("a sweep", () => {
  it.live("finds payments whose events were lost, on all nodes at once", () =>
    within(({ nodes, stripe }) =>
      Effect.gen(function* () {
        const { opened, posted, row } = yield* payer
        const [paid, waiting, failed] = [yield* opened(), yield* opened(), yield* opened()]
        const [ended, open, gone, young] = [yield* opened(), yield* opened(), yield* opened(), yield* opened()]
        stripe.pay(paid.sessionId)
        stripe.pay(waiting.sessionId, "processing")
        stripe.pay(failed.sessionId, "requires_payment_method")
        stripe.sessions.get(ended.sessionId)!.status = "expired"
        stripe.sessions.delete(gone.sessionId)
        for (const one of [paid, waiting, failed, ended, open, gone]) yield* aged(one.id, 1)
        const asked = yield* Effect.all([nodes[0].sweep, nodes[1].sweep], { concurrency: 2 })
        assert.strictEqual(asked[0] + asked[1], 6)
        const standing = yield* Effect.forEach([paid, waiting, failed, ended, open, gone, young], (one) =>
          Effect.map(row(one.id), ({ attention, status }) => (attention === null ? status : "attention"))
        )
        assert.deepStrictEqual(standing, ["paid", "open", "failed", "expired", "open", "attention", "open"])
        assert.strictEqual(yield* posted, 25_000_000_000n)
        // Each is put off for a while.
        assert.strictEqual(yield* nodes[0].sweep, 0)
        assert.deepStrictEqual(yield* faults, [])
      })
    )
  )

  it.live("ends top-ups that can no longer be paid, and queries Stripe again after an outage", () =>
    within(({ nodes: [topUps], stripe }) =>
      Effect.gen(function* () {
        const { create, opened, posted, row } = yield* payer
        const [old, unopened, young] = [yield* opened(), yield* create(), yield* create()]
        const paid = yield* opened()
        stripe.pay(paid.sessionId)
        for (const id of [old.id, unopened, paid.id]) yield* aged(id, 25)
        yield* aged(young, 1)
        stripe.state.mood = "broken"
        assert.strictEqual(yield* topUps.sweep, 4)
        assert.strictEqual((yield* row(old.id)).status, "open")
        assert.strictEqual((yield* row(unopened)).status, "expired")
        stripe.state.mood = "well"
        for (const id of [old.id, paid.id]) yield* aged(id, 25)
        assert.strictEqual(yield* topUps.sweep, 2)
        assert.strictEqual((yield* row(old.id)).status, "expired")
        assert.strictEqual(stripe.sessions.get(old.sessionId)!.status, "expired")
        assert.strictEqual((yield* row(young)).status, "open")
        assert.strictEqual((yield* row(paid.id)).status, "paid")
        assert.strictEqual(yield* posted, 25_000_000_000n)
      })
    )
  )
})

describe("a process that is killed", () => {
  for (const point of ["before_credit", "before_commit", "after_commit"]) {
    it.live(`at ${point} leaves a payment that is credited once`, () =>
      within(({ nodes: [topUps], stripe, url }) =>
        Effect.gen(function* () {
          const { audited, opened, posted, row } = yield* payer
          const { id, sessionId } = yield* opened()
          const event = stripeEvent(COMPLETED, stripe.pay(sessionId))
          const child = yield* runScript(script, [url, stripe.origin, point, event.payload, event.signature])
          assert.strictEqual(yield* child.line, point)
          child.process.kill("SIGKILL")
          assert.strictEqual((yield* child.exit).signal, "SIGKILL")
          assert.strictEqual((yield* row(id)).status, point === "after_commit" ? "paid" : "open")
          assert.strictEqual(yield* posted, point === "after_commit" ? 25_000_000_000n : 0n)
          yield* deliver(topUps, event)
          assert.strictEqual((yield* row(id)).status, "paid")
          assert.strictEqual(yield* posted, 25_000_000_000n)
          assert.deepStrictEqual(yield* audited, ["top_up.paid", "top_up.created"])
          assert.deepStrictEqual(yield* faults, [])
        })
      )
    )
  }
})
