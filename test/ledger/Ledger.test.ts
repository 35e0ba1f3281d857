import { assert, describe, it, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { functionNamed } from "../../src/ledger/FunctionsSql.ts"
import { commitGroup, expireOverdue } from "../../src/ledger/LedgerSql.ts"
import type { Operation } from "../../src/ledger/Operation.ts"
import { newRequestId, newResourceId } from "../../src/platform/Ids.ts"
import type { Unavailable } from "../../src/platform/database/Sql.ts"
import * as Database from "../support/Database.ts"
import {
  addBudget,
  addKey,
  balance,
  claim,
  close,
  conclusion,
  credit,
  customer,
  extend,
  hold,
  lockBalance,
  lockWaiters,
  makeOverdue,
  newLedger,
  onDay,
  refund,
  request,
  rowCounts,
  run,
  twoNodes,
  wrongs
} from "./Fixture.ts"

const count = <A extends { readonly _tag: string }>(results: ReadonlyArray<A>, tag: A["_tag"]) =>
  results.filter((result) => result._tag === tag).length

const all = { concurrency: "unbounded" } as const

layer(Database.layer, { excludeTestServices: true })("an operation", (it) => {
  it.effect("leaves on an expired request what the extension with the most progress said of its use", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 100n)
      const facts = Effect.fnUntraced(function* (requestId: string) {
        yield* makeOverdue(sql, requestId)
        yield* expireOverdue(sql, 10)
        const [row] =
          yield* sql`SELECT settled, status, resolved_model, provider, closed FROM request WHERE id = ${requestId}`
        return row
      })
      const soFar = (output: number) => ({ resolvedModel: "m", provider: "p", closed: { usage: { output } } })
      const opened = hold(owner, 30n, { opened: { streamed: true } })
      yield* run(sql, opened)
      yield* run(sql, { ...extend(opened, 30n, 0n, 20n), soFar: soFar(2) })
      yield* run(sql, { ...extend(opened, 30n, 0n, 10n), soFar: soFar(1) })
      yield* run(sql, extend(opened, 30n, 0n, 20n))
      const error = { _tag: "HoldExpired" }
      assert.deepStrictEqual(yield* facts(opened.requestId), {
        ...{ settled: 20n, status: "failed", resolved_model: "m", provider: "p" },
        closed: { usage: { output: 2 }, error }
      })
      const silent = hold(owner, 30n)
      yield* run(sql, silent)
      yield* run(sql, extend(silent, 30n, 0n))
      assert.deepStrictEqual(yield* facts(silent.requestId), {
        ...{ settled: 0n, status: "failed", resolved_model: null, provider: null },
        closed: { error }
      })
    })
  )

  it.effect("holds, and settles what was used", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 100n)
      const opened = hold(owner, 30n, { upTo: 50n })
      assert.deepStrictEqual(yield* run(sql, opened), { _tag: "Granted", granted: 50n })
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 100n, held: 50n })
      const closed = yield* run(sql, close(opened, 20n))
      assert.deepStrictEqual(closed, { _tag: "Closed", settled: 20n, absorbed: 0n, posted: 80n, held: 0n })
      assert.deepStrictEqual(yield* run(sql, close(opened, 20n)), { _tag: "Gone", settled: 20n })
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 80n, held: 0n })
    })
  )

  it.effect("grants what there is between the least and the most", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 40n)
      assert.deepStrictEqual(yield* run(sql, hold(owner, 30n, { upTo: 50n })), { _tag: "Granted", granted: 40n })
    })
  )

  it.effect("never settles more than was held: the rest is absorbed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 100n)
      const opened = hold(owner, 30n)
      yield* run(sql, opened)
      const closed = yield* run(sql, close(opened, 45n))
      assert.deepStrictEqual(closed, { _tag: "Closed", settled: 30n, absorbed: 15n, posted: 70n, held: 0n })
    })
  )

  it.effect("releases a hold whole, and its idempotency key with it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 100n)
      const opened = hold(owner, 30n, { claim: claim("k") })
      yield* run(sql, opened)
      assert.strictEqual((yield* run(sql, close(opened, undefined)))._tag, "Closed")
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 100n, held: 0n })
      assert.strictEqual((yield* run(sql, hold(owner, 30n, { claim: claim("k") })))._tag, "Granted")
    })
  )

  it.effect("charges at once for a unit sold up front, and refunds no more than that", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 100n)
      const sold = hold(owner, 40n, { charge: true, upTo: 90n })
      assert.deepStrictEqual(yield* run(sql, sold), { _tag: "Granted", granted: 40n })
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 60n, held: 0n })
      assert.deepStrictEqual(yield* run(sql, refund(sold, 25n)), { _tag: "Moved" })
      assert.deepStrictEqual(yield* run(sql, refund(sold, 16n)), { _tag: "Gone" })
      assert.deepStrictEqual(yield* run(sql, refund(sold, 15n)), { _tag: "Moved" })
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 100n, held: 0n })
    })
  )

  it.effect("is refused for another's request, an unknown one, and an unknown account", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [owner, other] = [yield* customer(sql, 100n), yield* customer(sql, 100n)]
      const opened = hold(owner, 30n)
      yield* run(sql, opened)
      const stolen = { ...opened, accountId: other.accountId }
      assert.deepStrictEqual(yield* run(sql, close(stolen, 30n)), { _tag: "Gone", settled: 0n })
      assert.deepStrictEqual(yield* run(sql, extend(stolen, 30n, 1n)), { _tag: "Gone" })
      assert.deepStrictEqual(yield* run(sql, close(hold(owner, 1n), 1n)), { _tag: "Gone", settled: 0n })
      assert.strictEqual((yield* run(sql, hold({ ...other, keyId: owner.keyId }, 1n)))._tag, "KeyInactive")
      const nobody = { accountId: "f".repeat(24), keyId: owner.keyId }
      assert.strictEqual((yield* run(sql, hold(nobody, 0n)))._tag, "KeyInactive")
      assert.deepStrictEqual(yield* run(sql, credit(nobody, 5n)), { _tag: "Gone" })
      const others = onDay(yield* addBudget(sql, other, "key", 1_000n))
      assert.strictEqual((yield* run(sql, hold(owner, 1n, { budgets: [others] })))._tag, "Refused")
      assert.deepStrictEqual(yield* balance(sql, other), { posted: 100n, held: 0n })
    })
  )

  it.effect("keeps what JSON in a table cannot hold from failing a settle", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 100n)
      const opened = hold(owner, 30n, { claim: claim("nul") })
      yield* run(sql, opened)
      const body = "a\u0000b \ud83d\ude00 \ud83d end \\u0000 \\\\ \u0001"
      assert.strictEqual((yield* run(sql, close(opened, 5n, { answer: { body } })))._tag, "Closed")
      const [row] = yield* sql<{ answer: unknown }>`SELECT answer FROM request WHERE id = ${opened.requestId}`
      assert.deepStrictEqual(row?.answer, {
        body: "a\ufffdb \ud83d\ude00 \ufffd end \\u0000 \\\\ \u0001",
        posted: "95"
      })
    })
  )

  it.effect("that is refused leaves nothing behind", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 100n)
      const budgetId = yield* addBudget(sql, owner, "key", 20n)
      yield* run(sql, hold(owner, 10n, { claim: claim("taken") }))
      const revoked = { ...owner, keyId: yield* addKey(sql, owner.accountId) }
      yield* sql`UPDATE api_key SET revoked_at = now() WHERE id = ${revoked.keyId}`
      const before = [yield* rowCounts(sql), yield* balance(sql, owner)]
      const refused = yield* commitGroup(sql, [
        hold(owner, 91n, { budgets: [onDay(budgetId)] }),
        hold(owner, 21n, { budgets: [onDay(budgetId)] }),
        hold(owner, 1n, { claim: claim("taken") }),
        hold(revoked, 1n)
      ])
      assert.deepStrictEqual(
        refused.map((result) => result._tag),
        ["Refused", "Refused", "Claimed", "KeyInactive"]
      )
      assert.deepStrictEqual([yield* rowCounts(sql), yield* balance(sql, owner)], before)
    })
  )

  it.effect("is refused in a group as alone, and leaves to the others of its account what it would have taken", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 100n)
      const revoked = { ...owner, keyId: yield* addKey(sql, owner.accountId) }
      yield* sql`UPDATE api_key SET revoked_at = now() WHERE id = ${revoked.keyId}`
      const stranger = { ...owner, keyId: (yield* customer(sql, 0n)).keyId }
      const opened = hold(owner, 10n, { claim: claim("taken") })
      yield* run(sql, opened)
      const others: ReadonlyArray<readonly [Operation, string]> = [
        [hold(revoked, 1n), "KeyInactive"],
        [hold(stranger, 1n), "KeyInactive"],
        [hold({ ...owner, keyId: newResourceId() }, 1n), "KeyInactive"],
        [hold(owner, 1n, { budgetsEpoch: 1 }), "KeyChanged"],
        [hold(owner, 1n, { claim: claim("taken") }), "Claimed"],
        [hold(owner, 91n), "Refused"],
        [opened, "Granted"],
        [close(hold(owner, 1n), 1n), "Gone"]
      ]
      for (const [operation, answer] of others) {
        const fits = hold(owner, 5n)
        const results = yield* commitGroup(sql, [fits, operation, hold(owner, 2n)])
        assert.deepStrictEqual(
          results.map(({ _tag }) => _tag),
          ["Granted", answer, "Granted"]
        )
        yield* run(sql, close(fits, undefined))
      }
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 100n, held: 26n })
    })
  )

  it.effect("in a group stands or falls by itself, and the account without money stops no other", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [poor, rich] = [yield* customer(sql, 10n), yield* customer(sql, 1_000n)]
      yield* run(sql, hold(rich, 10n, { claim: claim("taken") }))
      const line = Array.from({ length: 60 }, () => hold(poor, 11n))
      const results = yield* commitGroup(sql, [
        ...line,
        hold(rich, 100n),
        hold(rich, 1n, { claim: claim("taken") }),
        hold(poor, 10n),
        hold(rich, 100n)
      ])
      assert.strictEqual(count(results.slice(0, 60), "Refused"), 60)
      assert.deepStrictEqual(
        results.slice(60).map((result) => result._tag),
        ["Granted", "Claimed", "Granted", "Granted"]
      )
    })
  )

  it.effect("that names another's request changes nothing for its owner's", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const pair = yield* Effect.forEach([1, 2], () =>
        Effect.gen(function* () {
          const owner = yield* customer(sql, 100n)
          const paid = { budgets: [onDay(yield* addBudget(sql, owner, "key", 100n))] }
          const opened = hold(owner, 10n, paid)
          yield* run(sql, opened)
          return { owner, opened, next: hold(owner, 20n, paid) }
        })
      )
      const results = yield* commitGroup(
        sql,
        pair.flatMap(({ next, owner }, index) => [
          close({ ...pair[1 - index]!.opened, accountId: owner.accountId }, 5n),
          next
        ])
      )
      assert.deepStrictEqual(
        results.map((result) => result._tag),
        ["Gone", "Granted", "Gone", "Granted"]
      )
    })
  )

  it.effect("gives back before it takes within a group", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 100n)
      const opened = hold(owner, 100n)
      yield* run(sql, opened)
      const [granted] = yield* commitGroup(sql, [hold(owner, 90n), close(opened, 10n)])
      assert.deepStrictEqual(granted, { _tag: "Granted", granted: 90n })
    })
  )

  it.effect("says what stands in its way", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 100n)
      const key = onDay(yield* addBudget(sql, owner, "key", 50n))
      const project = onDay(yield* addBudget(sql, owner, "project", 40n, "lifetime"), "1970-01-01")
      yield* run(sql, hold(owner, 30n, { budgets: [key, project] }))
      const source = (amount: bigint, budgets: ReadonlyArray<typeof key>) =>
        Effect.map(run(sql, hold(owner, amount, { budgets })), (result) =>
          result._tag === "Refused" ? result.limitSource : result._tag
        )
      assert.strictEqual(yield* source(21n, [key]), "key_budget")
      assert.strictEqual(yield* source(11n, [key, project]), "project_budget")
      assert.strictEqual(yield* source(21n, [key, project]), "key_budget")
      assert.strictEqual(yield* source(71n, [key, project]), "in_flight")
      assert.strictEqual(yield* source(101n, [key, project]), "balance")
      // Another day of a daily budget is another period; a lifetime has one.
      assert.strictEqual(yield* source(21n, [{ ...key, periodStart: "2026-01-03" }]), "Granted")
      assert.strictEqual(yield* source(11n, [project]), "project_budget")
      assert.strictEqual(yield* source(10n, [project]), "Granted")
    })
  )

  it.effect("settles to the period of its hold, and a refund gives back to it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 100n)
      const day = onDay(yield* addBudget(sql, owner, "key", 50n))
      const period = Effect.map(
        sql<{ spent: bigint; held: bigint }>`
          SELECT spent, held FROM budget_period WHERE budget_id = ${day.budgetId}`,
        (rows) => rows
      )
      const opened = hold(owner, 30n, { upTo: 90n, budgets: [day] })
      assert.deepStrictEqual(yield* run(sql, opened), { _tag: "Granted", granted: 50n })
      assert.deepStrictEqual(yield* period, [{ spent: 0n, held: 50n }])
      yield* run(sql, close(opened, 20n))
      assert.deepStrictEqual(yield* period, [{ spent: 20n, held: 0n }])
      yield* run(sql, refund(opened, 15n))
      assert.deepStrictEqual(yield* period, [{ spent: 5n, held: 0n }])
    })
  )

  it.effect("happens once though it is repeated after a lost acknowledgement", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 100n)
      const day = onDay(yield* addBudget(sql, owner, "key", 90n))
      const opened = hold(owner, 30n, { budgets: [day], claim: claim("again") })
      const twice = <Op extends Parameters<typeof run>[1]>(operation: Op) =>
        Effect.map(Effect.all([run(sql, operation), run(sql, operation)]), (results) => results)
      const granted = { _tag: "Granted", granted: 30n } as const
      assert.deepStrictEqual(yield* twice(opened), [granted, granted])
      const extended = { _tag: "Extended" } as const
      assert.deepStrictEqual(yield* twice(extend(opened, 30n, 20n, 5n)), [extended, extended])
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 100n, held: 50n })
      const closed = { _tag: "Closed", settled: 40n, absorbed: 0n, posted: 60n, held: 0n } as const
      assert.deepStrictEqual(yield* twice(close(opened, 40n)), [closed, { _tag: "Gone", settled: 40n }])
      const once = [{ _tag: "Moved" }, { _tag: "Gone" }] as const
      assert.deepStrictEqual<unknown>(yield* twice(credit(owner, 7n, "payment-1")), once)
      assert.deepStrictEqual<unknown>(yield* twice(refund(opened, 10n, "refund-1")), once)
      const sold = hold(owner, 5n, { charge: true })
      assert.deepStrictEqual<unknown>(yield* twice(sold), [
        { _tag: "Granted", granted: 5n },
        { _tag: "Granted", granted: 5n }
      ])
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 72n, held: 0n })
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )
})

