import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

export type AccountState = "active" | "suspended" | "closed"

export interface AccountRow {
  readonly id: string
  readonly email: string
  readonly limit_scale: number
  readonly state: AccountState
  /** The operator's reason for the state. */
  readonly state_reason: string | null
}

export const insertAccount = (sql: SqlClient.SqlClient, id: string, email: string) =>
  Effect.andThen(
    sql`INSERT INTO account (id, email) VALUES (${id}, ${email})`,
    sql`INSERT INTO balance (account_id) VALUES (${id})`
  )

export const accountByEmail = (sql: SqlClient.SqlClient, email: string) =>
  Effect.map(
    sql<AccountRow>`SELECT id, email, limit_scale, state, state_reason FROM account WHERE lower(email) = lower(${email})`,
    (rows) => rows[0]
  )

export const anyAccount = (sql: SqlClient.SqlClient) =>
  Effect.map(sql`SELECT 1 FROM account LIMIT 1`, (rows) => rows.length > 0)

export const setLimitScale = (sql: SqlClient.SqlClient, id: string, scale: number) =>
  sql`UPDATE account SET limit_scale = ${scale}::float8 WHERE id = ${id}`

/** Sets the account's markup in basis points, and returns the former one; undefined for an unknown account. */
export const setMarkup = (sql: SqlClient.SqlClient, id: string, basisPoints: number) =>
  Effect.map(
    sql<{ former: number }>`WITH before AS (SELECT id, markup_bp FROM account WHERE id = ${id} FOR NO KEY UPDATE)
      UPDATE account a SET markup_bp = ${basisPoints}::int FROM before b WHERE a.id = b.id RETURNING b.markup_bp AS former`,
    (rows) => rows[0]?.former
  )

/** Locks the account and returns its state. */
export const lockState = (sql: SqlClient.SqlClient, id: string) =>
  Effect.map(
    sql<Pick<AccountRow, "state">>`SELECT state FROM account WHERE id = ${id} FOR NO KEY UPDATE`,
    (rows) => rows[0]?.state
  )

export const setState = (
  sql: SqlClient.SqlClient,
  id: string,
  { reason, state }: { readonly state: AccountState; readonly reason: string | null }
) => sql`UPDATE account SET state = ${state}, state_reason = ${reason}::text, state_changed_at = now() WHERE id = ${id}`

/** An account with held money (in nano-USD) or running requests cannot be closed. */
export interface UnfinishedWork {
  readonly held: bigint
  readonly requests: number
}

/** Locks the account's money, so that no hold opens before the transaction ends. */
export const lockRunning = (sql: SqlClient.SqlClient, id: string) =>
  Effect.gen(function* () {
    yield* sql`SELECT 1 FROM balance WHERE account_id = ${id} FOR UPDATE`
    const [running = { held: 0n, requests: 0 }] = yield* sql<UnfinishedWork>`SELECT
        (SELECT held FROM balance WHERE account_id = ${id})
          + COALESCE((SELECT held FROM play_balance WHERE account_id = ${id}), 0) AS held,
        ((SELECT count(*) FROM request WHERE account_id = ${id} AND state = 'open')
          + (SELECT count(*) FROM request WHERE account_id = ${id} AND state = 'settled' AND closed IS NULL))::int AS requests`
    return running
  })

/** Changes the account's address. Returns the former one and the moment. Fails with a unique violation when another account has it. */
export const setEmail = (sql: SqlClient.SqlClient, id: string, email: string) =>
  Effect.map(
    sql<{ former: string; at: Date }>`WITH before AS (SELECT id, email FROM account WHERE id = ${id} FOR NO KEY UPDATE)
      UPDATE account a SET email = ${email} FROM before b WHERE a.id = b.id RETURNING b.email AS former, now() AS at`,
    (rows) => rows[0] ?? { former: email, at: new Date() }
  )
