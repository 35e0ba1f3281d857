import { Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import { DAY_MS } from "../domain/Day.ts"
import { firstRequestIdAt } from "../platform/Ids.ts"
import { limitTo } from "../platform/database/Sql.ts"

/** A request row with the fields of its receipt. Times are the database's. */
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
  /** True when simulated money pays for the request. */
  readonly play: boolean | null
}

/** The facts that a repeated request needs about the first request with its idempotency key. */
export interface ClaimRow {
  readonly id: string
  /** Whether the request has not ended: its hold is open, or its upfront charge is not concluded. */
  readonly running: boolean
  readonly claim: string | null
  readonly fingerprint: string | null
  readonly cost: bigint
  readonly answer: unknown
}

/** The columns of a receipt. A request charged up front counts as open until it is concluded. */
export const columns = (sql: SqlClient.SqlClient) =>
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

/** A range of request ids: the first is included, the last excluded. */
export interface IdRange {
  readonly from: string
  readonly until: string
}

/** The sums of the requests of a range in the books. Amounts are in nano-USD. */
export interface DayBooks {
  readonly receipts: bigint
  /** The number of requests that have not ended. */
  readonly open: bigint
  /** The settled amount according to the transfers. */
  readonly charged: bigint
  /** The refunded amount by the requests, because no index has the refunds of a range. `ledger verify` proves that both agree. */
  readonly refunded: bigint
}

/** Returns requests of all accounts with an id of this range, in the order of ids, after this one. */
export const requestsBetween = (
  sql: SqlClient.SqlClient,
  { from, until }: IdRange,
  after: string,
  limit: number
): Effect.Effect<ReadonlyArray<RequestRow>, SqlError.SqlError> =>
  sql<RequestRow>`SELECT ${columns(sql)} FROM request WHERE id >= ${from} AND id < ${until} AND id > ${after}
    ORDER BY id ${limitTo(sql, limit)}`

/** Reads the sums of the requests of a range in the books, at one moment. */
export const booksBetween = (
  sql: SqlClient.SqlClient,
  { from, until }: IdRange
): Effect.Effect<DayBooks, SqlError.SqlError> =>
  Effect.map(
    sql<DayBooks>`SELECT count(*) AS receipts, count(*) FILTER (WHERE closed IS NULL) AS open,
        COALESCE(sum(refunded), 0)::int8 AS refunded,
        (SELECT COALESCE(sum(amount), 0)::int8 FROM transfer
          WHERE request_id >= ${from} AND request_id < ${until} AND kind IN ('settle', 'charge')) AS charged
      FROM request WHERE id >= ${from} AND id < ${until}`,
    ([found]) => found ?? { receipts: 0n, open: 0n, charged: 0n, refunded: 0n }
  )

/** Returns the request whose answer the request with this id repeated. */
export const requestReplayedBy = (
  sql: SqlClient.SqlClient,
  accountId: string,
  id: string
): Effect.Effect<RequestRow | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<RequestRow>`SELECT ${columns(sql)} FROM request WHERE account_id = ${accountId}
      AND id = (SELECT request_id FROM replay WHERE replay.id = ${id} AND replay.account_id = ${accountId})`,
    (rows) => rows[0]
  )

/** A request that was answered with the stored answer of an earlier one. */
export interface Replay {
  readonly id: string
  readonly accountId: string
  /** The earlier request. */
  readonly requestId: string
}

export const insertReplay = (sql: SqlClient.SqlClient, { accountId, id, requestId }: Replay) =>
  sql`INSERT INTO replay (id, account_id, request_id) VALUES (${id}, ${accountId}, ${requestId}) ON CONFLICT DO NOTHING`

/** Deletes replays older than this, a bounded number at a time. Returns how many it deleted. */
export const dropReplays = (sql: SqlClient.SqlClient, olderThanMs: number): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql`DELETE FROM replay WHERE id IN (
      SELECT id FROM replay WHERE created_at < now() - ${olderThanMs} * interval '1 millisecond'
      ORDER BY created_at LIMIT 1000 FOR UPDATE SKIP LOCKED) RETURNING 1`,
    (rows) => rows.length
  )

