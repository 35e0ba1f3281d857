import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { verifyBooks } from "../../src/billing/Books.ts"
import { STARTER_CREDIT } from "../../src/billing/Phones.ts"
import { insertPhone } from "../../src/billing/PhonesSql.ts"
import { makeSimulated } from "../../src/billing/SimulatedPayments.ts"
import { TopUps } from "../../src/billing/TopUps.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import { verifyUsageBooks } from "../../src/usage/UsageBooks.ts"
import { freshDatabase } from "../support/Database.ts"
import { node, payer } from "./TopUpScene.ts"

/** Two payments, one of them paid. */
const paidIn = Effect.gen(function* () {
  const [topUps, ledger, sql] = [yield* TopUps, yield* Ledger, yield* SqlClient.SqlClient]
  const { accountId, opened } = yield* payer
  const [paid, open] = [yield* opened(), yield* opened()]
  yield* topUps.simulateCheckout(paid.sessionId)
  const credit = (reference: string, source: "funding" | "grants" = "funding", amount = 5n) =>
    ledger.within(sql, { _tag: "Credit", accountId, amount, source, reference })
  const verifyPhone = (credited: bigint) =>
    insertPhone(sql, { accountId, number: new Uint8Array(32), last2: "78", credited })
  return { sql, accountId, paid, open, credit, verifyPhone }
})

type PaidIn = Effect.Success<typeof paidIn>

const corruptions: Readonly<Record<string, (found: PaidIn) => Effect.Effect<unknown, unknown>>> = {
  "was paid and not credited": ({ open, sql }) =>
    sql`UPDATE top_up SET status = 'paid', paid_at = now() WHERE id = ${open.id}`,
  "was credited and not paid": ({ paid, sql }) =>
    sql`UPDATE top_up SET status = 'open', paid_at = NULL WHERE id = ${paid.id}`,
  "was credited with another amount": ({ paid, sql }) =>
    sql`UPDATE top_up SET amount_cents = amount_cents + 1 WHERE id = ${paid.id}`,
  "was credited to nobody's payment": ({ credit }) => credit("stripe:cs_of_nobody"),
  "was paid at another checkout": ({ paid, sql }) =>
    sql`UPDATE top_up SET session_id = 'cs_another' WHERE id = ${paid.id}`
}

const ofCredits: Readonly<Record<string, (found: PaidIn) => Effect.Effect<unknown, unknown>>> = {
  "was promised for a phone number and not given": ({ verifyPhone }) => verifyPhone(STARTER_CREDIT),
  "was given for no phone number": ({ accountId, credit }) => credit(`starter credit ${accountId}`, "grants"),
  "was given for nothing": ({ credit }) => credit("a present", "grants"),
  "was given in another amount": ({ accountId, credit, verifyPhone }) =>
    Effect.andThen(verifyPhone(STARTER_CREDIT), credit(`starter credit ${accountId}`, "grants")),
  "was given from another purse": ({ accountId, credit, verifyPhone }) =>
    Effect.andThen(verifyPhone(STARTER_CREDIT), credit(`starter credit ${accountId}`, "funding", STARTER_CREDIT)),
  "was given for a number that had its credit": ({ accountId, credit, verifyPhone }) =>
    Effect.andThen(verifyPhone(0n), credit(`starter credit ${accountId}`, "grants", STARTER_CREDIT))
}

const withDatabase = <A, E>(body: (url: string) => Effect.Effect<A, E>) =>
  Effect.scoped(Effect.flatMap(freshDatabase("books"), body))

describe("the books with top-ups", () => {
  it.live("are in order, and report how much was compared", () =>
    withDatabase((url) =>
      Effect.gen(function* () {
        const { accountId, credit, sql, verifyPhone } = yield* paidIn
        yield* verifyPhone(STARTER_CREDIT)
        yield* credit(`starter credit ${accountId}`, "grants", STARTER_CREDIT)
        const { checks } = yield* verifyUsageBooks(sql)
        assert.deepStrictEqual(yield* verifyBooks(sql), {
          ok: true,
          checks: [
            ...checks,
            { name: "top_ups_equal_transfers", ok: true, detail: "1 top-ups" },
            { name: "starter_credits_equal_transfers", ok: true, detail: "1 starter credits" }
          ]
        })
      }).pipe(Effect.provide(node(url, makeSimulated())))
    )
  )

  for (const [name, corrupt] of Object.entries(corruptions)) {
    it.live(`fail when something ${name}`, () =>
      withDatabase((url) =>
        Effect.gen(function* () {
          const found = yield* paidIn
          yield* corrupt(found)
          const { checks, ok } = yield* verifyBooks(found.sql)
          assert.isFalse(ok)
          const failed = checks.filter((check) => !check.ok)
          assert.deepStrictEqual(
            failed.map((check) => check.name),
            ["top_ups_equal_transfers"]
          )
          assert.match(
            failed[0]!.detail,
            /^\d of \d top-ups; for one, top-up \S+ was paid with \d+, its transfer is of \d+$/
          )
        }).pipe(Effect.provide(node(url, makeSimulated())))
      )
    )
  }

  for (const [name, corrupt] of Object.entries(ofCredits)) {
    it.live(`fail when a credit ${name}`, () =>
      withDatabase((url) =>
        Effect.gen(function* () {
          const found = yield* paidIn
          yield* corrupt(found)
          const { checks } = yield* verifyBooks(found.sql)
          const failed = checks.filter((check) => !check.ok)
          assert.deepStrictEqual(
            failed.map((check) => check.name),
            ["starter_credits_equal_transfers"]
          )
          assert.match(failed[0]!.detail, /^1 of 1 starter credits; for one, account \w+ has a starter credit of \d+,/)
        }).pipe(Effect.provide(node(url, makeSimulated())))
      )
    )
  }
})
