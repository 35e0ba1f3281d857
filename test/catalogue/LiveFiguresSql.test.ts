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

const unknownId = newResourceId()
const always = { node: unknownId, since: new Date(0), from: -1_000, to: 1_000_000 }

const empty = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`TRUNCATE live_figure`)

const minutesOf = (sql: SqlClient.SqlClient) =>
  Effect.map(sql<{ minute: number }>`SELECT minute FROM live_figure ORDER BY minute`, (rows) =>
    rows.map(({ minute }) => minute)
  )

layer(Database.layer, { excludeTestServices: true })("live_figure rows", (it) => {
  it.effect("are read back as written, with or without times", () =>
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

  it.effect("hold totals: a repeated write changes nothing, and an older write does not lower them", () =>
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

  it.effect("belong to one node, and the other nodes read the new ones of the window", () =>
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

  it.effect("are deleted oldest first, up to a limit at a time, each by one of several concurrent deletions", () =>
    Effect.gen(function* () {
      const url = yield* Database.freshDatabase()
      const [sql, other] = [yield* newClient(url), yield* newClient(url)]
      const rows = Array.from({ length: 6 }, (_, minute) => counted({ minute }))
      yield* writeCounts(sql, unknownId, rows)
      assert.strictEqual(yield* deleteCounts(sql, 5, 2), 2)
      assert.deepStrictEqual(yield* minutesOf(sql), [2, 3, 4, 5])
      const deleted = Effect.all([deleteCounts(sql, 5, 2), deleteCounts(other, 5, 2)])
      assert.deepStrictEqual(yield* sql.withTransaction(deleted), [2, 1])
      assert.deepStrictEqual(yield* minutesOf(sql), [5])
      assert.strictEqual(yield* deleteCounts(sql, 5, 2), 0)
    })
  )

  it.effect("reject counts that contradict each other", () =>
    Effect.gen(function* () {
      yield* empty
      const sql = yield* SqlClient.SqlClient
      for (const wrong of [{ samples: 0, ok: 0, streamed: 0 }, { ok: 4 }, { streamed: 3 }, { ok: -1, streamed: -1 }]) {
        const error = yield* Effect.flip(writeCounts(sql, unknownId, [counted(wrong)]))
        assert.strictEqual(error.reason._tag, "ConstraintError")
      }
    })
  )
})
