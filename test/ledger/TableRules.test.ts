import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { balance, close, customer, hold, request, run, wrongs } from "./Fixture.ts"
import * as Database from "../support/Database.ts"

layer(Database.layer, { excludeTestServices: true })("the rules of the ledger's tables", (it) => {
  it.effect("reject impossible requests, transfers and balances, and keep existing rows", () =>
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
})
