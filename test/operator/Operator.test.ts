import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Operator } from "../../src/operator/Operator.ts"
import { addKey, close, customer, hold, run } from "../ledger/Fixture.ts"
import { layer as database } from "../support/Database.ts"

const rooms = Operator.layer.pipe(Layer.provideMerge(database))

describe("Operator", () => {
  it.effect("returns accounts, keys and requests in pages, and fails for unknown ones", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const operator = yield* Operator
      const owner = yield* customer(sql, 1_000n)
      yield* addKey(sql, owner.accountId)
      const first = yield* operator.keys(owner.accountId, { after: null, limit: 1 })
      const second = yield* operator.keys(owner.accountId, { after: first.next, limit: 1 })
      assert.deepStrictEqual([first.rows.length, second.rows.length, second.next], [1, 1, null])
      const opened = hold(owner, 40n)
      yield* run(sql, opened)
      const open = yield* operator.overview(owner.accountId)
      assert.deepStrictEqual([open.counts.open_requests, open.spent], [1, 0n])
      yield* run(sql, close(opened, 30n))
      assert.strictEqual((yield* operator.overview(owner.accountId)).spent, 30n)
      const { movements, row } = yield* operator.request(opened.requestId)
      assert.deepStrictEqual(
        [row.settled, movements.map(({ amount, kind }) => [kind, amount])],
        [30n, [["settle", -30n]]]
      )
      const search = { status: null, model: null, since: null, after: null, limit: 1 }
      const page = yield* operator.requests(owner.accountId, search)
      assert.deepStrictEqual(
        page.rows.map(({ id }) => id),
        [opened.requestId]
      )
      assert.deepInclude(yield* operator.account(owner.accountId), { posted: 970n, state: "active" })
      const missing = [
        operator.account("f".repeat(24)),
        operator.request(`req_${"0".repeat(26)}`),
        operator.accounts({ search: null, state: null, after: "f".repeat(24), limit: 1 })
      ]
      for (const look of missing) {
        const error = yield* Effect.flip(look as Effect.Effect<unknown, unknown>)
        assert.include(JSON.stringify(error), "NotFound")
      }
    }).pipe(Effect.provide(rooms))
  )
})
