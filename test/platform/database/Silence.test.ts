import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { CHECK_AFTER_MS } from "../../../src/platform/database/Silence.ts"
import { storeErrors, Unavailable } from "../../../src/platform/database/Sql.ts"
import { statementsOf } from "../../../src/platform/database/Statements.ts"
import { until } from "../../support/Until.ts"
import { newClient } from "../../ledger/Fixture.ts"
import { makeWire } from "../../ledger/Wire.ts"
import * as Database from "../../support/Database.ts"
import { startRelay } from "../../support/Relay.ts"

/** Two seconds of waiting and three of probing, plus time for a busy machine. */
const BOUND_MS = 9_000

const startCut = Effect.gen(function* () {
  const url = yield* Database.freshDatabase()
  const { port } = new URL(url)
  const relay = yield* startRelay(Number(port))
  return { relay, sql: yield* newClient(url.replace(`:${port}/`, `:${relay.port}/`)) }
})

const timed = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const from = performance.now()
    const result = yield* work
    return { result, tookMs: performance.now() - from }
  })

describe("a database that falls silent", () => {
  it.live("fails waiting statements, rejects new ones at once, and is used again once it answers", () =>
    Effect.gen(function* () {
      const { relay, sql } = yield* startCut
      yield* sql`CREATE TABLE seen (n integer)`
      yield* sql`SELECT 1`
      yield* relay.cut()
      const plain = Effect.flip(storeErrors(sql`SELECT 2`))
      const moved = Effect.flip(storeErrors(sql.withTransaction(sql`INSERT INTO seen VALUES (1)`)))
      const own = Effect.flip(storeErrors(statementsOf(sql).unsafe("SELECT 3", [])))
      for (const { result, tookMs } of yield* Effect.all([timed(plain), timed(moved), timed(own)], {
        concurrency: "unbounded"
      })) {
        assert.instanceOf(result, Unavailable)
        assert.isBelow(tookMs, BOUND_MS)
      }
      for (const { result, tookMs } of yield* Effect.all([timed(plain), timed(moved), timed(own)])) {
        assert.instanceOf(result, Unavailable)
        assert.match(String(result.cause), /does not answer/)
        assert.isBelow(tookMs, 200)
      }
      yield* relay.heal
      yield* until(
        "statements succeed again",
        Effect.map(Effect.option(sql`SELECT 4`), ({ _tag }) => _tag === "Some"),
        "10 seconds"
      )
      assert.deepStrictEqual(yield* sql`SELECT n FROM seen`, [])
    }).pipe(Effect.scoped)
  )

  it.live("does not include a slow statement, which keeps running", () =>
    Effect.gen(function* () {
      const { sql } = yield* startCut
      assert.deepStrictEqual(yield* sql`SELECT 1 AS n FROM pg_sleep(${(3 * CHECK_AFTER_MS) / 1_000})`, [{ n: 1 }])
    }).pipe(Effect.scoped)
  )

  it.live("does not include a single lost connection: statements on other connections continue", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire(yield* Database.freshDatabase())
      const sql = yield* newClient(wire.url)
      yield* sql`SELECT 1`
      yield* wire.freeze
      const lost = yield* Effect.forkChild(sql`SELECT 2`)
      yield* Effect.sleep(2 * CHECK_AFTER_MS)
      assert.isUndefined(lost.pollUnsafe())
      assert.deepStrictEqual(yield* sql`SELECT 3 AS n`, [{ n: 3 }])
      yield* Fiber.interrupt(lost)
    }).pipe(Effect.scoped)
  )
})
