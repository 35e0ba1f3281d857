/** A role of the test server that can be taken its rights, and databases of its own. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { randomBytes } from "node:crypto"
import { inject } from "vitest"

const withDatabase = (database: string | undefined) => {
  const url = new URL(inject("serverUrl"))
  if (database !== undefined) url.pathname = `/${database}`
  return url
}

/** Runs this as the superuser, on the server or on one of its databases. */
export const asSuperuser = <A, E>(body: (sql: PgClient.PgClient) => Effect.Effect<A, E>, database?: string) =>
  Effect.scoped(
    Effect.flatMap(PgClient.make({ url: Redacted.make(withDatabase(database).toString()), maxConnections: 1 }), body)
  ).pipe(Effect.provide(Reactivity.layer))

const PASSWORD = "planted-password"

/** A role and an empty database, which is the role's own unless told; both are dropped with the scope. */
export const roleWithDatabase = Effect.fnUntraced(function* (options: {
  readonly owner: boolean
  readonly tablespace?: string
}) {
  const role = `role_${randomBytes(6).toString("hex")}`
  const database = `of_${role}`
  yield* Effect.acquireRelease(
    asSuperuser((sql) => sql`CREATE ROLE ${sql(role)} LOGIN PASSWORD '${sql.literal(PASSWORD)}'`),
    () => Effect.ignore(asSuperuser((sql) => sql`DROP ROLE ${sql(role)}`))
  )
  yield* Effect.acquireRelease(
    asSuperuser((sql) => {
      const owner = options.owner ? sql`OWNER ${sql(role)}` : sql``
      const tablespace = options.tablespace === undefined ? sql`` : sql`TABLESPACE ${sql(options.tablespace)}`
      return sql`CREATE DATABASE ${sql(database)} ${owner} ${tablespace}`
    }),
    () => Effect.ignore(asSuperuser((sql) => sql`DROP DATABASE ${sql(database)} WITH (FORCE)`))
  )
  const url = withDatabase(database)
  url.username = role
  url.password = PASSWORD
  return {
    role,
    database,
    url: url.toString(),
    /** Ends its connections, so that new ones are made. */
    disconnect: asSuperuser(
      (sql) => sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = ${role}`
    )
  }
})
