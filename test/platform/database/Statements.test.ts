import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Schedule } from "effect"
import { isTransient } from "../../../src/platform/database/SqlCondition.ts"
import { statementsOf } from "../../../src/platform/database/Statements.ts"
import { StatementTimeout } from "../../../src/platform/database/StatementTimeout.ts"
import { newClient } from "../../ledger/Fixture.ts"
import { makeWire } from "../../ledger/Wire.ts"
import * as Database from "../../support/Database.ts"

/** The pool size of the fixture's client. */
const POOLED = 4

const fresh = Effect.gen(function* () {
  const wire = yield* makeWire(yield* Database.freshDatabase())
  const sql = yield* newClient(wire.url)
  return { wire, sql, own: statementsOf(sql) }
})

describe("statements outside the pool", () => {
  it.live("do not wait when the pool is exhausted", () =>
    Effect.gen(function* () {
      const { own, sql } = yield* fresh
      yield* Effect.forEach(Array(POOLED), () => sql.reserve)
      assert.deepStrictEqual(yield* own.unsafe("SELECT $1::int AS n", [1]), [{ n: 1 }])
    })
  )

  it.live("are not part of a surrounding transaction", () =>
    Effect.gen(function* () {
      const { own, sql } = yield* fresh
      yield* sql`CREATE TABLE seen (n integer)`
      const both = Effect.all([sql`INSERT INTO seen VALUES (1)`, own.unsafe("INSERT INTO seen VALUES ($1)", [2])])
      const work = sql.withTransaction(Effect.andThen(both, Effect.fail("undone")))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(work)))
      assert.deepStrictEqual(yield* sql`SELECT n FROM seen`, [{ n: 2 }])
    })
  )

  it.live("use generic plans without sequential scans", () =>
    Effect.gen(function* () {
      const { own } = yield* fresh
      const settings = ["plan_cache_mode", "enable_seqscan", "statement_timeout", "timezone"]
      const rows = yield* own.unsafe<{ setting: string }>(
        "SELECT current_setting(name) AS setting FROM unnest($1::text[]) AS name",
        [settings]
      )
      assert.deepStrictEqual(
        rows.map(({ setting }) => setting),
        ["force_generic_plan", "off", "30s", "UTC"]
      )
    })
  )

  it.live("have no timeout, and get a new connection when theirs is lost", () =>
    Effect.gen(function* () {
      const { own, sql, wire } = yield* fresh
      const session = own.unsafe<{ pid: number }>("SELECT pg_backend_pid() AS pid", [])
      const [one] = yield* session
      const slow = own.unsafe("SELECT 1 AS n FROM pg_sleep(0.2)", [])
      assert.deepStrictEqual(yield* Effect.provideService(slow, StatementTimeout, 1), [{ n: 1 }])
      yield* sql`SELECT pg_terminate_backend(${one!.pid}, 10000)`
      // The end of the session may reach the client after this answer, so a statement can still meet the lost connection.
      const [another] = yield* Effect.retry(session, { schedule: Schedule.spaced("10 millis"), while: isTransient })
      assert.notStrictEqual(another?.pid, one?.pid)
      yield* wire.freeze
      assert.strictEqual((yield* Effect.timeoutOption(slow, "500 millis"))._tag, "None")
      const [third] = yield* session
      assert.notInclude([one?.pid, another?.pid], third?.pid)
    })
  )
})
