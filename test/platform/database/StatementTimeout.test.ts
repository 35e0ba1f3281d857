import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { StatementTimeout } from "../../../src/platform/database/StatementTimeout.ts"
import { storeErrors, Unavailable } from "../../../src/platform/database/Sql.ts"
import { newClient } from "../../ledger/Fixture.ts"
import { makeWire } from "../../ledger/Wire.ts"
import * as Database from "../../support/Database.ts"

const SOON = 200

/** A client over a connection that the test can freeze. */
const behindRelay = Effect.gen(function* () {
  const wire = yield* makeWire(yield* Database.freshDatabase())
  return { wire, sql: yield* newClient(wire.url) }
})

const soon = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provideService(effect, StatementTimeout, SOON)

describe("a statement on an unresponsive connection", () => {
  it.live("fails as unavailable, and the next one gets another connection", () =>
    Effect.gen(function* () {
      const { sql, wire } = yield* behindRelay
      yield* sql`SELECT 1`
      yield* wire.freeze
      const error = yield* Effect.flip(soon(storeErrors(sql`SELECT 2`)))
      assert.instanceOf(error, Unavailable)
      assert.match(String(error.cause), /does not answer/)
      assert.deepStrictEqual(yield* sql`SELECT 3 AS n`, [{ n: 3 }])
    })
  )

  for (const [where, before] of [
    ["BEGIN", false],
    ["a later statement", true]
  ] as const) {
    it.live(`fails a transaction at ${where}`, () =>
      Effect.gen(function* () {
        const { sql, wire } = yield* behindRelay
        yield* sql`CREATE TABLE seen (n integer)`
        if (!before) yield* wire.freeze
        const work = Effect.gen(function* () {
          yield* sql`INSERT INTO seen VALUES (1)`
          yield* wire.freeze
          yield* sql`INSERT INTO seen VALUES (2)`
        })
        const error = yield* Effect.flip(soon(storeErrors(sql.withTransaction(work))))
        assert.instanceOf(error, Unavailable)
        assert.deepStrictEqual(yield* sql`SELECT n FROM seen`, [])
      })
    )
  }

  it.live("fails a transaction at COMMIT", () =>
    Effect.gen(function* () {
      const { sql, wire } = yield* behindRelay
      yield* sql`CREATE TABLE seen (n integer)`
      const work = Effect.andThen(sql`INSERT INTO seen VALUES (1)`, wire.freeze)
      assert.instanceOf(yield* Effect.flip(soon(storeErrors(sql.withTransaction(work)))), Unavailable)
    })
  )
})

describe("a slow statement", () => {
  it.live("is cancelled at its timeout, and its transaction is rolled back", () =>
    Effect.gen(function* () {
      const { sql } = yield* behindRelay
      yield* sql`CREATE TABLE seen (n integer)`
      const work = Effect.andThen(sql`INSERT INTO seen VALUES (1)`, soon(sql`SELECT pg_sleep(60)`))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(sql.withTransaction(work))))
      assert.deepStrictEqual(yield* sql`SELECT n FROM seen`, [])
      assert.deepStrictEqual(
        yield* sql`SELECT 1 AS n FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%pg_sleep(60)%'
          AND state = 'active' AND pid <> pg_backend_pid()`,
        []
      )
    })
  )

  it.live("may run for longer with a longer timeout", () =>
    Effect.gen(function* () {
      const { sql } = yield* behindRelay
      const slow = Effect.provideService(sql`SELECT 1 AS n FROM pg_sleep(0.5)`, StatementTimeout, Infinity)
      assert.deepStrictEqual(yield* soon(slow), [{ n: 1 }])
    })
  )
})
