import { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Redacted, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { accessSync, constants, mkdtempSync, rmSync, statfsSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestProject } from "vitest/node"
import { functions, install } from "../../src/ledger/FunctionsSql.ts"
import { prepareDataDirectory } from "../../src/platform/database/DataDirectory.ts"
import { startPostgres } from "../../src/platform/database/EmbeddedPostgres.ts"
import { migrate } from "../../src/platform/database/Migrations.ts"
import { migrations } from "../../src/platform/database/MigrationsSql.ts"
import { COMPILE_CACHE } from "./CompileCache.ts"
import { buildConsole } from "./ConsoleBuild.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** The URL of the run's PostgreSQL, with a user that may create databases. */
    readonly serverUrl: string
    /** The name of a migrated database, which tests copy and never connect to. */
    readonly templateDatabase: string
  }
}

/** The same server with another database. */
const withDatabase = (url: string, database: string) => {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return changed.toString()
}

const MEMORY = "/dev/shm"
const ENOUGH_BYTES = 2 * 1_024 ** 3

/**
 * The directory for the databases of a run: in memory where there is room. A disk takes ten times as long to create and remove the files
 * of a database, and most tests have one of their own.
 */
const databasesDirectory = (): string => {
  try {
    accessSync(MEMORY, constants.W_OK)
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= ENOUGH_BYTES ? MEMORY : tmpdir()
  } catch {
    return tmpdir()
  }
}

/** One server for the run, which syncs nothing to disk. `TEST_DATABASE_URL` names another server for the tests. */
const server = Effect.gen(function* () {
  const given = process.env["TEST_DATABASE_URL"]
  if (given !== undefined && given !== "") return given
  const directory = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(databasesDirectory(), "tollgate-test-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  const dataDirectory = yield* prepareDataDirectory({ directory, explicit: true, embedded: true })
  const { url } = yield* startPostgres({
    dataDirectory,
    settings: ["fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200"]
  })
  return Redacted.value(url)
})

const template = Effect.fn("template")(function* (serverUrl: string) {
  const name = `tollgate_template_${process.pid}`
  const url = Redacted.make(serverUrl)
  // A connection for each statement, because a pool opens none while its scope closes.
  const onServer = <A, E>(body: (sql: PgClient.PgClient) => Effect.Effect<A, E>) =>
    Effect.scoped(Effect.flatMap(PgClient.make({ url, maxConnections: 1 }), body))
  yield* onServer((sql) => sql`DROP DATABASE IF EXISTS ${sql(name)}`)
  yield* Effect.acquireRelease(
    onServer((sql) => sql`CREATE DATABASE ${sql(name)}`),
    () => Effect.ignore(onServer((sql) => sql`DROP DATABASE ${sql(name)} WITH (FORCE)`))
  )
  yield* Effect.scoped(
    Effect.gen(function* () {
      const database = yield* PgClient.make({ url: Redacted.make(withDatabase(serverUrl, name)), maxConnections: 1 })
      const prepared = Effect.andThen(migrate(migrations), install(functions))
      yield* Effect.provideService(prepared, SqlClient.SqlClient, database)
    })
  )
  return name
})

export const setup = async (project: TestProject) => {
  process.env["NODE_COMPILE_CACHE"] = COMPILE_CACHE
  buildConsole()
  const scope = Scope.makeUnsafe()
  const prepare = Effect.gen(function* () {
    const serverUrl = yield* server
    return { serverUrl, templateDatabase: yield* template(serverUrl) }
  })
  const ready = await Effect.runPromise(prepare.pipe(Scope.provide(scope), Effect.provide(Reactivity.layer)))
  project.provide("serverUrl", ready.serverUrl)
  project.provide("templateDatabase", ready.templateDatabase)
  return () => Effect.runPromise(Scope.close(scope, Exit.void))
}