/** The filters of a receipts page. An absent one matches everything. */
export interface ReceiptFilters {
  /** Matches the requested or the served model. */
  readonly model?: string | undefined
  readonly status?: string | undefined
  readonly keyId?: string | undefined
  readonly projectId?: string | undefined
  /** Matches the provider that served. */
  readonly provider?: string | undefined
  readonly operation?: string | undefined
  /** Bounds of the final charge in nano-USD, and of the time from arrival to end in milliseconds; both ends are included. */
  readonly minCost?: bigint | undefined
  readonly maxCost?: bigint | undefined
  readonly minLatencyMs?: number | undefined
  readonly maxLatencyMs?: number | undefined
  /** Matches this request ID and all greater ones. */
  readonly fromId?: string | undefined
}

/** An hour's requests may have an ID that is older than the hour, by less than this. */

/** The greatest and the smallest text that a request ID compares with. */
const [LAST_ID, FIRST_ID] = [`req_${"Z".repeat(26)}`, ""]

/**
 * Returns the condition and order for a page that an index can serve, newest first. Failed and cancelled requests have their own
 * index, in a collation that no other index uses. The other conditions compare rows of account and ID. Only the index on both
 * columns fits that, so no plan can walk the primary key past the requests of other accounts.
 */
const inOrder = (
  sql: SqlClient.SqlClient,
  accountId: string,
  { fromId, status }: ReceiptFilters,
  before: string | null
) =>
  isRare(status)
    ? {
        where: sql`account_id = ${accountId} AND status = ${sql.literal(`'${status}'`)}
          ${before === null ? sql.literal("") : sql`AND id COLLATE "C" < ${before}`}
          ${fromId === undefined ? sql.literal("") : sql`AND id COLLATE "C" >= ${fromId}`}`,
        order: sql.literal('ORDER BY id COLLATE "C" DESC')
      }
    : {
        where: sql`(account_id, id) >= (${accountId}, ${fromId ?? FIRST_ID})
          AND (account_id, id) ${sql.literal(before === null ? "<=" : "<")} (${accountId}, ${before ?? LAST_ID})`,
        order: sql.literal("ORDER BY account_id DESC, id DESC")
      }

const isRare = (status: string | undefined): status is "failed" | "cancelled" =>
  status === "failed" || status === "cancelled"

/** Reports whether a page must skip non-matching requests in the order of the index that it reads. */
export const isSearched = ({ status, ...others }: Omit<ReceiptFilters, "fromId">): boolean =>
  Object.values(others).some((filter) => filter !== undefined) || (status !== undefined && !isRare(status))

const matches = (
  sql: SqlClient.SqlClient,
  { keyId, maxCost, maxLatencyMs, minCost, minLatencyMs, model, operation, projectId, provider, status }: ReceiptFilters
): Statement.Fragment => {
  const and = <A>(value: A | undefined, condition: (value: A) => Statement.Fragment) =>
    value === undefined ? sql.literal("") : sql`AND ${condition(value)}`
  const latency = sql.literal("(closed ->> 'totalMs')::float8")
  return sql`true
    ${and(model, (value) => sql`(model = ${value} OR resolved_model = ${value})`)}
    ${and(keyId, (value) => sql`key_id = ${value}`)}
    ${and(projectId, (value) => sql`project_id = ${value}`)}
    ${and(provider, (value) => sql`provider = ${value}`)}
    ${and(operation, (value) => sql`operation = ${value}`)}
    ${and(minCost, (value) => sql`settled - refunded >= ${value}`)}
    ${and(maxCost, (value) => sql`settled - refunded <= ${value}`)}
    ${and(minLatencyMs, (value) => sql`${latency} >= ${value}::float8`)}
    ${and(maxLatencyMs, (value) => sql`${latency} <= ${value}::float8`)}
    ${and(isRare(status) ? undefined : status, (value) => sql`CASE WHEN closed IS NULL THEN 'open' ELSE status END = ${value}`)}`
}

