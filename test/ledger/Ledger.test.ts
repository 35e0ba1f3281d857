import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { commitGroup, expireOverdue } from "../../src/ledger/LedgerSql.ts"
import type { Operation } from "../../src/ledger/Operation.ts"
import { newResourceId } from "../../src/platform/Ids.ts"
import * as Database from "../support/Database.ts"
import {
  addBudget,
  addKey,
  balance,
  claim,
  close,
  credit,
  customer,
  extend,
  hold,
  makeOverdue,
  onDay,
  refund,
  rowCounts,
  run,
  wrongs
} from "./Fixture.ts"

const count = <A extends { readonly _tag: string }>(results: ReadonlyArray<A>, tag: A["_tag"]) =>
  results.filter((result) => result._tag === tag).length

layer(Database.layer, { excludeTestServices: true })("an operation", (it) => {
  it.effect("leaves the usage of the extension with the most progress on an expired request", () =>
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
        settled: 20n,
        status: "failed",
        resolved_model: "m",
        provider: "p",
        closed: { usage: { output: 2 }, error }
      })
      const silent = hold(owner, 30n)
      yield* run(sql, silent)
      yield* run(sql, extend(silent, 30n, 0n))
      assert.deepStrictEqual(yield* facts(silent.requestId), {
        settled: 0n,
        status: "failed",
        resolved_model: null,
        provider: null,
        closed: { error }
      })
    })
  )

  it.effect("holds, and settles the usage", () =>
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

  it.effect("grants the available amount between the minimum and the maximum", () =>
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

  it.effect("releases a whole hold with its idempotency key", () =>
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
      const unknown = { accountId: "f".repeat(24), keyId: owner.keyId }
      assert.strictEqual((yield* run(sql, hold(unknown, 0n)))._tag, "KeyInactive")
      assert.deepStrictEqual(yield* run(sql, credit(unknown, 5n)), { _tag: "Gone" })
      const others = onDay(yield* addBudget(sql, other, "key", 1_000n))
      assert.strictEqual((yield* run(sql, hold(owner, 1n, { budgets: [others] })))._tag, "Refused")
      assert.deepStrictEqual(yield* balance(sql, other), { posted: 100n, held: 0n })
    })
  )

  it.effect("settles even when the usage has text that JSON in a table cannot store", () =>
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

  it.effect("is refused in a group as it is alone, and leaves its money to the others of its account", () =>
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

  it.effect("in a group succeeds or fails by itself, and an account without money stops no other", () =>
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

  it.effect("that names another account's request leaves that request unchanged", () =>
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

  it.effect("applies releases before holds within a group", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 100n)
      const opened = hold(owner, 100n)
      yield* run(sql, opened)
      const [granted] = yield* commitGroup(sql, [hold(owner, 90n), close(opened, 10n)])
      assert.deepStrictEqual(granted, { _tag: "Granted", granted: 90n })
    })
  )

  it.effect("has a reason when it is refused", () =>
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

  it.effect("settles to the budget period of its hold, and a refund returns to that period", () =>
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

  it.effect("happens once even if it is repeated after a lost acknowledgement", () =>
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
