import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { layer as database } from "../../support/Database.ts"

const account = "0".repeat(24)

const insert = (sql: SqlClient.SqlClient, id: string, sessionId: string | null) =>
  sql`INSERT INTO session (id, account_id, session_id, metadata) VALUES (${id}, ${account}, ${sessionId}::text, '{}')`

describe("the table of sessions", () => {
  it.live("allows each name once per account, and any number of sessions without a name", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const why = (effect: Effect.Effect<unknown, SqlError.SqlError>) =>
        Effect.map(Effect.flip(effect), ({ reason }) => reason._tag)
      const ids = Array.from({ length: 4 }, (_, index) => String(index).repeat(24))
      const [first = "", second = "", third = "", fourth = ""] = ids
      assert.strictEqual(yield* why(insert(sql, first, null)), "ConstraintError")
      yield* sql`INSERT INTO account (id, email) VALUES (${account}, 's@example.com')`
      yield* insert(sql, first, null)
      yield* insert(sql, second, null)
      yield* insert(sql, third, "name")
      assert.strictEqual(yield* why(insert(sql, fourth, "name")), "UniqueViolation")
      assert.strictEqual(yield* why(insert(sql, "not an id", null)), "ConstraintError")
    }).pipe(Effect.provide(database))
  )
})
