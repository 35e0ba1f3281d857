import { Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import type { BudgetPeriodName } from "../domain/Budget.ts"

/** A key as Auth needs it, with what of its account decides a request. */
export interface KeyRow {
  readonly id: string
  readonly account_id: string
  readonly project_id: string | null
  readonly kind: "inference" | "management"
  readonly scopes: ReadonlyArray<string>
  readonly active: boolean
  readonly expires_at: Date | null
  readonly limit_scale: number
  /** The key's own budget. */
  readonly budget_id: string | null
  readonly budget_period: BudgetPeriodName | null
  readonly budgets_epoch: number
}

const keyWhere = (
  sql: SqlClient.SqlClient,
  named: Statement.Fragment
): Effect.Effect<KeyRow | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<KeyRow>`SELECT k.id, k.account_id, k.project_id, k.kind, k.scopes, k.expires_at, a.limit_scale,
        k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now()) AS active,
        k.budget_id, b.period AS budget_period, k.budgets_epoch
      FROM api_key k JOIN account a ON a.id = k.account_id LEFT JOIN budget b ON b.id = k.budget_id
      WHERE ${named}`,
    (rows) => rows[0]
  )

export const keyByHash = (sql: SqlClient.SqlClient, hash: Uint8Array) => keyWhere(sql, sql`k.hash = ${hash}`)

export const keyById = (sql: SqlClient.SqlClient, id: string) => keyWhere(sql, sql`k.id = ${id}`)

/** Whether a key may be used now; false where there is none. */
export const keyIsActive = (sql: SqlClient.SqlClient, id: string): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql`SELECT 1 FROM api_key WHERE id = ${id} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`,
    (rows) => rows.length === 1
  )

/** Locks the account, so that two creations cannot both find the last free place. */
export const lockAccount = (sql: SqlClient.SqlClient, accountId: string) =>
  sql`SELECT id FROM account WHERE id = ${accountId} FOR UPDATE`

export const activeInferenceKeys = (sql: SqlClient.SqlClient, accountId: string) =>
  Effect.map(
    sql<{ count: bigint }>`SELECT count(*) FROM api_key WHERE account_id = ${accountId} AND kind = 'inference'
      AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`,
    (rows) => Number(rows[0]?.count ?? 0n)
  )

export const insertKey = (
  sql: SqlClient.SqlClient,
  key: {
    readonly id: string
    readonly accountId: string
    readonly kind: "inference" | "management"
    readonly name: string
    readonly hash: Uint8Array
    readonly prefix: string
    readonly last4: string
    readonly scopes: ReadonlyArray<string>
  }
) =>
  sql`INSERT INTO api_key (id, account_id, kind, name, hash, prefix, last4, scopes) VALUES (${key.id}, ${key.accountId},
    ${key.kind}, ${key.name}, ${key.hash}, ${key.prefix}, ${key.last4}, ${[...key.scopes]}::text[])`

/** Revokes an active key; answers its account, or undefined when there is no such active key. */
export const revokeKey = (sql: SqlClient.SqlClient, id: string, accountId: string | undefined) =>
  Effect.map(
    sql<{ account_id: string }>`UPDATE api_key SET revoked_at = now() WHERE id = ${id} AND revoked_at IS NULL
      AND (${accountId ?? null}::text IS NULL OR account_id = ${accountId ?? null}) RETURNING account_id`,
    (rows) => rows[0]?.account_id
  )
