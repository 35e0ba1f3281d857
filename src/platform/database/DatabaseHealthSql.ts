import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/** Succeeds when the database answers. */
export const answers = (sql: SqlClient.SqlClient): Effect.Effect<void, SqlError.SqlError> =>
  Effect.asVoid(sql`SELECT 1`)

/** Writes and commits a row that needs new disk space, with the privileges that a paid request needs. */
export const writeDurably = (sql: SqlClient.SqlClient): Effect.Effect<void, SqlError.SqlError> =>
  Effect.asVoid(sql`SELECT write_durably()`)
