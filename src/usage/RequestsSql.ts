import { Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
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
  /** True where play money pays for it. */
  readonly play: boolean | null
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
    provider, opened, closed, idempotency_key, play`)

export const requestById = (
  sql: SqlClient.SqlClient,
  accountId: string,
  id: string
): Effect.Effect<RequestRow | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<RequestRow>`SELECT ${columns(sql)} FROM request WHERE id = ${id} AND account_id = ${accountId}`,
    (rows) => rows[0]
  )

/** What is asked for on a page of receipts; null is any. */
export interface Wanted {
  /** Any model that was asked for or served. */
  readonly model: string | null
  readonly status: string | null
}

/** The largest and the smallest text that a request's id can be compared with. */
const [LAST_ID, FIRST_ID] = [`req_${"Z".repeat(26)}`, ""]

/**
 * The requests that an index has in the order of a page, newest first. Failed and cancelled ones have an index of their own, in a
 * collation that no other index has. All others are compared as rows of account and id: only the index on both fits that, and no plan
 * can walk through the primary key instead, past the requests of all other accounts.
 */
const inOrder = (sql: SqlClient.SqlClient, accountId: string, { status }: Wanted, before: string | null) =>
  isRare(status)
    ? {
        where: sql`account_id = ${accountId} AND status = ${sql.literal(`'${status}'`)}
          ${before === null ? sql.literal("") : sql`AND id COLLATE "C" < ${before}`}`,
        order: sql.literal('ORDER BY id COLLATE "C" DESC')
      }
    : {
        where: sql`(account_id, id) >= (${accountId}, ${FIRST_ID})
          AND (account_id, id) ${sql.literal(before === null ? "<=" : "<")} (${accountId}, ${before ?? LAST_ID})`,
        order: sql.literal("ORDER BY account_id DESC, id DESC")
      }

const isRare = (status: string | null): status is "failed" | "cancelled" =>
  status === "failed" || status === "cancelled"

/** Whether requests that are not wanted may lie between those that are, in the order of the index that a page is read from. */
export const isSearched = ({ model, status }: Wanted): boolean => model !== null || (status !== null && !isRare(status))

const matches = (sql: SqlClient.SqlClient, { model, status }: Wanted) => sql`
  ${model === null ? sql.literal("true") : sql`(model = ${model} OR resolved_model = ${model})`}
  ${status === null || isRare(status) ? sql.literal("") : sql`AND CASE WHEN closed IS NULL THEN 'open' ELSE status END = ${status}`}`

/** Receipts of an account that an index has in the order of a page: all of them, or those of one status that it has. */
export const requestsOf = (
  sql: SqlClient.SqlClient,
  accountId: string,
  wanted: Wanted,
  before: string | null,
  limit: number
): Effect.Effect<ReadonlyArray<RequestRow>, SqlError.SqlError> => {
  const { order, where } = inOrder(sql, accountId, wanted, before)
  return sql<RequestRow>`SELECT ${columns(sql)} FROM request WHERE ${where} ${order} ${limitTo(sql, limit)}`
}

/** Receipts that match among a number of requests, and the id of the last of those requests; undefined where there are fewer. */
export interface Searched {
  readonly rows: ReadonlyArray<RequestRow>
  readonly bound: string | undefined
}

interface SearchedRow extends RequestRow {
  readonly wanted: boolean
  readonly last: boolean
}

/**
 * Looks for matching receipts among so many of an account's requests, newest first. One statement finds both the receipts and how far
 * it looked, so that a request that comes meanwhile moves neither.
 */
export const searchStatement = (
  sql: SqlClient.SqlClient,
  accountId: string,
  wanted: Wanted,
  before: string | null,
  { limit, part }: { readonly limit: number; readonly part: number }
): Statement.Statement<SearchedRow> => {
  const { order, where } = inOrder(sql, accountId, wanted, before)
  const last = sql.literal(`place = ${BigInt(part)}`)
  return sql<SearchedRow>`SELECT ${columns(sql)}, wanted, ${last} AS last FROM (
      SELECT *, COALESCE(${matches(sql, wanted)}, false) AS wanted, row_number() OVER (${order}) AS place
        FROM request WHERE ${where} ${order} ${limitTo(sql, part)}
    ) AS request WHERE wanted OR ${last} ${order} ${limitTo(sql, limit + 1)}`
}

/** Carries out `searchStatement`. */
export const searchRequests = (
  ...search: Parameters<typeof searchStatement>
): Effect.Effect<Searched, SqlError.SqlError> =>
  Effect.map(searchStatement(...search), (rows) => ({
    rows: rows.filter((row) => row.wanted).slice(0, search[4].limit),
    bound: rows.find((row) => row.last)?.id
  }))

/**
 * The open receipts of an account, newest first. Both kinds have an index without an order by id, and are few: as many as an account
 * has at once. They are collected behind `OFFSET 0`, so that no plan looks for them among all requests in the order of the page.
 */
export const openRequestsOf = (
  sql: SqlClient.SqlClient,
  accountId: string,
  { model }: Pick<Wanted, "model">,
  before: string | null,
  limit: number
): Effect.Effect<ReadonlyArray<RequestRow>, SqlError.SqlError> => {
  const found = (which: string) =>
    sql`(SELECT * FROM request WHERE account_id = ${accountId} AND ${sql.literal(which)} OFFSET 0)`
  return sql<RequestRow>`SELECT ${columns(sql)} FROM (
      ${found("state = 'open'")} UNION ALL ${found("state = 'settled' AND closed IS NULL")}
    ) AS request WHERE ${matches(sql, { model, status: null })} ${before === null ? sql.literal("") : sql`AND id < ${before}`}
    ORDER BY id DESC ${limitTo(sql, limit)}`
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