/** Returns an account's receipts in index order: all of them, or those of a status that has its own index. */
export const requestsOf = (
  sql: SqlClient.SqlClient,
  accountId: string,
  wanted: ReceiptFilters,
  before: string | null,
  limit: number
): Effect.Effect<ReadonlyArray<RequestRow>, SqlError.SqlError> => {
  const { order, where } = inOrder(sql, accountId, wanted, before)
  return sql<RequestRow>`SELECT ${columns(sql)} FROM request WHERE ${where} ${order} ${limitTo(sql, limit)}`
}

/**
 * The matching receipts within a range of requests, and the ID of the last request examined; undefined when the range was not
 * filled.
 */
export interface SearchedRange {
  readonly rows: ReadonlyArray<RequestRow>
  readonly bound: string | undefined
}

interface SearchedRow extends RequestRow {
  readonly wanted: boolean
  readonly last: boolean
}

/**
 * Searches the account's newest `part` requests for matching receipts. One statement finds the receipts and the end of the range,
 * so a request that arrives meanwhile affects neither.
 */
export const searchStatement = (
  sql: SqlClient.SqlClient,
  accountId: string,
  wanted: ReceiptFilters,
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

/** Runs `searchStatement`. */
export const searchRequests = (
  ...search: Parameters<typeof searchStatement>
): Effect.Effect<SearchedRange, SqlError.SqlError> =>
  Effect.map(searchStatement(...search), (rows) => ({
    rows: rows.filter((row) => row.wanted).slice(0, search[4].limit),
    bound: rows.find((row) => row.last)?.id
  }))

/** A range of request IDs in which there may be a match; both ends are included. */
export interface Range {
  readonly oldest: string
  readonly newest: string
}

/** The ID from which on requests may be in no rollup. */
export const rolledUpThrough = (sql: SqlClient.SqlClient): Effect.Effect<string, SqlError.SqlError> =>
  Effect.map(sql<{ through: string }>`SELECT through FROM usage_rollup_state`, ([row]) => row?.through ?? FIRST_ID)

/** Returns an ID that is not greater than those of the account's requests which are rolled up or wait for it; undefined without any. */
export const firstCounted = (
  sql: SqlClient.SqlClient,
  accountId: string
): Effect.Effect<string | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<{ start: Date | null; pending: string | null }>`SELECT
      (SELECT min(start) FROM usage_rollup WHERE account_id = ${accountId} AND width = 'hour') AS start,
      (SELECT min(request_id) FROM usage_pending WHERE account_id = ${accountId}) AS pending`,
    ([row]) => {
      const hour = row?.start == null ? undefined : firstRequestIdAt(Math.max(0, row.start.getTime() - DAY_MS))
      const pending = row?.pending ?? undefined
      return hour === undefined || (pending !== undefined && pending < hour) ? pending : hour
    }
  )

/**
 * Returns the ranges between two IDs that may have a match, newest first: those of the hours with a rollup that fits, and each request
 * that no rollup includes. A rollup has the highest cost and latency of its requests, so hours below a lower bound are left out. An
 * hour's requests may have older IDs than its start, but not by more than a day.
 */
export const rangesOf = (
  sql: SqlClient.SqlClient,
  accountId: string,
  wanted: ReceiptFilters,
  { before, from, fromTime, untilTime }: { before: string; from: string; fromTime: Date; untilTime: Date }
): Effect.Effect<ReadonlyArray<Range>, SqlError.SqlError> => {
  const { keyId, minCost, minLatencyMs, model, operation, projectId, provider, status } = wanted
  const and = <A>(value: A | undefined, condition: (value: A) => Statement.Fragment) =>
    value === undefined ? sql.literal("") : sql`AND ${condition(value)}`
  return sql<Range>`SELECT oldest, newest FROM (
      SELECT min(oldest_id) AS oldest, max(newest_id) AS newest FROM usage_rollup
        WHERE account_id = ${accountId} AND width = 'hour' AND start >= ${fromTime} AND start <= ${untilTime}
          AND oldest_id < ${before} AND newest_id >= ${from}
          ${and(model, (value) => sql`(model = ${value} OR ${value} = ANY (aliases))`)}
          ${and(keyId, (value) => sql`key_id = ${value}`)} ${and(projectId, (value) => sql`project_id = ${value}`)}
          ${and(provider, (value) => sql`provider = ${value}`)} ${and(operation, (value) => sql`operation = ${value}`)}
          ${and(status, (value) => sql`status = ${value}`)} ${and(minCost, (value) => sql`most_cost >= ${value}`)}
          ${and(minLatencyMs, (value) => sql`most_latency_us >= ${BigInt(Math.floor(value * 1_000))}`)}
        GROUP BY start
      UNION ALL
      SELECT request_id, request_id FROM usage_pending
        WHERE account_id = ${accountId} AND request_id < ${before} AND request_id >= ${from}
    ) AS found ORDER BY newest DESC`
}

