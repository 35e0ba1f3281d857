import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { post, startService } from "../support/Service.ts"

const actor = { type: "operator", id: "test" } as const

/** A service with a request that was paid for by a key with a budget. */
const stage = Effect.gen(function* () {
  const service = yield* startService()
  const { account } = yield* service.account(5)
  const { id: keyId, key } = yield* service.keys.create({
    accountId: account.id,
    kind: "inference",
    name: "capped",
    scopes: [],
    actor,
    budget: { limitCents: 250, period: "monthly" }
  })
  const chat = () =>
    post(`${service.api}/chat/completions`, key, {
      model: "openai/gpt-5-mini",
      messages: [{ role: "user", content: "hello" }]
    })
  const requestId = (yield* chat()).headers.get("x-request-id") ?? ""
  const [row] = yield* service.sql<{ settled: bigint }>`SELECT settled FROM request WHERE id = ${requestId}`
  const { refund } = service.customers
  const ask = (amount: bigint | undefined, reference?: string, id = requestId) =>
    refund({ accountId: account.id, requestId: id, amount, reason: "outage", reference, actor })
  return { service, account, keyId, requestId, chat, ask, settled: row!.settled }
})

describe("refund", () => {
  it.live("never returns more than was settled when many operators refund the same request at once", () =>
    Effect.gen(function* () {
      const { account, service, settled, ask } = yield* stage
      const before = (yield* service.balance(account.id)).posted
      const third = settled / 3n
      const results = yield* Effect.all(
        [third, undefined, third, third, undefined, settled].map((amount) => Effect.result(ask(amount))),
        { concurrency: "unbounded" }
      )
      const given = results.flatMap((result) => (result._tag === "Success" ? [result.success.amount] : []))
      const sum = given.reduce((all, amount) => all + amount, 0n)
      assert.isAtMost(Number(sum), Number(settled))
      assert.isAbove(results.length, given.length)
      yield* Effect.ignore(ask(undefined))
      assert.strictEqual((yield* service.balance(account.id)).posted, before + settled)
      const spent = yield* service.sql`SELECT spent FROM budget_period`
      assert.deepStrictEqual(spent, [{ spent: 0n }])
      assert.deepStrictEqual(yield* service.faults, [])
      const error = yield* Effect.flip(ask(1n))
      assert.match(error.message, /at most \$0\.00 can be refunded/)
    }).pipe(Effect.scoped)
  )

  it.live("happens once per reference, also when concurrent or for the whole rest", () =>
    Effect.gen(function* () {
      const { account, chat, service, settled, ask } = yield* stage
      const before = (yield* service.balance(account.id)).posted
      const both = yield* Effect.all([ask(undefined, "T-1"), ask(undefined, "T-1")], { concurrency: 2 })
      assert.sameMembers(
        both.map(({ repeated }) => repeated),
        [false, true]
      )
      assert.deepStrictEqual(
        both.map(({ amount, cost, total }) => [amount, total, cost]),
        [
          [settled, settled, 0n],
          [settled, settled, 0n]
        ]
      )
      assert.strictEqual((yield* service.balance(account.id)).posted, before + settled)
      const other = (yield* chat()).headers.get("x-request-id") ?? ""
      const error = yield* Effect.flip(ask(undefined, "T-1", other))
      assert.match(error.message, /The reference T-1 was used on \d{4}-.* to refund \$0\.\d+ of req_/)
      const transfers = yield* service.sql`SELECT debit, credit, amount, reference FROM transfer WHERE kind = 'refund'`
      assert.deepStrictEqual(transfers, [
        { debit: "house:revenue", credit: account.id, amount: settled, reference: "operator:T-1" }
      ])
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )
})