layer(Database.layer, { excludeTestServices: true })("an overdue hold", (it) => {
  it.effect("is ended to admit a new one", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 100n)
      const forgotten = Array.from({ length: 150 }, () => hold(owner, 0n, { upTo: 0n }))
      const last = hold(owner, 100n)
      yield* commitGroup(sql, [...forgotten, last])
      yield* sql`UPDATE request SET expires_at = now() - interval '1 second' WHERE account_id = ${owner.accountId}`
      assert.deepStrictEqual(yield* run(sql, hold(owner, 60n)), { _tag: "Granted", granted: 60n })
      assert.strictEqual((yield* request(sql, last.requestId))?.state, "settled")
      const [open] =
        yield* sql`SELECT count(*) AS count FROM request WHERE account_id = ${owner.accountId} AND state = 'open'`
      assert.deepStrictEqual(open, { count: 1n })
    })
  )

  it.effect("is settled for its recorded progress by a sweep, and the rest released", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* newLedger(sql)
      const owner = yield* customer(sql, 100n)
      const [used, unused, alive] = [hold(owner, 30n), hold(owner, 30n), hold(owner, 30n)]
      yield* commitGroup(sql, [used, unused, alive])
      yield* run(sql, extend(used, 30n, 10n, 25n))
      for (const { requestId } of [used, unused]) yield* makeOverdue(sql, requestId)
      assert.strictEqual(yield* ledger.expireOverdue, 2)
      assert.strictEqual(yield* ledger.expireOverdue, 0)
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 75n, held: 30n })
      const [row] = yield* sql`SELECT state, status, settled, expired, closed FROM request WHERE id = ${used.requestId}`
      const closed = { error: { _tag: "HoldExpired" } }
      assert.deepStrictEqual(row, { state: "settled", status: "failed", settled: 25n, expired: true, closed })
    })
  )

  it.effect("charges nothing more when its settle comes too late, which is absorbed once", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* newLedger(sql)
      const owner = yield* customer(sql, 100n)
      const opened = hold(owner, 60n)
      yield* run(sql, opened)
      yield* run(sql, extend(opened, 60n, 0n, 25n))
      yield* makeOverdue(sql, opened.requestId)
      yield* ledger.expireOverdue
      for (const cost of [40n, 50n]) {
        assert.deepStrictEqual(yield* ledger.commit(close(opened, cost)), { _tag: "Gone", settled: 25n })
      }
      const facts = { state: "settled", held: 60n, settled: 25n, absorbed: 15n, refunded: 0n }
      assert.deepStrictEqual(yield* request(sql, opened.requestId), facts)
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 75n, held: 0n })
    })
  )

  it.effect("lives on when its own extension or settle comes before the sweep", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 100n)
      const [first, second] = [hold(owner, 40n), hold(owner, 40n)]
      yield* commitGroup(sql, [first, second])
      for (const { requestId } of [first, second]) yield* makeOverdue(sql, requestId)
      const results = yield* commitGroup(sql, [extend(first, 40n, 10n), close(second, 40n), hold(owner, 10n)])
      assert.deepStrictEqual(
        results.map((result) => result._tag),
        ["Extended", "Closed", "Granted"]
      )
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 60n, held: 60n })
    })
  )
})

