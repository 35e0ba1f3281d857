import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { commitGroup } from "../../src/ledger/LedgerSql.ts"
import * as Database from "../support/Database.ts"
import { balance, close, customer, extend, hold, makeOverdue, newLedger, request, run } from "./Fixture.ts"

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

  it.effect("charges nothing more when its settle comes too late, and absorbs the cost once", () =>
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

layer(Database.layer, { excludeTestServices: true })("a transaction that began long ago", (it) => {
  it.effect("sees holds that have expired since", () =>
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
