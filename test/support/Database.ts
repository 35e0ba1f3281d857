import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { randomBytes } from "node:crypto"
import { inject } from "vitest"
import { connect, layerOf } from "../../src/platform/database/Sql.ts"

/** The URL of the run's server, with its own database or another. */
export const serverUrl = (database?: string): URL => {
  const url = new URL(inject("serverUrl"))
  if (database !== undefined) url.pathname = `/${database}`
  return url
}

/** Runs statements as the superuser of the run's server, in its own database or another, over a connection that ends with them. */
export const asSuperuser = <A, E>(body: (sql: PgClient.PgClient) => Effect.Effect<A, E>, database?: string) =>
  Effect.suspend(() => PgClient.make({ url: Redacted.make(serverUrl(database).toString()), maxConnections: 1 })).pipe(
    Effect.flatMap(body),
    Effect.scoped,
    Effect.provide(Reactivity.layer)
  )

const create = (name: string | undefined, template: string | undefined) =>
  Effect.gen(function* () {
    const database = `${name ?? "test"}_${randomBytes(6).toString("hex")}`
    yield* Effect.acquireRelease(
      asSuperuser((sql) =>
        template === undefined
          ? sql`CREATE DATABASE ${sql(database)}`
          : sql`CREATE DATABASE ${sql(database)} TEMPLATE ${sql(template)}`
      ),
      () => Effect.ignore(asSuperuser((sql) => sql`DROP DATABASE IF EXISTS ${sql(database)} WITH (FORCE)`))
    )
    return serverUrl(database).toString()
  })

/** Creates a migrated database, which is dropped when the scope closes. Returns its URL. */
export const freshDatabase = (name?: string) => Effect.suspend(() => create(name, inject("templateDatabase")))

/** Creates an empty database, which is dropped when the scope closes. Returns its URL. */
export const emptyDatabase = (name?: string) => create(name, undefined)

/** A client of the database with this URL, with the service's own settings. */
export const layerUrl = (url: string, poolSize = 10) =>
  layerOf(connect({ url: Redacted.make(url), poolSize, called: "The test database" }))

/** A client of a new migrated database. */
export const layer = Layer.unwrap(Effect.map(freshDatabase(), (url) => layerUrl(url)))
