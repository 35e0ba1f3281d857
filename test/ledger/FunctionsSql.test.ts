import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { cpSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { type Functions, functions, install, readFunctions } from "../../src/ledger/FunctionsSql.ts"
import { commitPlain } from "../../src/ledger/PlainSql.ts"
import { migrate } from "../../src/platform/database/Migrations.ts"
import { migrations } from "../../src/platform/database/MigrationsSql.ts"
import { newRequestId } from "../../src/platform/Ids.ts"
import * as Database from "../support/Database.ts"
import { temporaryDirectory } from "../support/Directories.ts"
import { balance, close, customer, hold } from "./Fixture.ts"

const OWN = fileURLToPath(new URL("../../src/ledger/sql/", import.meta.url))

/** Another version of the rules, which closes requests for a nano-dollar more. */
const dearer = Effect.map(temporaryDirectory, (path) => {
  cpSync(OWN, path, { recursive: true })
  const file = join(path, "rules/due.sql")
  writeFileSync(file, readFileSync(file, "utf8").replace("COALESCE(o.cost", "COALESCE(o.cost + 1"))
  return readFunctions(pathToFileURL(`${path}/`))
})

const installed = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ name: string }>`SELECT proname::text AS name FROM pg_proc
    WHERE pronamespace = 'public'::regnamespace AND proname LIKE 'ledger\\_%' ORDER BY 1`
  return rows.map(({ name }) => name)
})

const both = (one: Functions, other: Functions) => [...one.names, ...other.names].toSorted()

/** Settles a request for 5 by the functions of a version, and returns what it settled. */
const settledBy = ({ version }: Functions) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const owner = yield* customer(sql, 100n)
    const id = newRequestId()
    const named = (name: string) => sql.literal(`${name}_${version}`)
    yield* sql`SELECT ${named("ledger_hold")}(${owner.accountId}, ${id}, ${owner.keyId}, NULL, 'o', 'm', 50, 900000, 0, '{}', NULL, NULL,
      NULL)`
    const [row] = yield* sql<{ books: ReadonlyArray<bigint> }>`SELECT
      ${named("ledger_close")}(${owner.accountId}, ${id}, true, 5, 'succeeded', NULL, NULL, '{}', true, NULL) AS books`
    return row?.books[0]
  })

describe("the ledger's functions", () => {
  it.live("are created once when nodes start together", () =>
    Effect.gen(function* () {
      const url = yield* Database.emptyDatabase()
      yield* Effect.gen(function* () {
        yield* migrate(migrations)
        yield* Effect.all(
          Array.from({ length: 8 }, () => install(functions)),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(yield* installed, [...functions.names].toSorted())
        const sql = yield* SqlClient.SqlClient
        assert.deepStrictEqual(yield* sql`SELECT version FROM ledger_version`, [{ version: functions.version }])
      }).pipe(Effect.provide(Database.layerUrl(url)))
    }).pipe(Effect.scoped)
  )

  it.live("of two versions work side by side, and neither start changes what a node of the other version calls", () =>
    Effect.gen(function* () {
      const later = yield* dearer
      assert.notStrictEqual(later.version, functions.version)
      yield* install(later)
      assert.deepStrictEqual(yield* installed, both(functions, later))
      assert.deepStrictEqual([yield* settledBy(functions), yield* settledBy(later)], [5n, 6n])
      yield* install(functions)
      assert.deepStrictEqual([yield* settledBy(functions), yield* settledBy(later)], [5n, 6n])
    }).pipe(Effect.scoped, Effect.provide(Database.layer))
  )

  it.live("end the holds of a node of another version", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const later = yield* dearer
      yield* install(later)
      const owner = yield* customer(sql, 100n)
      const opened = hold(owner, 50n)
      yield* commitPlain(sql, [opened])
      yield* sql`SELECT ${sql.literal(`ledger_close_${later.version}`)}(${owner.accountId}, ${opened.requestId}, true, 5, 'succeeded',
        NULL, NULL, '{}', true, NULL)`
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 94n, held: 0n })
      assert.isUndefined(yield* commitPlain(sql, [close(opened, 5n)]))
    }).pipe(Effect.scoped, Effect.provide(Database.layer))
  )

  it.live("are dropped when no node has used them for a week", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const later = yield* dearer
      yield* install(later)
      yield* sql`UPDATE ledger_version SET used_at = now() - interval '6 days' WHERE version = ${functions.version}`
      yield* install(later)
      assert.deepStrictEqual(yield* installed, both(functions, later))
      yield* sql`UPDATE ledger_version SET used_at = now() - interval '8 days' WHERE version = ${functions.version}`
      yield* install(later)
      assert.deepStrictEqual(yield* installed, [...later.names].toSorted())
      yield* install(functions)
      assert.deepStrictEqual(yield* installed, both(functions, later))
    }).pipe(Effect.scoped, Effect.provide(Database.layer))
  )

  it.live("are created again when a restored database lists them without having them", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql.unsafe(`DROP FUNCTION ledger_close_${functions.version}`)
      yield* install(functions)
      assert.deepStrictEqual(yield* installed, [...functions.names].toSorted())
    }).pipe(Effect.provide(Database.layer))
  )
})
