import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { firstRequestIdAt } from "../platform/Ids.ts"
import { limitTo } from "../platform/database/Sql.ts"

type Sql = SqlClient.SqlClient

/** A request in a list. Amounts are in nano-USD. */
export interface RequestLine {
  readonly id: string
  readonly created_at: Date
  readonly operation: string
  readonly model: string
  readonly resolved_model: string | null
  readonly provider: string | null
  readonly status: "open" | "succeeded" | "failed" | "cancelled"
  readonly held: bigint
  readonly cost: bigint
  readonly key_id: string
}

/** The filters of a page of requests; null matches everything. */
export interface RequestSearch {
  readonly status: RequestLine["status"] | null
  /** Matches the requested or the served model. */
  readonly model: string | null
  readonly since: Date | null
  /** The page continues with requests older than this ID. */
  readonly after: string | null
  readonly limit: number
}

/** A node's clock makes the ID and the database's clock the time. They differ by less than this. */
const CLOCK_DIFFERENCE_MS = 3_600_000

/** Returns requests of an account, newest first. */
export const requestsMatching = (
  sql: Sql,
  accountId: string,
  { after, limit, model, since, status }: RequestSearch
): Effect.Effect<ReadonlyArray<RequestLine>, SqlError.SqlError> => {
  const from = since === null ? "" : firstRequestIdAt(Math.max(0, since.getTime() - CLOCK_DIFFERENCE_MS))
  return sql<RequestLine>`SELECT * FROM (
      SELECT id, created_at, operation, model, resolved_model, provider, held, settled - refunded AS cost, key_id,
        CASE WHEN closed IS NULL THEN 'open' ELSE status END AS status
      FROM request WHERE account_id = ${accountId} AND id >= ${from}
    ) AS r
    WHERE (${after}::text IS NULL OR id < ${after}) AND (${since}::timestamptz IS NULL OR created_at >= ${since})
      AND (${status}::text IS NULL OR status = ${status})
      AND (${model}::text IS NULL OR model = ${model} OR resolved_model = ${model})
    ORDER BY id DESC ${limitTo(sql, limit)}`
}

/** The account of a request. */
export interface RequestOwner {
  readonly account_id: string
  readonly email: string
}

/** Returns the account of the request with this ID, or of the request that a replay with this ID repeated. */
export const ownerOfRequest = (sql: Sql, id: string): Effect.Effect<RequestOwner | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<RequestOwner>`SELECT a.id AS account_id, a.email FROM account a WHERE a.id IN (
      SELECT account_id FROM request WHERE id = ${id} UNION ALL SELECT account_id FROM replay WHERE id = ${id})`,
    (rows) => rows[0]
  )

/** A movement of money for a request. Above zero it came to the account. */
export interface Movement {
  readonly at: Date
  readonly kind: string
  readonly amount: bigint
  readonly reference: string | null
}

/** Returns the movements for a request, oldest first. */
export const movementsFor = (
  sql: Sql,
  accountId: string,
  requestId: string
): Effect.Effect<ReadonlyArray<Movement>, SqlError.SqlError> =>
  sql<Movement>`SELECT at, kind, CASE WHEN credit = ${accountId} THEN amount ELSE -amount END AS amount, reference
    FROM transfer WHERE (debit = ${accountId} OR credit = ${accountId}) AND request_id = ${requestId} ORDER BY id`
