/** Roles of the test server with few rights, each with a database. */
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { asSuperuser, serverUrl } from "./Database.ts"

const PASSWORD = "planted-password"

/** Creates a role and an empty database, which the role owns if `owner` says so. Both are dropped when the scope closes. */
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
  const url = serverUrl(database)
  url.username = role
  url.password = PASSWORD
  return {
    role,
    database,
    url: url.toString(),
    /** Ends the role's connections, so that clients open new ones. */
    disconnect: asSuperuser(
      (sql) => sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = ${role}`
    )
  }
})
