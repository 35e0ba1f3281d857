import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

export interface AccountRow {
  readonly id: string
  readonly email: string
  readonly limit_scale: number
}

export const insertAccount = (sql: SqlClient.SqlClient, id: string, email: string) =>
  Effect.andThen(
    sql`INSERT INTO account (id, email) VALUES (${id}, ${email})`,
    sql`INSERT INTO balance (account_id) VALUES (${id})`
  )

export const accountByEmail = (sql: SqlClient.SqlClient, email: string) =>
  Effect.map(
    sql<AccountRow>`SELECT id, email, limit_scale FROM account WHERE lower(email) = lower(${email})`,
    (rows) => rows[0]
  )

export const anyAccount = (sql: SqlClient.SqlClient) =>
  Effect.map(sql`SELECT 1 FROM account LIMIT 1`, (rows) => rows.length > 0)

export const setLimitScale = (sql: SqlClient.SqlClient, id: string, scale: number) =>
  sql`UPDATE account SET limit_scale = ${scale}::float8 WHERE id = ${id}`
