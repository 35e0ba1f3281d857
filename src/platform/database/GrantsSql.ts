/** The rights of a role that serves requests and cannot change the schema. */
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"

/** Tables whose rows are only ever added, so that not even the gateway's own role can rewrite the books or the audit log. */
export const APPEND_ONLY = ["transfer", "audit_event", "audit_completion", "operator_event", "top_up_decision"] as const

/** Tables that only a migration writes. */
export const READ_ONLY = ["schema_migration"] as const

/** Whether the server has a role of this name. */
export const roleExists = (role: string): Effect.Effect<boolean, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(sql`SELECT 1 FROM pg_roles WHERE rolname = ${role}`, (rows) => rows.length > 0)
  )

/**
 * Gives an existing role the rights that a gateway needs and takes its other rights on the tables of this schema. The caller owns the
 * tables. It covers the tables there are, so it runs again after each migration.
 */
export const grantTo = (role: string): Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [place] = yield* sql<{ database: string; schema: string }>`
      SELECT current_database() AS database, current_schema() AS schema`
    const [database, schema, name] = [sql(place!.database), sql(place!.schema), sql(role)]
    yield* sql`GRANT CONNECT, TEMPORARY ON DATABASE ${database} TO ${name}`
    yield* sql`GRANT USAGE ON SCHEMA ${schema} TO ${name}`
    yield* sql`REVOKE ALL ON ALL TABLES IN SCHEMA ${schema} FROM ${name}`
    yield* sql`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${name}`
    yield* sql`GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA ${schema} TO ${name}`
    for (const table of APPEND_ONLY) yield* sql`REVOKE UPDATE, DELETE ON ${sql(table)} FROM ${name}`
    for (const table of READ_ONLY) yield* sql`REVOKE INSERT, UPDATE, DELETE ON ${sql(table)} FROM ${name}`
  }).pipe((work) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(work)))
