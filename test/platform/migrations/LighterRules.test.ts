import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { firstRequestIdAt } from "../../../src/platform/Ids.ts"
import { balance, close, customer, hold, request, run, wrongs } from "../../ledger/Fixture.ts"
import * as Database from "../../support/Database.ts"

const GRACE_MS = 30_000

layer(Database.layer, { excludeTestServices: true })("the rules of the ledger's tables", (it) => {
  it.effect("refuse what no request, no movement and no balance can be, and change nothing", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 1_000n)
      const [open, settled] = [hold(owner, 100n), hold(owner, 50n)]
      for (const op of [open, settled, close(settled, 40n)]) yield* run(sql, op)
      const refused = (statement: string, id: string) =>
        Effect.gen(function* () {
          const error = yield* Effect.flip(sql.unsafe(statement, [id]))
          assert.strictEqual(error.reason._tag, "ConstraintError", statement)
        })
      const before = [
        yield* request(sql, open.requestId),
        yield* request(sql, settled.requestId),
        yield* balance(sql, owner)
      ]
      for (const column of ["held", "progress", "settled", "absorbed", "refunded"]) {
        yield* refused(`UPDATE request SET ${column} = -1 WHERE id = $1`, settled.requestId)
      }
      const wrong = [
        "settled = held + 1",
        "progress = held + 1",
        "refunded = settled + 1",
        "closed_at = NULL",
        "state = 'open'",
        "state = 'paid'",
        "state = ''",
        "status = 'well'"
      ]
      for (const what of wrong) yield* refused(`UPDATE request SET ${what} WHERE id = $1`, settled.requestId)
      yield* refused("UPDATE request SET closed_at = now() WHERE id = $1", open.requestId)
      yield* refused("UPDATE request SET state = 'released' WHERE id = $1", open.requestId)
      for (const [debit, credit, amount, kind] of [
        ["a", "b", 0, "credit"],
        ["a", "b", -1, "credit"],
        ["a", "a", 1, "credit"],
        ["a", "b", 1, "gift"]
      ] as const) {
        const row = `'${debit}', '${credit}', ${amount}, '${kind}'`
        yield* refused(`INSERT INTO transfer (debit, credit, amount, kind, reference) VALUES (${row}, $1)`, "x")
      }
      yield* refused("UPDATE balance SET held = -1 WHERE account_id = $1", owner.accountId)
      yield* refused("UPDATE balance SET held = posted + 1 WHERE account_id = $1", owner.accountId)
      assert.deepStrictEqual(
        [yield* request(sql, open.requestId), yield* request(sql, settled.requestId), yield* balance(sql, owner)],
        before
      )
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )

  it.effect("take a request as late by the moment in its id, whatever its digits", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 0n)
      const [clock] = yield* sql<{ now: number }>`SELECT date_part('epoch', clock_timestamp()) * 1000 AS now`
      const now = Math.floor(clock?.now ?? 0)
      // Each digit of the time takes each of its values, as far as the past and the future of a request can reach.
      const powers = Array.from({ length: 9 }, (_, power) => 32 ** power)
      const moments = powers.flatMap((unit) => Array.from({ length: 65 }, (_, by) => now - GRACE_MS + (by - 32) * unit))
      const near = [-2_000, -1_000, 10_000, 20_000].map((by) => now - GRACE_MS + by)
      const chosen = [...new Set([...moments, ...near])].filter(
        // What lies about the bound depends on how long this takes.
        (moment) => moment >= 0 && moment < 32 ** 9 && (moment < now - GRACE_MS || moment > now - GRACE_MS + 9_000)
      )
      yield* sql`INSERT INTO request (id, account_id, key_id, operation, model, state, status, expires_at, held, opened)
        SELECT id, ${owner.accountId}, ${owner.keyId}, 'chat.completions', 'm', 'open', 'open', now(), 0, '{}'
        FROM unnest(${chosen.map(firstRequestIdAt)}::text[]) AS id`
      const late = yield* sql<{ id: string }>`SELECT request_id AS id FROM usage_pending
        WHERE account_id = ${owner.accountId} ORDER BY request_id`
      const expected = chosen.filter((moment) => moment < now - GRACE_MS).map(firstRequestIdAt)
      assert.isAtLeast(expected.length, 200)
      assert.isAtLeast(chosen.length - expected.length, 200)
      assert.deepStrictEqual(
        late.map(({ id }) => id),
        expected.toSorted()
      )
    })
  )
})
