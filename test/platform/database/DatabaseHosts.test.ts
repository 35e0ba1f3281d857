import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { urlsOf } from "../../../src/platform/config/Variables.ts"
import { layerUrl } from "../../support/Database.ts"
import { startRelay } from "../../support/Relay.ts"
import { startReplicas } from "../../support/Replicas.ts"
import { debianPostgres } from "./DebianPostgres.ts"

describe("a database URL", () => {
  it("is split into one URL per host", () => {
    assert.deepStrictEqual(urlsOf("postgres://u:p@one:5432/name?sslmode=require"), [
      "postgres://u:p@one:5432/name?sslmode=require"
    ])
    assert.deepStrictEqual(
      urlsOf("postgres://u:p%40@one:5432,two,[::1]:7/name?target_session_attrs=read-write&sslmode=require"),
      [
        "postgres://u:p%40@one:5432/name?sslmode=require",
        "postgres://u:p%40@two/name?sslmode=require",
        "postgres://u:p%40@[::1]:7/name?sslmode=require"
      ]
    )
    assert.deepStrictEqual(urlsOf("postgres://one,two/name?target_session_attrs=read-write"), [
      "postgres://one/name",
      "postgres://two/name"
    ])
  })
})

if (!debianPostgres) process.stderr.write("\n*** SKIPPED: no failover: PostgreSQL 15 is not installed ***\n\n")

describe.runIf(debianPostgres)("a database with a standby", () => {
  it.live(
    "is written on the host that accepts writes, in any order of hosts, and after a failover",
    () =>
      Effect.gen(function* () {
        const { failOver, url } = yield* startReplicas
        const [, before = "", hosts = "", after = ""] = /^(.*@)([^/]*)(.*)$/.exec(url) ?? []
        // The standby comes first in this URL.
        const turned = `${before}${hosts.split(",").toReversed().join(",")}${after}`
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* sql`CREATE TABLE written (at int)`
          yield* sql`INSERT INTO written VALUES (1)`
          yield* failOver
          yield* Effect.retry(
            sql`INSERT INTO written VALUES (2)`,
            Schedule.spaced("100 millis").pipe(Schedule.upTo({ duration: "15 seconds" }))
          )
          assert.deepStrictEqual([...(yield* sql`SELECT at FROM written ORDER BY at`)], [{ at: 1 }, { at: 2 }])
        }).pipe(Effect.provide(layerUrl(turned)))
      }).pipe(Effect.scoped),
    60_000
  )

  it.live(
    "is written on the standby when the primary falls silent without closing its connections",
    () =>
      Effect.gen(function* () {
        const { failOver, ports, url } = yield* startReplicas
        const primary = ports[0]!
        const relay = yield* startRelay(primary)
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* sql`CREATE TABLE written (at int)`
          // Opens several connections, each of which would have to notice the silence by itself.
          yield* Effect.all(
            Array.from({ length: 5 }, () => sql`SELECT pg_sleep(0.1)`),
            { concurrency: "unbounded" }
          )
          yield* relay.cut()
          // The primary's shutdown does not reach the client either.
          yield* failOver
          yield* Effect.retry(
            sql`INSERT INTO written VALUES (1)`,
            Schedule.spaced("100 millis").pipe(Schedule.upTo({ duration: "20 seconds" }))
          )
          for (let count = 0; count < 5; count++) yield* Effect.timeout(sql`INSERT INTO written VALUES (2)`, "1 second")
          assert.deepStrictEqual(yield* sql`SELECT count(*)::int AS rows FROM written`, [{ rows: 6 }])
        }).pipe(Effect.provide(layerUrl(url.replace(`:${primary},`, `:${relay.port},`))))
      }).pipe(Effect.scoped),
    60_000
  )
})