describe("two nodes", () => {
  it.live("grant exactly what fits, of two hundred holds at once", () =>
    Effect.gen(function* () {
      const {
        nodes: [one, other],
        sql
      } = yield* twoNodes
      const owner = yield* customer(sql, 37n * 10n + 5n)
      const holds = Array.from({ length: 200 }, () => hold(owner, 10n))
      const results = yield* Effect.forEach(holds, (op, index) => [one, other][index % 2]!.commit(op), all)
      assert.strictEqual(count(results, "Granted"), 37)
      const refusals = results.filter((result) => result._tag === "Refused")
      assert.strictEqual(refusals.length, 163)
      // The money is there, but promised: that passes by itself.
      for (const { limitSource } of refusals) assert.strictEqual(limitSource, "in_flight")
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 375n, held: 370n })

      const granted = holds.filter((_, index) => results[index]!._tag === "Granted")
      yield* Effect.forEach(granted, (op, index) => [one, other][index % 2]!.commit(close(op, 10n)), all)
      const last = yield* one.commit(hold(owner, 10n))
      assert.deepStrictEqual(last, { _tag: "Refused", limitSource: "balance", available: 5n, posted: 5n })
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )

  it.live("let one of them win an idempotency key, and tell the other who did", () =>
    Effect.gen(function* () {
      const {
        nodes: [one, other],
        sql
      } = yield* twoNodes
      const owner = yield* customer(sql, 1_000_000n)
      for (let round = 0; round < 40; round++) {
        const rivals = [one, other].map((node) => ({ node, op: hold(owner, 10n, { claim: claim(`race-${round}`) }) }))
        const results = yield* Effect.forEach(rivals, ({ node, op }) => node.commit(op), all)
        const winner = results.findIndex((result) => result._tag === "Granted")
        assert.deepStrictEqual(results[1 - winner], { _tag: "Claimed", byRequestId: rivals[winner]!.op.requestId })
      }
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 1_000_000n, held: 400n })
    })
  )

  it.live("carry out a credit of one reference once, whichever of them is told", () =>
    Effect.gen(function* () {
      const {
        nodes: [one, other],
        sql
      } = yield* twoNodes
      const owner = yield* customer(sql, 0n)
      const told = Array.from({ length: 20 }, (_, index) => [one, other][index % 2]!)
      const results = yield* Effect.forEach(told, (node) => node.commit(credit(owner, 5n, "payment")), all)
      assert.strictEqual(count(results, "Moved"), 1)
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 5n, held: 0n })
    })
  )

  it.live("do not block one another for ever over accounts taken in different order", () =>
    Effect.gen(function* () {
      const {
        nodes: [one, other],
        sql
      } = yield* twoNodes
      const owners = yield* Effect.forEach(Array.from({ length: 6 }), () => customer(sql, 10_000n))
      const lines = [owners, owners.toReversed()].map((order) =>
        Array.from({ length: 300 }, (_, index) => hold(order[index % 6]!, 1n))
      )
      const results = yield* Effect.all(
        [
          Effect.forEach(lines[0]!, (op) => one.commit(op), all),
          Effect.forEach(lines[1]!, (op) => other.commit(op), all)
        ],
        all
      )
      assert.strictEqual(count(results.flat(), "Granted"), 600)
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )
})

