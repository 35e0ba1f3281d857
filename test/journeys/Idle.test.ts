import { assert, describe, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { inject } from "vitest"
import { freshDatabase, layerUrl } from "../support/Database.ts"
import { startService } from "../support/Service.ts"

/** Statistics of a connection reach the view up to ten seconds late. */
const SECONDS = 20

const transactions = (database: string) =>
  Effect.scoped(
    Effect.flatMap(PgClient.make({ url: Redacted.make(inject("serverUrl")), maxConnections: 1 }), (sql) =>
      Effect.map(
        sql<{
          count: bigint
        }>`SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = ${database}`,
        ([row]) => Number(row!.count)
      )
    )
  ).pipe(Effect.provide(Reactivity.layer))

/** Keeps autovacuum, whose transactions count too, out of the tables that the start writes. */
const quiet = (url: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const tables = yield* sql<{ name: string }>`SELECT format('%I', relname) AS name FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`
    for (const { name } of tables) yield* sql.unsafe(`ALTER TABLE ${name} SET (autovacuum_enabled = false)`)
  }).pipe(Effect.provide(layerUrl(url)))

describe("a service that is not called", () => {
  it.live(
    "asks its database for about one transaction a second",
    () =>
      Effect.gen(function* () {
        const url = yield* freshDatabase("idle")
        yield* quiet(url)
        yield* startService({ DATABASE_URL: url })
        const name = new URL(url).pathname.slice(1)
        // What the start did is in the statistics by then.
        yield* Effect.sleep("12 seconds")
        const before = yield* transactions(name)
        yield* Effect.sleep(SECONDS * 1_000)
        const rate = ((yield* transactions(name)) - before) / SECONDS
        // A minute's sweeps may fall into these seconds; over two minutes it is one a second.
        assert.isAtMost(rate, 1.5)
      }).pipe(Effect.scoped),
    60_000
  )
})
