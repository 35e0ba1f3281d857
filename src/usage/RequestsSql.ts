import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { limitTo } from "../platform/Sql.ts"

/** A request row as its receipt needs it. Times are the database's. */
export interface RequestRow {
  readonly id: string
  readonly account_id: string
  readonly key_id: string
  readonly project_id: string | null
  readonly operation: string
  readonly model: string
  readonly status: "open" | "succeeded" | "failed" | "cancelled"
  readonly created_at: Date
  readonly closed_at: Date | null
  readonly held: bigint
  readonly settled: bigint
  readonly absorbed: bigint
  readonly refunded: bigint
  readonly resolved_model: string | null
  readonly provider: string | null
  readonly opened: unknown
  readonly closed: unknown
  readonly idempotency_key: string | null
}

/** What a repeat under an idempotency key needs to know of the request that has it. */
export interface ClaimRow {
  readonly id: string
  /** Not ended yet: its hold is open, or what was charged up front for it is not concluded. */
  readonly running: boolean
  readonly claim: string | null
  readonly fingerprint: string | null
  readonly cost: bigint
  readonly answer: unknown
}

/** A request that was charged up front is open until it is concluded. */
const columns = (sql: SqlClient.SqlClient) =>
  sql.literal(`id, account_id, key_id, project_id, operation, model, CASE WHEN closed IS NULL THEN 'open' ELSE status END AS status,
    created_at, CASE WHEN closed IS NOT NULL THEN closed_at END AS closed_at, held, settled, absorbed, refunded, resolved_model,
    provider, opened, closed, idempotency_key`)

export const requestById = (
  sql: SqlClient.SqlClient,
  accountId: string,
  id: string
): Effect.Effect<RequestRow | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<RequestRow>`SELECT ${columns(sql)} FROM request WHERE id = ${id} AND account_id = ${accountId}`,
    (rows) => rows[0]
  )

export const requestsOf = (
  sql: SqlClient.SqlClient,
  accountId: string,
  page: {
    readonly limit: number
    readonly cursor: string | null
    readonly model: string | null
    readonly status: string | null
  }
): Effect.Effect<ReadonlyArray<RequestRow>, SqlError.SqlError> => {
  const all = sql.literal("")
  const { cursor, model, status } = page
  return sql<RequestRow>`SELECT ${columns(sql)} FROM request WHERE account_id = ${accountId}
      ${cursor === null ? all : sql`AND id < ${cursor}`}
      ${model === null ? all : sql`AND (model = ${model} OR resolved_model = ${model})`}
      ${status === null ? all : sql`AND CASE WHEN closed IS NULL THEN 'open' ELSE status END = ${status}`}
    ORDER BY id DESC ${limitTo(sql, page.limit)}`
}

export const claimById = (
  sql: SqlClient.SqlClient,
  id: string
): Effect.Effect<ClaimRow | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<ClaimRow>`SELECT id, closed IS NULL AS running, claim, fingerprint,
        settled - refunded AS cost, answer FROM request WHERE id = ${id}`,
    (rows) => rows[0]
  )

/** A request that has an idempotency claim, and what a repeat under it finds. */
export interface Claimed {
  readonly id: string
  readonly claim: string
  readonly fingerprint: string | null
  /** It is not ended, and may yet be. */
  readonly running: boolean
  /** Its hold expired, or is about to, and nothing was charged: nobody knows what became of it, and it may be tried again. */
  readonly lapsed: boolean
  /** It ended without being served, whole or in part; why may not have been kept. */
  readonly refused: boolean
  readonly cost: bigint
  readonly answer: unknown
}

/** The requests of an account that have any of these claims. */
export const requestsWithClaims = (
  sql: SqlClient.SqlClient,
  accountId: string,
  claims: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<Claimed>, SqlError.SqlError> =>
  sql<Claimed>`SELECT id, claim, fingerprint, state = 'open' AND expires_at > now() AS running,
      CASE WHEN state = 'open' THEN expires_at <= now() ELSE expired AND settled = 0 END AS lapsed,
      state <> 'open' AND status <> 'succeeded' AND settled = refunded AS refused, settled - refunded AS cost, answer
    FROM request WHERE claim = ANY (${claims as Array<string>}) AND account_id = ${accountId}`

export const requestWithClaim = (
  sql: SqlClient.SqlClient,
  accountId: string,
  claim: string
): Effect.Effect<string | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<{ readonly id: string }>`SELECT id FROM request WHERE claim = ${claim} AND account_id = ${accountId}`,
    (rows) => rows[0]?.id
  )