describe("a reference", () => {
  it.live("that another account's movement takes in the same instant is seen the next time", () =>
    Effect.gen(function* () {
      const {
        nodes: [one, other],
        sql
      } = yield* twoNodes
      const [first, second] = [yield* customer(sql, 0n), yield* customer(sql, 0n)]
      const waiting = yield* sql.withTransaction(
        Effect.gen(function* () {
          assert.strictEqual((yield* one.within(sql, credit(first, 5n, "payment")))._tag, "Moved")
          const waiting = yield* Effect.forkDetach(other.commit(credit(second, 5n, "payment")))
          yield* lockWaiters(sql, 1)
          return waiting
        })
      )
      assert.deepStrictEqual(yield* Fiber.join(waiting), { _tag: "Gone" })
      assert.deepStrictEqual(yield* balance(sql, second), { posted: 0n, held: 0n })
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )
})

layer(Database.layer, { excludeTestServices: true })("a revocation", (it) => {
  it.effect("that commits while holds wait for the balance stops them", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* newLedger(sql)
      const owner = yield* customer(sql, 100n)
      const { unlock } = yield* lockBalance(sql, owner)
      const waiting = yield* Effect.forkChild(Effect.forEach([1, 2, 3], () => ledger.commit(hold(owner, 1n)), all))
      yield* lockWaiters(sql, 1)
      // It waits for no hold.
      yield* sql`UPDATE api_key SET revoked_at = now() WHERE id = ${owner.keyId}`
      yield* unlock
      assert.strictEqual(count(yield* Fiber.join(waiting), "KeyInactive"), 3)
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 100n, held: 0n })
    })
  )

  it.effect("stops whatever comes after it, and nothing before", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* newLedger(sql)
      const owner = yield* customer(sql, 100n)
      const revoke = sql`UPDATE api_key SET revoked_at = now() WHERE id = ${owner.keyId}`
      const before = yield* sql.withTransaction(Effect.andThen(revoke, ledger.commit(hold(owner, 1n))))
      assert.strictEqual(before._tag, "Granted")
      assert.strictEqual((yield* ledger.commit(hold(owner, 1n)))._tag, "KeyInactive")
    })
  )

  it.effect("is like an expiry that the database's clock has passed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 100n)
      yield* sql`UPDATE api_key SET expires_at = now() - interval '1 second' WHERE id = ${owner.keyId}`
      assert.strictEqual((yield* run(sql, hold(owner, 1n)))._tag, "KeyInactive")
      yield* sql`UPDATE api_key SET expires_at = now() + interval '1 hour' WHERE id = ${owner.keyId}`
      assert.strictEqual((yield* run(sql, hold(owner, 1n)))._tag, "Granted")
    })
  )
})

