import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/account/Accounts.ts"
import { Audit } from "../../src/account/Audit.ts"
import { Sessions } from "../../src/sessions/Sessions.ts"
import { layer as sweeps } from "../../src/sessions/SessionSweeps.ts"
import { layer as database } from "../support/Database.ts"
import { eventually } from "../support/Eventually.ts"

const rooms = Layer.mergeAll(Sessions.layer, Accounts.layer).pipe(
  Layer.provideMerge(Audit.layer),
  Layer.provideMerge(database),
  Layer.provideMerge(Logger.layer([]))
)

const ids = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(sql<{ id: string }>`SELECT id FROM session ORDER BY id`, (rows) => rows.map(({ id }) => id))
)

/** Creates three sessions with a message each. Two of them have had no turn for eight days. */
const recorded = Effect.gen(function* () {
  const [sessions, sql] = [yield* Sessions, yield* SqlClient.SqlClient]
  const { id: account } = yield* (yield* Accounts).create("s@example.com", { type: "operator", id: "t" })
  const all: Array<string> = []
  for (const name of ["a", "b", "c"]) {
    const { id } = yield* sessions.open(account, { sessionId: name, metadata: { name }, model: undefined })
    yield* sql`INSERT INTO session_message (session, position, role, content, digest) VALUES (${id}, 0, 'user', '"hi"', 'd')`
    yield* sql`UPDATE session SET messages = 1, bytes = 260 WHERE id = ${id}`
    yield* sql`UPDATE session_total SET bytes = bytes + 260 WHERE account_id = ${account}`
    all.push(id)
  }
  yield* sql`UPDATE session SET updated_at = now() - interval '8 days' WHERE session_id <> 'c'`
  return { account, all }
})

const total = (account: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql<{ sessions: number; bytes: bigint }>`SELECT sessions, bytes FROM session_total WHERE account_id = ${account}`
  )

describe("sweeps of recorded conversations", () => {
  it.live(
    "delete sessions without a turn for the retention, with their messages and their share of the account's totals",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { account, all } = yield* recorded
        yield* Layer.build(sweeps(Duration.days(7), Duration.millis(50)))
        yield* eventually(ids, (left) => left.length === 1)
        assert.deepStrictEqual(yield* ids, [all[2]])
        assert.lengthOf(yield* sql`SELECT 1 FROM session_message`, 1)
        const kept = BigInt(256 + JSON.stringify({ name: "c" }).length + 260)
        assert.deepStrictEqual([...(yield* total(account))], [{ sessions: 1, bytes: kept }])
      }).pipe(Effect.scoped, Effect.provide(rooms))
  )

  it.live("skip a session whose turn is being recorded, and delete nothing when the retention is zero", () =>
    Effect.gen(function* () {
      const [sessions, sql] = [yield* Sessions, yield* SqlClient.SqlClient]
      const { all } = yield* recorded
      yield* Layer.build(sweeps(Duration.zero, Duration.millis(1)))
      const other = yield* sql.reserve
      yield* other.executeUnprepared("BEGIN", [], undefined)
      yield* other.executeUnprepared(`SELECT 1 FROM session WHERE id = '${all[0]}' FOR UPDATE`, [], undefined)
      assert.strictEqual(yield* sessions.dropUnused(Duration.toMillis("7 days")), 1)
      assert.strictEqual(yield* sessions.dropUnused(Duration.toMillis("7 days")), 0)
      yield* other.executeUnprepared("ROLLBACK", [], undefined)
      assert.deepStrictEqual(yield* ids, [all[0], all[2]].toSorted())
    }).pipe(Effect.scoped, Effect.provide(rooms))
  )
})
