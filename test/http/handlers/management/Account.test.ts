import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { BalanceReport, TransactionList } from "../../../../schemas/management/Account.ts"
import { page } from "../../../support/Console.ts"
import { postbox } from "../../../support/Postbox.ts"
import { get, json, startService } from "../../../support/Service.ts"
import { twilio } from "../../../support/Twilio.ts"

const decode = Schema.decodeUnknownSync(BalanceReport, { onExcessProperty: "error" })

const NUMBER = "+4915112345678"

describe("the balance of an account", () => {
  it.live("shows the balance, the held part, and whether the balance is low", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const [rich, poor] = [yield* service.account(5), yield* service.account(4.99)]
      const balanceOf = (key: string) =>
        Effect.map(Effect.flatMap(get(`${service.api}/management/balance`, key), json), (body) => decode(body).data)
      assert.deepStrictEqual(yield* balanceOf(rich.managementKey), {
        balance_usd: 5,
        held_usd: 0,
        available_usd: 5,
        currency: "USD",
        low_balance: false,
        simulated_usd: 0,
        starter_credit_usd: 0
      })
      assert.deepStrictEqual(yield* balanceOf(poor.managementKey), {
        balance_usd: 4.99,
        held_usd: 0,
        available_usd: 4.99,
        currency: "USD",
        low_balance: true,
        simulated_usd: 0,
        starter_credit_usd: 0
      })
      const { status } = yield* get(`${service.api}/management/balance`, rich.inferenceKey)
      assert.strictEqual(status, 403)
    }).pipe(Effect.scoped)
  )
})

describe("the transactions of an account", () => {
  it.live("name top-ups, the starter credit, and the operator's credits and adjustments", () =>
    Effect.gen(function* () {
      const [mail, phones] = [yield* postbox(), yield* twilio]
      const service = yield* startService({ ...mail.settings, ...phones.settings })
      const ann = page(service.origin)
      const { body: session } = yield* ann.signIn(mail, "ann@example.com")
      const account = { id: session.account.id, email: "ann@example.com" } as const
      yield* ann.ask("POST", "/phone", { phone: NUMBER })
      yield* ann.ask("POST", "/phone/verify", { phone: NUMBER, code: phones.codeFor(NUMBER) })
      const { data: topUp } = (yield* ann.ask("POST", "/top-ups", { amount_usd: 25 })).body
      yield* ann.ask("POST", `/top-ups/${topUp.id}/simulate`)
      const row = (yield* service.sql`SELECT * FROM account WHERE id = ${account.id}`)[0] as never
      yield* service.customers.topUp(row, 2_000_000_000n, { reference: "invoice 1" })
      yield* service.customers.adjust(row, -500_000_000n, { reason: "a mistake" })
      const key = (yield* ann.ask("POST", "/management-keys", { name: "k", scopes: ["usage:read"] })).body.key
      const listed = (query = "") =>
        Effect.map(Effect.flatMap(get(`${service.api}/management/transactions${query}`, key), json), (body) =>
          Schema.decodeUnknownSync(TransactionList, { onExcessProperty: "error" })(body)
        )
      const { data, next_cursor } = yield* listed()
      assert.isNull(next_cursor)
      assert.deepStrictEqual(
        data.map(({ amount_usd, paid_with, reference, top_up_id, type }) => [
          type,
          amount_usd,
          paid_with,
          top_up_id,
          reference
        ]),
        [
          ["adjustment", -0.5, "real", null, null],
          ["credit", 2, "real", null, "invoice 1"],
          ["top_up", 25, "simulated", topUp.id, null],
          ["starter_credit", 0.5, "real", null, null]
        ]
      )
      const first = yield* listed("?limit=1")
      assert.deepStrictEqual([first.data, first.next_cursor], [data.slice(0, 1), data[0]!.id])
      assert.deepStrictEqual((yield* listed(`?cursor=${first.next_cursor}`)).data, data.slice(1))
      const refused = yield* get(`${service.api}/management/transactions?cursor=txn_1`, key)
      assert.deepStrictEqual([refused.status, (yield* json(refused)).error.param], [400, "cursor"])
      const theirs = yield* service.account(3)
      const other = yield* get(`${service.api}/management/transactions`, theirs.managementKey)
      assert.deepStrictEqual(
        (yield* json(other)).data.map(({ amount_usd }: { amount_usd: number }) => amount_usd),
        [3]
      )
    }).pipe(Effect.scoped)
  )
})