layer(Database.layer, { excludeTestServices: true })("within a transaction", (it) => {
  it.effect("a movement is committed and undone with it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* newLedger(sql)
      const owner = yield* customer(sql, 100n)
      const sold = hold(owner, 40n, { charge: true })
      const selling = Effect.gen(function* () {
        assert.strictEqual((yield* ledger.within(sql, sold))._tag, "Granted")
        // Others do not see it yet.
        assert.deepStrictEqual(yield* balance(sql, owner), { posted: 60n, held: 0n })
      })
      const undone = yield* Effect.exit(sql.withTransaction(Effect.andThen(selling, Effect.fail("undone"))))
      assert.isTrue(Exit.isFailure(undone))
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 100n, held: 0n })
      assert.isUndefined(yield* request(sql, sold.requestId))
      yield* sql.withTransaction(selling)
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 60n, held: 0n })
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )

  for (const way of ["moves money", "concludes a charge"] as const) {
    it.effect(`whoever ${way} and says no more keeps the others waiting for seconds only`, () =>
      Effect.gen(function* () {
        const { nodes, sql } = yield* twoNodes
        const [hung, other] = [yield* customer(sql, 100n), yield* customer(sql, 100n)]
        const charge = hold(hung, 40n, { charge: true })
        yield* nodes[0].commit(charge)
        const silent = yield* Deferred.make<void>()
        const hanging = yield* Effect.forkChild(
          Effect.gen(function* () {
            if (way === "moves money") yield* nodes[0].within(sql, credit(hung, 5n, "payment"))
            else yield* nodes[0].conclude(sql, conclusion(charge, 7n))
            yield* Deferred.succeed(silent, undefined)
            return yield* Effect.never
          }).pipe(sql.withTransaction)
        )
        yield* Deferred.await(silent)
        const held = yield* Effect.forEach([hung, other], (owner) => nodes[1].commit(hold(owner, 50n)), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(
          held.map(({ _tag }) => _tag),
          ["Granted", "Granted"]
        )
        // What it did is undone.
        assert.deepStrictEqual(yield* balance(sql, hung), { posted: 60n, held: 50n })
        yield* Fiber.interrupt(hanging)
        assert.deepStrictEqual(yield* wrongs(sql), [])
      })
    )
  }
})

