import { assert, describe, it, layer } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Cause, Effect, Exit, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inject } from "vitest"
import { Config } from "../../../src/platform/config/Config.ts"
import { DataDirectory } from "../../../src/platform/database/DataDirectory.ts"
import * as Migrations from "../../../src/platform/database/Migrations.ts"
import * as Sql from "../../../src/platform/database/Sql.ts"
import * as Database from "../../support/Database.ts"

const secret = "planted-parameter"

/** Matches either report: the client may see the server's last message or the end of the connection first. */
const ended =
  /^the database ended the connection \(SQLSTATE 57P01|^the database cannot be reached|^the connection to the database failed/

/** The message of a statement that must be rejected as a mistake of the program. */
const refused = <A, E, R>(statement: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const exit = yield* Effect.exit(Sql.storeErrors(statement))
    const defect = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    if (!(defect instanceof Sql.StatementRefused)) return assert.fail(`not refused: ${String(defect)}`)
    assert.notInclude(Cause.pretty(Cause.die(defect)), secret)
    return defect.message
  })

const unavailable = <A, E, R>(statement: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const error = yield* Effect.flip(Sql.storeErrors(statement))
    assert.instanceOf(error, Sql.Unavailable)
    return String(error.cause)
  })

it("storable makes JSON storable, and keeps text that looks like an escape", () => {
  const stored = Sql.storable(JSON.stringify(["a\0\ud83d\\u0000", "\u0001"]))
  assert.deepStrictEqual(JSON.parse(stored), ["a\ufffd\ufffd\\u0000", "\u0001"])
})

layer(Database.layer, { excludeTestServices: true })("a store", (it) => {
  it.effect("opens sessions with the gateway's settings", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql`SELECT current_setting('application_name') AS name, current_setting('timezone') AS zone,
        current_setting('statement_timeout') AS timeout`
      assert.deepStrictEqual(rows, [{ name: "tollgate", zone: "UTC", timeout: "30s" }])
    })
  )

  it.effect("keeps the names of columns and of JSON fields unchanged", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql`SELECT 1::int8 AS cost_nano, '{"max_tokens": 1}'::jsonb AS body`
      assert.deepStrictEqual(rows, [{ cost_nano: 1n, body: { max_tokens: 1 } }])
    })
  )

  it.effect("fails as unavailable when the server ends the session or the statement takes too long", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      // The client may see the server's last message or the end of the connection first.
      const cut = yield* unavailable(sql`SELECT pg_terminate_backend(pg_backend_pid())`)
      assert.match(cut, ended)
      const cutWithin = sql.withTransaction(
        Effect.andThen(sql`SELECT 1`, sql`SELECT pg_terminate_backend(pg_backend_pid())`)
      )
      assert.match(yield* unavailable(cutWithin), ended)
      const nested = sql.withTransaction(sql.withTransaction(sql`SELECT pg_terminate_backend(pg_backend_pid())`))
      assert.match(yield* unavailable(nested), ended)
      const slow = sql.withTransaction(Effect.andThen(sql`SET LOCAL statement_timeout = 1`, sql`SELECT pg_sleep(30)`))
      assert.strictEqual(
        yield* unavailable(slow),
        "the database stopped the statement, which took too long (SQLSTATE 57014: canceling statement due to statement timeout)"
      )
      const readOnly = sql.withTransaction(
        Effect.andThen(sql`SET TRANSACTION READ ONLY`, sql`INSERT INTO account (id, email) VALUES ('x', 'y')`)
      )
      assert.match(yield* unavailable(readOnly), /^the database is read-only \(SQLSTATE 25006: cannot execute INSERT/)
    })
  )

  it.effect("throws for a mistake in a statement, without revealing its parameters", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      assert.include(yield* refused(sql`SELECT nothing FROM account`), 'column "nothing" does not exist')
      assert.strictEqual(
        yield* refused(sql`SELECT ${secret}::text::uuid`),
        "a value does not fit its column or function (SQLSTATE 22P02)"
      )
      yield* sql`CREATE TABLE single (body text CONSTRAINT only_one UNIQUE CHECK (body <> ''))`
      yield* sql`INSERT INTO single VALUES (${secret})`
      assert.strictEqual(
        yield* refused(sql`INSERT INTO single VALUES (${secret})`),
        "a value is in the database already (SQLSTATE 23505: only_one)"
      )
      assert.strictEqual(
        yield* refused(sql`INSERT INTO single VALUES ('')`),
        "a constraint of the database is violated (SQLSTATE 23514: single_body_check)"
      )
      assert.strictEqual(
        yield* refused(sql`SELECT ${{ secret } as unknown as string}::text`),
        "a statement could not be sent to the database"
      )
    })
  )

  it.effect("passes other failures through unchanged", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* Effect.flip(Sql.storeErrors(Effect.fail("mine" as const))), "mine")
    })
  )
})

