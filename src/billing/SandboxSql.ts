import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/** What a sandbox has left in the database that must not reach a real provider. */
export interface SandboxTraces {
  /** How many accounts have simulated money, and how much in total. */
  readonly accounts: bigint
  readonly simulated: bigint
  /** Keys of the demo account that the first start has shown and that still work. */
  readonly keys: bigint
}

/** Keys created in the same transaction as the demo account, which share its timestamp. Keys the owner created later are kept. */
const demoKeys = (sql: SqlClient.SqlClient, email: string) => sql`
  SELECT k.id FROM api_key k JOIN account a ON a.id = k.account_id AND k.created_at = a.created_at
    JOIN play_balance p ON p.account_id = a.id
  WHERE lower(a.email) = ${email} AND k.revoked_at IS NULL`

export const sandboxTraces = (
  sql: SqlClient.SqlClient,
  demoEmail: string
): Effect.Effect<SandboxTraces, SqlError.SqlError> =>
  Effect.map(
    sql<SandboxTraces>`SELECT count(*) FILTER (WHERE posted > 0) AS accounts, COALESCE(sum(posted), 0)::int8 AS simulated,
      (SELECT count(*) FROM (${demoKeys(sql, demoEmail)}) AS k) AS keys FROM play_balance`,
    ([row = { accounts: 0n, simulated: 0n, keys: 0n }]) => row
  )

export const demoKeyIds = (
  sql: SqlClient.SqlClient,
  demoEmail: string
): Effect.Effect<ReadonlyArray<string>, SqlError.SqlError> =>
  Effect.map(sql<{ id: string }>`SELECT id FROM (${demoKeys(sql, demoEmail)}) AS k`, (rows) => rows.map(({ id }) => id))

/** Accounts with simulated money, in the order of their locks. */
export const accountsWithPlay = (sql: SqlClient.SqlClient): Effect.Effect<ReadonlyArray<string>, SqlError.SqlError> =>
  Effect.map(
    sql<{ id: string }>`SELECT account_id AS id FROM play_balance WHERE posted > 0 ORDER BY account_id`,
    (rows) => rows.map(({ id }) => id)
  )

/** A request with held simulated money, or one that was charged up front and has not ended. */
export interface UnendedPlay {
  readonly id: string
  readonly charged: boolean
  /** What is left of the charge. */
  readonly cost: bigint
}

export const unendedPlay = (
  sql: SqlClient.SqlClient,
  accountId: string
): Effect.Effect<ReadonlyArray<UnendedPlay>, SqlError.SqlError> =>
  sql<UnendedPlay>`SELECT id, state = 'settled' AS charged, settled - refunded AS cost FROM request
    WHERE account_id = ${accountId} AND play AND (state = 'open' OR state = 'settled' AND closed IS NULL)`
