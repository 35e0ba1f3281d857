import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

type Sql = SqlClient.SqlClient

/** An operator key, without its secret. */
export interface OperatorKeyRow {
  readonly id: string
  readonly name: string
  readonly last4: string
  readonly state: "active" | "revoked" | "expired"
  readonly created_at: Date
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
}

export const insertOperatorKey = (
  sql: Sql,
  key: {
    readonly id: string
    readonly name: string
    readonly hash: Uint8Array
    readonly last4: string
    readonly expiresAt: Date | null
  }
) =>
  sql`INSERT INTO operator_key (id, name, hash, last4, expires_at)
    VALUES (${key.id}, ${key.name}, ${key.hash}, ${key.last4}, ${key.expiresAt}::timestamptz)`

export const operatorKeys = (sql: Sql): Effect.Effect<ReadonlyArray<OperatorKeyRow>, SqlError.SqlError> =>
  sql<OperatorKeyRow>`SELECT id, name, last4, created_at, expires_at, revoked_at,
      CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= now() THEN 'expired' ELSE 'active' END AS state
    FROM operator_key ORDER BY created_at DESC, id DESC`

/** Revokes a key and returns it; undefined when no unrevoked key has this ID. */
export const revokeOperatorKey = (
  sql: Sql,
  id: string
): Effect.Effect<Pick<OperatorKeyRow, "id" | "name" | "expires_at"> | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<Pick<OperatorKeyRow, "id" | "name" | "expires_at">>`UPDATE operator_key SET revoked_at = now()
      WHERE id = ${id} AND revoked_at IS NULL RETURNING id, name, expires_at`,
    (rows) => rows[0]
  )

/** Returns the ID of the active key with this hash. */
export const operatorKeyByHash = (sql: Sql, hash: Uint8Array): Effect.Effect<string | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<{ id: string }>`SELECT id FROM operator_key WHERE hash = ${hash} AND revoked_at IS NULL
      AND COALESCE(expires_at > now(), true)`,
    (rows) => rows[0]?.id
  )