describe("a database that cannot be used", () => {
  it.live("is reported as unavailable, without its password", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.make({ url: Redacted.make(`postgres://user:${secret}@127.0.0.1:1/db`) })
      const cause = yield* unavailable(sql`SELECT 1`)
      assert.match(cause, /^the database cannot be reached \(.*ECONNREFUSED/)
      assert.notInclude(cause, secret)
    }).pipe(Effect.provide(Reactivity.layer))
  )

  it.live("stops the start with one line", () =>
    Effect.gen(function* () {
      const url = new URL(inject("serverUrl"))
      url.pathname = "/no_such_database"
      const error = yield* Effect.flip(Effect.scoped(Layer.build(Database.layerUrl(url.toString()))))
      assert.strictEqual(error._tag, "StartError")
      assert.match(
        error.message,
        /^The test database cannot be used: the database does not exist \(SQLSTATE 3D000: database "no_such_database" does not exist\)$/
      )
    })
  )
})

describe("the gateway's database", () => {
  const started = (variables: Record<string, string>, sql: typeof Sql.layer | typeof Sql.layerCommand) =>
    Migrations.layer.pipe(
      Layer.provideMerge(sql),
      Layer.provide(DataDirectory.layer),
      Layer.provide(Config.layerFrom(variables))
    )

  const accounts = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return (yield* sql<{ email: string }>`SELECT email FROM account`).map((row) => row.email)
  })

  const signUp = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`INSERT INTO account (id, email) VALUES (${"0".repeat(24)}, 'a@example.org')`
  })

  const directory = Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-sql-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )

  it.live("has all its connections to the embedded server, while a command has as many", () =>
    Effect.gen(function* () {
      const variables = { DATA_DIR: yield* directory, DATABASE_POOL_SIZE: "70" }
      const all = (sql: SqlClient.SqlClient) =>
        Effect.all(
          Array.from({ length: 70 }, () => sql`SELECT pg_sleep(1)`),
          { concurrency: "unbounded", discard: true }
        )
      const service = yield* Layer.build(Layer.fresh(started(variables, Sql.layer)))
      const command = yield* Layer.build(Layer.fresh(started(variables, Sql.layerCommand)))
      yield* Effect.all(
        [
          Effect.flatMap(SqlClient.SqlClient, all).pipe(Effect.provide(service)),
          Effect.flatMap(SqlClient.SqlClient, all).pipe(Effect.provide(command))
        ],
        { concurrency: 2, discard: true }
      )
    }).pipe(Effect.scoped)
  )

  it.live("is the embedded server by default, and a command shares it", () =>
    Effect.gen(function* () {
      const variables = { DATA_DIR: yield* directory, LOG_LEVEL: "none" }
      const service = yield* Layer.build(started(variables, Sql.layer))
      yield* Effect.provide(signUp, service)
      const command = yield* Layer.build(Layer.fresh(started(variables, Sql.layerCommand)))
      assert.deepStrictEqual(yield* Effect.provide(accounts, command), ["a@example.org"])
    })
  )

  it.live("is the one that DATABASE_URL names", () =>
    Effect.gen(function* () {
      const variables = { DATA_DIR: yield* directory, DATABASE_URL: yield* Database.emptyDatabase() }
      const service = yield* Layer.build(started(variables, Sql.layer))
      yield* Effect.provide(signUp, service)
      assert.deepStrictEqual(yield* Effect.provide(accounts, service), ["a@example.org"])
    })
  )
})
