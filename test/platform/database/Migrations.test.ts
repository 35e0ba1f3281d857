import { assert, describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { layer as migrated, migrate } from "../../../src/platform/database/Migrations.ts"
import { migrations } from "../../../src/platform/database/MigrationsSql.ts"
import * as Database from "../../support/Database.ts"
import { runScript } from "./Child.ts"
import { debianPostgres, startDebianPostgres } from "./DebianPostgres.ts"
import { describeSchema } from "./Schema.ts"

const names = Object.keys(migrations).toSorted()

const Done = Schema.fromJsonString(Schema.Array(Schema.Tuple([Schema.Int, Schema.String])))

const on = <A, E>(url: string, body: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.scoped(Effect.provide(body, Database.layerUrl(url)))

const recorded = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ id: number; name: string }>`
    SELECT migration_id AS id, name FROM schema_migration ORDER BY migration_id`
  return rows.map(({ id, name }) => `${String(id).padStart(4, "0")}_${name}`)
})

const note = (body: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE IF NOT EXISTS note (body text)`
    yield* sql`INSERT INTO note VALUES (${body})`
  })

const broken = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`SELECT no_such_function()`
})

describe("migrations", () => {
  it.live("run once when two processes start together", () =>
    Effect.gen(function* () {
      const url = yield* Database.emptyDatabase()
      const children = yield* Effect.forEach([1, 2], () => runScript("migrateProcess.ts", [url]))
      for (const child of children) assert.strictEqual(yield* child.line, "connected")
      for (const child of children) child.process.stdin?.write("go\n")
      const done = yield* Effect.forEach(children, (child) =>
        Effect.flatMap(child.line, Schema.decodeUnknownEffect(Done))
      )
      assert.deepStrictEqual(
        done.map((list) => list.length).toSorted((a, b) => a - b),
        [0, names.length]
      )
      assert.deepStrictEqual(yield* on(url, recorded), names)
    })
  )

  it.live("run from the database's current version", () =>
    Effect.gen(function* () {
      const url = yield* Database.emptyDatabase()
      const first = { "0001_one": note("one") }
      assert.deepStrictEqual(yield* on(url, migrate(first)), [[1, "one"]])
      const both = { ...first, "0002_two": note("two") }
      assert.deepStrictEqual(yield* on(url, migrate(both)), [[2, "two"]])
      assert.deepStrictEqual(yield* on(url, migrate(both)), [])
      assert.deepStrictEqual(yield* on(url, recorded), ["0001_one", "0002_two"])
    })
  )

  it.live("change nothing when one of them fails", () =>
    Effect.gen(function* () {
      const url = yield* Database.emptyDatabase()
      const error = yield* Effect.flip(on(url, migrate({ "0001_one": note("one"), "0002_two": broken })))
      assert.strictEqual(error._tag, "MigrationError")
      const tables = yield* on(
        url,
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1 FROM pg_tables WHERE schemaname = 'public'`)
      )
      assert.deepStrictEqual(tables, [])
    })
  )

  it.live("reject a database from a later version", () =>
    Effect.gen(function* () {
      const url = yield* Database.emptyDatabase()
      const first = { "0001_one": note("one") }
      yield* on(url, migrate({ ...first, "0002_two": note("two") }))
      const error = yield* Effect.flip(on(url, migrate(first)))
      assert.strictEqual(error._tag, "StartError")
    })
  )

  it.live("leave a database from before the baseline unchanged, and name the way to this version", () =>
    Effect.gen(function* () {
      const url = yield* Database.emptyDatabase()
      yield* on(url, migrate({ "0001_accounts_and_keys": note("one"), "0002_ledger": note("two") }))
      const error = yield* Effect.flip(on(url, migrate(migrations)))
      assert.strictEqual(error._tag, "StartError")
      assert.match(error.message, /Back it up with that version \(`npm run admin -- backup FILE`\), restore the file/)
      assert.deepStrictEqual(yield* on(url, recorded), ["0001_accounts_and_keys", "0002_ledger"])
    })
  )

  it.live("comment every table", () =>
    Effect.gen(function* () {
      const unsaid = yield* on(
        yield* Database.freshDatabase(),
        Effect.flatMap(
          SqlClient.SqlClient,
          (
            sql
          ) => sql`SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
            AND relname <> 'schema_migration' AND obj_description(oid) IS NULL`
        )
      )
      assert.deepStrictEqual(unsaid, [])
    })
  )

  it.live("report at startup why the job table cannot be created", () =>
    Effect.gen(function* () {
      const url = yield* Database.emptyDatabase()
      const start = Effect.scoped(Layer.build(migrated))
      yield* on(
        url,
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`CREATE VIEW job AS SELECT 1 AS id`)
      )
      const error = yield* Effect.flip(on(url, start))
      assert.strictEqual(error._tag, "StartError")
      assert.match(error.message, /^The schema cannot be migrated: Migration "1_baseline" failed: \w/)
    })
  )

  it.live("produce the schema in the snapshot", () =>
    Effect.gen(function* () {
      const schema = yield* on(yield* Database.freshDatabase(), describeSchema)
      yield* Effect.promise(() => expect(schema).toMatchFileSnapshot("./schema.snapshot.txt"))
    })
  )
})

if (!debianPostgres)
  console.log("not run: the schema on PostgreSQL 15, which is not installed in /usr/lib/postgresql/15")

describe.runIf(debianPostgres)("the schema on PostgreSQL 15", () => {
  it.live("is the same as in the snapshot", () =>
    Effect.gen(function* () {
      const schema = yield* on(yield* Database.freshDatabase(), describeSchema)
      const url = yield* startDebianPostgres
      assert.strictEqual((yield* on(url, migrate(migrations))).length, names.length)
      assert.deepStrictEqual(yield* on(url, migrate(migrations)), [])
      assert.strictEqual(yield* on(url, describeSchema), schema)
    })
  )
})