layer(Database.layer, { excludeTestServices: true })("a transaction that began long ago", (it) => {
  it.effect("sees what has expired since", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* newLedger(sql)
      const owner = yield* customer(sql, 100n)
      const elsewhere = yield* sql.reserve
      const result = yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`SELECT now()`
          yield* elsewhere.executeRaw("UPDATE api_key SET expires_at = clock_timestamp() WHERE id = $1", [owner.keyId])
          return yield* ledger.within(sql, hold(owner, 1n))
        })
      )
      assert.strictEqual(result._tag, "KeyInactive")
    })
  )
})

layer(Database.layer, { excludeTestServices: true })("a ledger", (it) => {
  it.effect("fails an operation that cannot be, and only that", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* newLedger(sql)
      const owner = yield* customer(sql, 1_000n)
      const { unlock } = yield* lockBalance(sql, owner)
      const first = yield* Effect.forkChild(ledger.commit(hold(owner, 1n)))
      yield* lockWaiters(sql, 1)
      // These gather into one group behind the first.
      const group = yield* Effect.forkChild(
        Effect.all(
          [
            Effect.exit(ledger.commit(hold(owner, 1n))),
            Effect.exit(ledger.commit(credit(owner, -5n))),
            Effect.exit(ledger.commit(hold(owner, 1n, { opened: { circle: 1n } }))),
            Effect.exit(ledger.commit(credit(owner, 5n)))
          ],
          all
        )
      )
      yield* Effect.yieldNow
      yield* unlock
      yield* Fiber.join(first)
      assert.deepStrictEqual(
        (yield* Fiber.join(group)).map((exit) => exit._tag),
        ["Success", "Failure", "Failure", "Success"]
      )
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 1_005n, held: 2n })
    })
  )

  it.effect("answers in one group what shares no subject, and the rest after it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* newLedger(sql)
      const owner = yield* customer(sql, 1_000n)
      const opened = hold(owner, 10n)
      yield* ledger.commit(opened)
      yield* ledger.commit(hold(owner, 100n))
      const { unlock } = yield* lockBalance(sql, owner)
      const first = yield* Effect.forkChild(ledger.commit(hold(owner, 1n)))
      yield* lockWaiters(sql, 1)
      // Releases move no money, and others are held: neither a constraint nor a unique transfer would notice the second.
      const ends = yield* Effect.forkChild(
        Effect.forEach([1, 2, 3], () => ledger.commit(close(opened, undefined)), all)
      )
      const rivals = yield* Effect.forkChild(
        Effect.forEach([1, 2], () => ledger.commit(hold(owner, 1n, { claim: claim("rivals") })), all)
      )
      yield* Effect.yieldNow
      yield* unlock
      yield* Fiber.join(first)
      assert.deepStrictEqual(
        (yield* Fiber.join(ends)).map((result) => result._tag),
        ["Closed", "Gone", "Gone"]
      )
      assert.deepStrictEqual(
        (yield* Fiber.join(rivals)).map((result) => result._tag),
        ["Granted", "Claimed"]
      )
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 1_000n, held: 102n })
    })
  )

  it.effect("puts few long answers into one statement, and lets what is short go ahead of the others", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* newLedger(sql)
      const [owner, other] = [yield* customer(sql, 1_000n), yield* customer(sql, 1_000n)]
      const opened = [1, 2, 3].map(() => hold(owner, 10n))
      for (const op of opened) yield* ledger.commit(op)
      const { unlock } = yield* lockBalance(sql, owner)
      const first = yield* Effect.forkChild(ledger.commit(hold(owner, 1n)))
      yield* lockWaiters(sql, 1)
      const answer = { _tag: "Answer", answer: "x".repeat(600_000) }
      const long = yield* Effect.forkChild(
        Effect.forEach(opened, (op) => ledger.commit(close(op, 10n, { answer })), all)
      )
      const short = hold(other, 1n)
      const held = yield* Effect.forkChild(ledger.commit(short))
      yield* Effect.yieldNow
      yield* unlock
      for (const fiber of [first, long, held]) yield* Fiber.join<unknown, Unavailable>(fiber)
      const ids = [...opened, short].map(({ requestId }) => requestId)
      const rows = yield* sql<{ id: string; statement: string }>`SELECT id, xmin::text AS statement FROM request
        WHERE id = ANY (${ids})`
      const statements = ids.map((id) => rows.find((row) => row.id === id)!.statement)
      assert.strictEqual(new Set(statements).size, 3)
      assert.strictEqual(statements[3], statements[0])
    })
  )

  it.effect("frees idempotency keys of requests that ended long ago, and forgets their answers", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* newLedger(sql)
      const owner = yield* customer(sql, 100n)
      const [old, recent] = [hold(owner, 1n, { claim: claim("old") }), hold(owner, 1n, { claim: claim("recent") })]
      yield* commitGroup(sql, [old, recent])
      yield* commitGroup(sql, [close(old, 1n, { answer: { body: "x" } }), close(recent, 1n, { answer: { body: "y" } })])
      yield* sql`UPDATE request SET closed_at = now() - interval '1 hour' WHERE id = ${old.requestId}`
      yield* ledger.dropClaims(1_800_000)
      const rows = yield* sql`SELECT claim IS NULL AS free, answer IS NULL AS forgotten FROM request
        WHERE account_id = ${owner.accountId} ORDER BY closed_at`
      assert.deepStrictEqual(rows, [
        { free: true, forgotten: true },
        { free: false, forgotten: false }
      ])
      assert.strictEqual((yield* ledger.commit(hold(owner, 1n, { claim: claim("old") })))._tag, "Granted")
      assert.strictEqual((yield* ledger.commit(hold(owner, 1n, { claim: claim("recent") })))._tag, "Claimed")
    })
  )

  it.effect("leaves no caller waiting when it ends", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 100n)
      const { unlock } = yield* lockBalance(sql, owner)
      const [ledger, waiting] = yield* Effect.scoped(
        Effect.gen(function* () {
          const ledger = yield* newLedger(sql)
          const first = yield* Effect.forkDetach(Effect.flip(ledger.commit(hold(owner, 1n))))
          yield* lockWaiters(sql, 1)
          const second = yield* Effect.forkDetach(Effect.flip(ledger.commit(hold(owner, 1n))))
          yield* Effect.yieldNow
          return [ledger, [first, second]] as const
        })
      )
      yield* unlock
      for (const fiber of waiting) assert.strictEqual((yield* Fiber.join(fiber))._tag, "Unavailable")
      assert.strictEqual((yield* Effect.flip(ledger.commit(hold(owner, 1n))))._tag, "Unavailable")
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 100n, held: 0n })
    })
  )
})

