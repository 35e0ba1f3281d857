import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { commitGroup } from "../../../src/ledger/LedgerSql.ts"
import { close, customer, hold } from "../../ledger/Fixture.ts"
import { layer as database } from "../../support/Database.ts"

/** Rows of requests that this transaction has read so far, but for those read by their places. */
const rowsRead = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{
      read: bigint
    }>`SELECT idx_tup_fetch + seq_tup_read AS read FROM pg_stat_xact_user_tables WHERE relname = 'request'`,
    ([row]) => Number(row?.read ?? 0n)
  )

describe("plain groups", () => {
  it.effect(
    "read no more of an account's requests than they end, on a connection that planned before there were any",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const owner = yield* customer(sql, 1_000n)
        const [first, ...others] = Array.from({ length: 401 }, () => hold(owner, 1n))
        // A transaction keeps to one connection.
        yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* commitGroup(sql, [first!])
            yield* commitGroup(sql, [close(first!, 1n)])
            for (let from = 0; from < others.length; from += 100) {
              yield* commitGroup(sql, others.slice(from, from + 100))
            }
            const before = yield* rowsRead(sql)
            const ended = others.slice(0, 20).map((op) => close(op, 1n))
            const results = yield* commitGroup(sql, [...ended, hold(owner, 1n)])
            assert.deepStrictEqual(
              results.map(({ _tag }) => _tag),
              [...ended.map(() => "Closed"), "Granted"]
            )
            assert.isAtMost((yield* rowsRead(sql)) - before, ended.length)
          })
        )
      }).pipe(Effect.provide(database))
  )
})
