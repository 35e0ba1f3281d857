import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../support/Database.ts"
import {
  balance,
  claim,
  close,
  credit,
  customer,
  hold,
  lockBalance,
  lockWaiters,
  newLedger,
  run,
  twoNodes,
  wrongs
} from "./Fixture.ts"

const count = <A extends { readonly _tag: string }>(results: ReadonlyArray<A>, tag: A["_tag"]) =>
  results.filter((result) => result._tag === tag).length

const all = { concurrency: "unbounded" } as const

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

  it.live("grant an idempotency key to one of them, and name its request to the other", () =>
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

  it.live("create a credit of one reference once, whichever node gets it", () =>
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

  it.live("do not deadlock over accounts locked in different orders", () =>
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
  it.live("that another account's credit takes at the same moment leaves the other balance unchanged", () =>
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

  it.effect("stops every later hold, and no earlier one", () =>
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

  it.effect("stops holds like an expiry that the database's clock has passed", () =>
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
