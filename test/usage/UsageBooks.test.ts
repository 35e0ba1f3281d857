import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { commitGroup } from "../../src/ledger/LedgerSql.ts"
import { verify } from "../../src/ledger/Verify.ts"
import { verifyUsageBooks } from "../../src/usage/UsageBooks.ts"
import { Rollups } from "../../src/usage/Rollups.ts"
import { addKey, close, concludeAll, conclusion, customer, hold, refund, run } from "../ledger/Fixture.ts"
import * as Database from "../support/Database.ts"

const usage = { input: 5, cached: 3, cacheWrite: 2, output: 7, reasoning: 1 }

/** Takes all there is, the newest too. */
const rollUpAll = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE OR REPLACE FUNCTION usage_grace_ms() RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT -60000::bigint'`
  const { step } = yield* Effect.provide(
    Rollups,
    yield* Layer.build(Layer.fresh(Rollups.layer).pipe(Layer.provide(Layer.succeed(SqlClient.SqlClient, sql))))
  )
  const left = sql`SELECT FROM request WHERE id >= (SELECT through FROM usage_rollup_state)`
  // Transactions of other tests' databases are waited for as well: the server counts them all alike.
  for (let rounds = 0; (yield* step).rows > 0 || (yield* left).length > 0; rounds++) {
    assert.isBelow(rounds, 100)
    yield* Effect.sleep("50 millis")
  }
}).pipe(Effect.scoped)

/** Two accounts' requests of every kind, rolled up; some have not ended, and of two something was given back afterwards. */
const rolledUp = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const owner = yield* customer(sql, 1_000n)
  const other = yield* customer(sql, 1_000n)
  const another = { ...owner, keyId: yield* addKey(sql, owner.accountId) }
  const settled = [hold(owner, 50n), hold(another, 60n), hold(other, 70n)]
  const released = hold(owner, 10n)
  const open = hold(owner, 20n)
  const charged = [0, 1, 2].map(() => hold(owner, 40n, { charge: true }))
  yield* commitGroup(sql, [...settled, released, open, ...charged])
  for (const one of settled) yield* run(sql, close(one, 30n, { closed: { usage } }))
  yield* run(sql, close(released, undefined))
  yield* concludeAll(sql, [conclusion(charged[0]!, 15n), conclusion(charged[1]!, 40n, { status: "failed" })])
  yield* rollUpAll
  yield* run(sql, refund(settled[0]!, 5n))
  return { sql, owner, charged: charged[2]!, settled: settled[0]! }
})

type RolledUp = Effect.Success<typeof rolledUp>

const checkOf = (sql: SqlClient.SqlClient) =>
  Effect.map(verifyUsageBooks(sql), ({ checks }) => checks.find(({ name }) => name === "rollups_equal_requests")!)

layer(Database.layer, { excludeTestServices: true })("the books with the rollups", (it) => {
  it.effect("are correct for an empty database, and for one in use", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { checks } = yield* verify(sql)
      const all = yield* verifyUsageBooks(sql)
      assert.deepStrictEqual(all, {
        ok: true,
        checks: [
          ...checks,
          { name: "rollups_equal_requests", ok: true, detail: "0 rollups" },
          { name: "margins_equal_requests", ok: true, detail: "0 margins" }
        ]
      })
      const { charged } = yield* rolledUp
      assert.deepInclude(yield* checkOf(sql), { ok: true })
      yield* concludeAll(sql, [conclusion(charged, 1n)])
      assert.deepInclude(yield* checkOf(sql), { ok: true })
      yield* rollUpAll
      assert.deepInclude(yield* checkOf(sql), { ok: true })
    })
  )
})

const corruptions: Readonly<Record<string, (it: RolledUp) => Effect.Effect<unknown, unknown>>> = {
  "has another cost": ({ sql }) => sql`UPDATE usage_rollup SET cost = cost + 1 WHERE width = 'hour'`,
  "has other tokens": ({ sql }) => sql`UPDATE usage_rollup SET reasoning = reasoning + 1 WHERE width = 'day'`,
  "of a key has another cost": ({ sql }) => sql`UPDATE key_usage SET cost = cost + 1`,
  "of a key is of another time": ({ sql }) => sql`UPDATE key_usage SET newest_at = newest_at - interval '1 second'`,
  "of a model has another cost": ({ sql }) => sql`UPDATE model_usage SET cost = cost + 1 WHERE width = 'day'`,
  "of a model has other requests": ({ sql }) =>
    sql`UPDATE model_usage SET requests = requests - 1 WHERE width = 'hour'`,
  "is gone": ({ sql }) => sql`DELETE FROM usage_rollup WHERE width = 'day'`,
  "is of requests that are not there": ({ sql }) =>
    sql`INSERT INTO usage_rollup SELECT account_id, width, start, key_id, project_id, 'x', provider, operation, 1, 0, 0, 0, 0, 0, 0,
      newest_at, status, 0, 0, oldest_id, newest_id, 0, 0 FROM usage_rollup LIMIT 1`,
  "has taken a request that is pending": ({ settled, sql }) =>
    sql`INSERT INTO usage_pending VALUES (${settled.accountId}, ${settled.requestId})`,
  "has lost a charge that is not concluded": ({ charged, sql }) =>
    sql`DELETE FROM usage_pending WHERE request_id = ${charged.requestId}`,
  "has lost what was given back": ({ sql }) => sql`DELETE FROM usage_refund`
}

layer(Database.layer, { excludeTestServices: true })("the books fail when a rollup", (it) => {
  for (const [name, corrupt] of Object.entries(corruptions)) {
    it.effect(name, () =>
      Effect.gen(function* () {
        const found = yield* rolledUp
        assert.isTrue((yield* checkOf(found.sql)).ok)
        yield* corrupt(found)
        const { checks } = yield* verifyUsageBooks(found.sql)
        const failed = checks.filter(({ ok }) => !ok)
        // What is pending or was given back counts in the operator's margins as well.
        assert.deepStrictEqual(
          failed.map((check) => check.name).filter((one) => one !== "margins_equal_requests"),
          ["rollups_equal_requests"]
        )
        assert.match(
          failed[0]!.detail,
          /^\d+ of \d+ rollups; for one, one of account [0-9a-f]{24} for the ((model )?(hour|day)|ever) from /
        )
      }).pipe(Effect.provide(Database.layer, { local: true }))
    )
  }
})
