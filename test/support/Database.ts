import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { randomBytes } from "node:crypto"
import { inject } from "vitest"
import { connect, layerOf } from "../../src/platform/database/Sql.ts"

const serverConnection = Effect.suspend(() =>
  PgClient.make({ url: Redacted.make(inject("serverUrl")), maxConnections: 1 })
)

/** One connection for each statement: none is kept while a test runs. */
const onServer = <A, E>(body: (sql: PgClient.PgClient) => Effect.Effect<A, E>) =>
  Effect.scoped(Effect.flatMap(serverConnection, body)).pipe(Effect.provide(Reactivity.layer))

const create = (name: string | undefined, template: string | undefined) =>
  Effect.gen(function* () {
    const database = `${name ?? "test"}_${randomBytes(6).toString("hex")}`
    yield* Effect.acquireRelease(
      onServer((sql) =>
        template === undefined
          ? sql`CREATE DATABASE ${sql(database)}`
          : sql`CREATE DATABASE ${sql(database)} TEMPLATE ${sql(template)}`
      ),
      () => Effect.ignore(onServer((sql) => sql`DROP DATABASE IF EXISTS ${sql(database)} WITH (FORCE)`))
    )
    const url = new URL(inject("serverUrl"))
    url.pathname = `/${database}`
    return url.toString()
  })

/** The URL of a migrated database of its own, dropped when the scope closes. */
export const freshDatabase = (name?: string) => Effect.suspend(() => create(name, inject("templateDatabase")))

/** The URL of a database with nothing in it, dropped when the scope closes. */
export const emptyDatabase = (name?: string) => create(name, undefined)

/** A client of the database with this URL, as the service makes it. */
export const layerUrl = (url: string, poolSize = 10) =>
  layerOf(connect({ url: Redacted.make(url), poolSize, called: "The test database" }))

/** A client of a migrated database of its own. */
export const layer = Layer.unwrap(Effect.map(freshDatabase(), (url) => layerUrl(url)))
