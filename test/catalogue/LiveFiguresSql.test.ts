import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { countsOfOthers, deleteCounts, type MinuteCounts, writeCounts } from "../../src/catalogue/LiveFiguresSql.ts"
import { newResourceId } from "../../src/platform/Ids.ts"
import { newClient } from "../ledger/Fixture.ts"
import * as Database from "../support/Database.ts"

const counted = (counts: Partial<MinuteCounts>): MinuteCounts => ({
  minute: 100,
  model: "m",
  provider: "p",
  samples: 3,
  ok: 2,
  streamed: 1,
  durations: [20, 1, 33, 1],
  firstTokens: [7, 1],
  ...counts
})

const nobody = newResourceId()
const always = { node: nobody, since: new Date(0), from: -1_000, to: 1_000_000 }

const empty = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`TRUNCATE live_figure`)

const minutesOf = (sql: SqlClient.SqlClient) =>
  Effect.map(sql<{ minute: number }>`SELECT minute FROM live_figure ORDER BY minute`, (rows) =>
    rows.map(({ minute }) => minute)
  )

layer(Database.layer, { excludeTestServices: true })("rows of live figures", (it) => {
  it.effect("come back as they were written, those without times too", () =>
    Effect.gen(function* () {
      yield* empty
      const sql = yield* SqlClient.SqlClient
      const node = newResourceId()
      const failed = counted({ provider: "q", ok: 0, streamed: 0, durations: [], firstTokens: [] })
      const named = counted({ model: `o'Neil "\\ {},\u2028`, provider: "ü" })
      const written = [counted({}), failed, named]
      yield* writeCounts(sql, node, written)
      const rows = yield* countsOfOthers(sql, always)
      assert.sameDeepMembers(
        [...rows],
        written.map((row) => ({ node, ...row, writtenAt: rows[0]!.writtenAt }))
      )
      assert.isTrue(rows.every(({ writtenAt }) => Math.abs(writtenAt.getTime() - Date.now()) < 60_000))
    })
  )

  it.effect("say what is: written again they are the same, and what comes late takes nothing back", () =>
    Effect.gen(function* () {
      yield* empty
      const sql = yield* SqlClient.SqlClient
      const node = newResourceId()
      const more = counted({ samples: 5, ok: 4, durations: [20, 4] })
      for (const row of [counted({}), more, more, counted({})]) yield* writeCounts(sql, node, [row])
      const rows = yield* countsOfOthers(sql, always)
      assert.strictEqual(rows.length, 1)
      assert.deepInclude(rows[0], { samples: 5, ok: 4, durations: [20, 4] })
    })
  )

  it.effect("are each node's own, and are told to the others: of the window, once they are new", () =>
    Effect.gen(function* () {
      yield* empty
      const sql = yield* SqlClient.SqlClient
      const [one, two] = [newResourceId(), newResourceId()]
      yield* writeCounts(sql, one, [counted({}), counted({ minute: 101 }), counted({ minute: 99 })])
      yield* writeCounts(sql, two, [counted({ samples: 9 })])
      const window = { since: new Date(0), from: 100, to: 101 }
      assert.deepStrictEqual(
        (yield* countsOfOthers(sql, { ...window, node: two })).map(({ minute, node }) => [node, minute]).toSorted(),
        [
          [one, 100],
          [one, 101]
        ]
      )
      const [row, ...none] = yield* countsOfOthers(sql, { ...window, node: one })
      assert.deepStrictEqual([row?.node, row?.samples, none.length], [two, 9, 0])
      const later = { ...window, node: one, since: new Date(row!.writtenAt.getTime() + 1) }
      assert.deepStrictEqual(yield* countsOfOthers(sql, later), [])
      yield* writeCounts(sql, two, [counted({ samples: 10 })])
      assert.strictEqual((yield* countsOfOthers(sql, { ...later, since: row!.writtenAt }))[0]?.samples, 10)
    })
  )

  it.effect("are deleted oldest first, so many at a time, and by one of those who try", () =>
    Effect.gen(function* () {
      const url = yield* Database.freshDatabase()
      const [sql, other] = [yield* newClient(url), yield* newClient(url)]
      const rows = Array.from({ length: 6 }, (_, minute) => counted({ minute }))
      yield* writeCounts(sql, nobody, rows)
      assert.strictEqual(yield* deleteCounts(sql, 5, 2), 2)
      assert.deepStrictEqual(yield* minutesOf(sql), [2, 3, 4, 5])
      const deleted = Effect.all([deleteCounts(sql, 5, 2), deleteCounts(other, 5, 2)])
      assert.deepStrictEqual(yield* sql.withTransaction(deleted), [2, 1])
      assert.deepStrictEqual(yield* minutesOf(sql), [5])
      assert.strictEqual(yield* deleteCounts(sql, 5, 2), 0)
    })
  )

  it.effect("cannot say what cannot be", () =>
    Effect.gen(function* () {
      yield* empty
      const sql = yield* SqlClient.SqlClient
      for (const wrong of [{ samples: 0, ok: 0, streamed: 0 }, { ok: 4 }, { streamed: 3 }, { ok: -1, streamed: -1 }]) {
        const error = yield* Effect.flip(writeCounts(sql, nobody, [counted(wrong)]))
        assert.strictEqual(error.reason._tag, "ConstraintError")
      }
    })
  )
})