layer(Database.layer, { excludeTestServices: true })("as tables grow", (it) => {
  it.effect("a sweep reads no more overdue holds than it ends, however many there are", () =>
    Effect.gen(function* () {
      const sql = yield* (yield* SqlClient.SqlClient).reserve
      const client = yield* SqlClient.SqlClient
      const owners = [yield* customer(client, 10_000n), yield* customer(client, 10_000n)]
      const holds = owners.flatMap((owner) => Array.from({ length: 1_500 }, () => hold(owner, 1n)))
      yield* commitGroup(client, holds)
      yield* client`UPDATE request SET expires_at = now() - random() * interval '1 hour'`
      yield* client`VACUUM ANALYZE request`
      const read = Effect.gen(function* () {
        yield* sql.executeRaw("SELECT pg_stat_force_next_flush()", [])
        yield* sql.executeRaw("SELECT 1", [])
        const [row] = yield* client<{ read: number }>`SELECT sum(idx_tup_read)::float8 AS read FROM pg_stat_user_indexes
          WHERE relname = 'request'`
        return row?.read ?? NaN
      })
      const sweep = Effect.provideService(expireOverdue(client, 100), client.transactionService, [sql, 0])
      const before = yield* read
      assert.strictEqual(yield* sweep, 100)
      assert.isBelow((yield* read) - before, 1_500)
    })
  )

  it.effect("no statement reads them whole, though its plan was made when they were tiny", () =>
    Effect.gen(function* () {
      // One session, whose plans stay as they were made, with the setting of those on which the ledger's statements run.
      const sql = yield* (yield* SqlClient.SqlClient).reserve
      yield* sql.executeRaw("SET plan_cache_mode = force_generic_plan", [])
      const client = yield* SqlClient.SqlClient
      const owner = yield* customer(client, 1_000_000n)
      const everyKind = (id: string) => {
        const name = { account_id: owner.accountId, request_id: id }
        return [
          [
            {
              ...name,
              kind: "hold",
              key_id: owner.keyId,
              operation: "o",
              model: "m",
              at_least: "9",
              up_to: "9",
              ttl_ms: 9_000,
              budgets: [],
              budgets_epoch: 0,
              opened: {},
              charge: false,
              claim: id
            }
          ],
          [{ ...name, kind: "extend", held: "9", more: "1", progress: "1", ttl_ms: 9_000 }],
          [
            {
              ...name,
              kind: "close",
              settle: true,
              cost: "5",
              only_if_expired: false,
              status: "succeeded",
              keep_claim: true,
              closed: {}
            }
          ],
          [{ ...name, kind: "refund", amount: "1", reference: id }],
          [{ kind: "credit", account_id: owner.accountId, amount: "1", source: "grants", reference: id }],
          [
            {
              ...name,
              kind: "hold",
              key_id: owner.keyId,
              request_id: `${id}x`,
              operation: "o",
              model: "m",
              at_least: "99999999",
              up_to: "99999999",
              ttl_ms: 9_000,
              budgets: [],
              opened: {},
              charge: false,
              claim: id
            }
          ]
        ]
      }
      const everyStatement = Effect.gen(function* () {
        for (const group of everyKind(newRequestId())) {
          yield* sql.executeValues(`SELECT * FROM ${functionNamed("ledger_commit")}($1::jsonb)`, [
            JSON.stringify(group)
          ])
        }
        const ids = [newRequestId(), newRequestId()]
        const [texts, whole] = [[ids.map(() => "x")], [ids.map(() => 9n)]] as const
        const nothing = [[], [], null, [], null, null, [], [], null]
        const none = [[], [], null, [], [], [], [], [], null, null, null, [], []]
        const ends = [
          ids,
          [true, true],
          ...whole,
          ["succeeded", "succeeded"],
          null,
          null,
          ["{}", "{}"],
          [true, true],
          null
        ]
        const keys = [owner.keyId, owner.keyId]
        const holds = [
          ids,
          keys,
          null,
          ...texts,
          ...texts,
          ...whole,
          [9_000n, 9_000n],
          ["{}", "{}"],
          null,
          ids,
          null,
          [owner.keyId],
          [0]
        ]
        for (const columns of [
          [...nothing, ...holds],
          [...ends, ...none]
        ]) {
          const places = Array.from({ length: 23 }, (_, index) => `$${index + 1}`)
          yield* sql.executeValues(`SELECT ${functionNamed("ledger_plain")}(${places.join(", ")})`, [
            owner.accountId,
            ...columns
          ])
        }
        const id = newRequestId()
        yield* sql.executeValues(
          `SELECT ${functionNamed("ledger_hold")}($1, $2, $3, NULL, 'o', 'm', 9, 9000, 0, '{}', $2, $2, NULL)`,
          [owner.accountId, id, owner.keyId]
        )
        yield* sql.executeValues(
          `SELECT ${functionNamed("ledger_close")}($1, $2, true, 5, 'succeeded', NULL, NULL, '{}', true, NULL)`,
          [owner.accountId, id]
        )
      })
      for (let round = 0; round < 3; round++) yield* everyStatement
      // A table of a page is planned to be read whole, unless that is forbidden.
      yield* client`VACUUM ANALYZE`
      yield* everyStatement
      yield* client`INSERT INTO account (id, email) SELECT lpad(to_hex(i), 24, '0'), i::text FROM generate_series(1, 5000) AS i`
      yield* client`INSERT INTO balance (account_id) SELECT lpad(to_hex(i), 24, '0') FROM generate_series(1, 5000) AS i`
      yield* client`INSERT INTO api_key (id, account_id, kind, name, hash, prefix, last4)
        SELECT lpad(to_hex(i), 24, '0'), lpad(to_hex(i), 24, '0'), 'inference', '', sha256(i::text::bytea), '', ''
        FROM generate_series(1, 5000) AS i`
      yield* client`INSERT INTO request (id, account_id, key_id, operation, model, state, status, expires_at, closed_at, held, opened, claim)
        SELECT 'old' || i, CASE WHEN i % 2 = 0 THEN ${owner.accountId} ELSE lpad(to_hex(i), 24, '0') END, 'k', 'o', 'm',
          CASE WHEN i % 3 = 0 THEN 'open' ELSE 'released' END, 'failed', now() + interval '1 hour',
          CASE WHEN i % 3 > 0 THEN now() END, 1, '{}', 'claim' || i FROM generate_series(1, 5000) AS i`
      yield* client`INSERT INTO transfer (debit, credit, amount, kind, reference)
        SELECT 'house:grants', ${owner.accountId}, 1, 'credit', 'old' || i FROM generate_series(1, 5000) AS i`
      const read = Effect.gen(function* () {
        yield* sql.executeRaw("SELECT pg_stat_force_next_flush()", [])
        yield* sql.executeRaw("SELECT 1", [])
        const rows = yield* client<{ name: string; rows: bigint }>`
          SELECT relname AS name, seq_tup_read + COALESCE(idx_tup_fetch, 0) + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes i
            WHERE i.relid = t.relid) ::int8 AS rows
          FROM pg_stat_user_tables t WHERE relname IN ('request', 'transfer', 'api_key', 'balance')`
        return rows.reduce((sum, row) => sum + Number(row.rows), 0)
      })
      const before = yield* read
      for (let round = 0; round < 10; round++) yield* everyStatement
      const perStatement = ((yield* read) - before) / 100
      assert.isBelow(perStatement, 30)
    })
  )
})