/** Returns the matching receipts in these ranges, newest first. */
export const requestsIn = (
  sql: SqlClient.SqlClient,
  accountId: string,
  wanted: ReceiptFilters,
  { before, from, ranges }: { before: string; from: string; ranges: ReadonlyArray<Range> },
  limit: number
): Effect.Effect<ReadonlyArray<RequestRow>, SqlError.SqlError> => {
  const fits = isRare(wanted.status) ? sql`status = ${wanted.status} AND closed IS NOT NULL AND ` : sql.literal("")
  return sql<RequestRow>`SELECT ${columns(sql)} FROM (
      SELECT r.* FROM unnest(${ranges.map(({ oldest }) => oldest)}::text[], ${ranges.map(({ newest }) => newest)}::text[])
        AS range(oldest, newest) CROSS JOIN LATERAL (
          SELECT * FROM request WHERE (account_id, id) >= (${accountId}, oldest) AND (account_id, id) <= (${accountId}, newest)
            AND (account_id, id) >= (${accountId}, ${from}) AND (account_id, id) < (${accountId}, ${before}) AND ${fits}${matches(sql, wanted)} ORDER BY account_id DESC, id DESC ${limitTo(sql, limit)}
        ) AS r
    ) AS request ORDER BY id DESC ${limitTo(sql, limit)}`
}

/**
 * Returns an account's open receipts, newest first. The indexes of both kinds of open request are not ordered by ID, but an account
 * has few open requests at a time. `OFFSET 0` makes PostgreSQL collect them first instead of searching all requests in page order.
 */
export const openRequestsOf = (
  sql: SqlClient.SqlClient,
  accountId: string,
  { fromId, ...wanted }: Omit<ReceiptFilters, "status">,
  before: string | null,
  limit: number
): Effect.Effect<ReadonlyArray<RequestRow>, SqlError.SqlError> => {
  const found = (which: string) =>
    sql`(SELECT * FROM request WHERE account_id = ${accountId} AND ${sql.literal(which)} OFFSET 0)`
  return sql<RequestRow>`SELECT ${columns(sql)} FROM (
      ${found("state = 'open'")} UNION ALL ${found("state = 'settled' AND closed IS NULL")}
    ) AS request WHERE ${matches(sql, wanted)} ${before === null ? sql.literal("") : sql`AND id < ${before}`}
      ${fromId === undefined ? sql.literal("") : sql`AND id >= ${fromId}`}
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

/** A request with an idempotency claim, and the facts that a repeated request needs. */
export interface ClaimedRequest {
  readonly id: string
  readonly claim: string
  readonly fingerprint: string | null
  /** The request has not ended and may still succeed. */
  readonly running: boolean
  /** The hold has expired or is about to, and nothing was charged. The outcome is unknown, and the request may be repeated. */
  readonly lapsed: boolean
  /** The request ended without delivering anything. The reason may not have been stored. */
  readonly refused: boolean
  readonly cost: bigint
  readonly answer: unknown
}

/** Returns the account's requests that have any of these claims. */
export const requestsWithClaims = (
  sql: SqlClient.SqlClient,
  accountId: string,
  claims: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<ClaimedRequest>, SqlError.SqlError> =>
  sql<ClaimedRequest>`SELECT id, claim, fingerprint, state = 'open' AND expires_at > now() AS running,
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
