import { assert, describe, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect, Logger, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { inject } from "vitest"
import { freshDatabase, layerUrl } from "../support/Database.ts"
import { startService } from "../support/Service.ts"
import { eventually } from "../support/Eventually.ts"

/** Long enough for several rounds of all recurring work, except the hourly work. */
const MINUTES = 12

/** The largest number of transactions per second for a node without requests. */
const MOST = 1

/** Reads PostgreSQL's statistics of a database through a connection to another one. */
const watching = (url: string) =>
  Effect.gen(function* () {
    const name = new URL(url).pathname.slice(1)
    const sql = yield* PgClient.make({ url: Redacted.make(inject("serverUrl")), maxConnections: 1 })
    const active = Effect.map(
      sql<{
        count: bigint
      }>`SELECT count(*) AS count FROM pg_stat_activity WHERE datname = ${name} AND state IS DISTINCT FROM 'idle'`,
      ([row]) => Number(row!.count)
    )
    const connections = Effect.map(
      sql<{ count: bigint }>`SELECT count(*) AS count FROM pg_stat_activity WHERE datname = ${name}`,
      ([row]) => Number(row!.count)
    )
    const transactions = Effect.map(
      sql<{ count: bigint }>`SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = ${name}`,
      ([row]) => Number(row!.count)
    )
    return {
      /** Waits until the database has nothing to do. */
      rest: eventually(active, (count) => count === 0),
      /** Returns the number of transactions. A connection reports its own late, and all of them when it ends. */
      total: Effect.andThen(
        eventually(connections, (count) => count === 0),
        transactions
      )
    }
  }).pipe(Effect.provide(Reactivity.layer))

/** Turns autovacuum off for the tables that the start writes, because its transactions count too. */
const quiet = (url: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const tables = yield* sql<{ name: string }>`SELECT format('%I', relname) AS name FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`
    for (const { name } of tables) yield* sql.unsafe(`ALTER TABLE ${name} SET (autovacuum_enabled = false)`)
  }).pipe(Effect.provide(layerUrl(url)))

describe("a node without requests", () => {
  it.effect("runs less than one database transaction a second", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase("idle")
      yield* quiet(url)
      const { rest, total } = yield* watching(url)
      const warnings: Array<string> = []
      const log = Logger.map(Logger.formatLogFmt, (text) => void warnings.push(text))
      /** Counts the transactions of a node that runs for this long by its test clock. The database runs in real time. */
      const transactionsOf = (minutes: number) =>
        Effect.gen(function* () {
          const before = yield* TestClock.withLive(total)
          yield* Effect.scoped(
            Effect.gen(function* () {
              yield* startService({ DATABASE_URL: url, LOG_LEVEL: "Warn" }, [log])
              for (let second = 0; second < minutes * 60; second++) {
                yield* TestClock.adjust("1 second")
                yield* TestClock.withLive(Effect.andThen(Effect.sleep("5 millis"), rest))
              }
            })
          )
          return (yield* TestClock.withLive(total)) - before
        })
      // The first start on a database does more work than later ones.
      yield* transactionsOf(0)
      const start = yield* transactionsOf(1)
      const rate = ((yield* transactionsOf(1 + MINUTES)) - start) / (MINUTES * 60)
      assert.deepStrictEqual(warnings, [])
      assert.isAtMost(rate, MOST)
      assert.isAbove(rate, 0.1, "the node must keep polling")
    }).pipe(Effect.scoped)
  )
})
