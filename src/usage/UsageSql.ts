import { Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import { idsOfPage, type KeysOf, type KeysPage } from "../account/KeysSql.ts"
import { usageOutsideRollups, unrolledCosts } from "./RollupsSql.ts"

/** An account's usage of one model at one provider in one time bucket. Amounts are in nano-USD. */
export interface UsageRow {
  readonly start: Date
  readonly model: string
  readonly provider: string | null
  readonly requests: bigint
  readonly prompt: bigint
  readonly cached: bigint
  readonly cache_write: bigint
  readonly completion: bigint
  readonly reasoning: bigint
  readonly cost: bigint
}

/** Returns usage ordered by bucket, model and provider. It reads one moment and is complete up to it. */
export const usageOf = (
  sql: SqlClient.SqlClient,
  accountId: string,
  { since, width }: { readonly since: Date; readonly width: "hour" | "day" }
): Effect.Effect<ReadonlyArray<UsageRow>, SqlError.SqlError> =>
  sql<UsageRow>`WITH facts AS (
      SELECT start, model, provider, requests, prompt, cached, cache_write, completion, reasoning, cost
        FROM model_usage WHERE account_id = ${accountId} AND width = ${width} AND start >= ${since}
      UNION ALL SELECT date_trunc(${width}, created_at, 'UTC'), model, provider, requests, prompt, cached, cache_write,
        completion, reasoning, cost
        FROM (${usageOutsideRollups(sql, accountId)}) AS live WHERE created_at >= ${since}
    )
    SELECT start, model, provider, total(requests) AS requests, total(prompt) AS prompt, total(cached) AS cached,
      total(cache_write) AS cache_write, total(completion) AS completion, total(reasoning) AS reasoning, total(cost) AS cost
    FROM facts GROUP BY start, model, provider HAVING total(requests) > 0
    ORDER BY start, model COLLATE "C", provider COLLATE "C"`

/** An account's balance and all that it has ever used, in nano-USD. */
export interface Credits {
  readonly posted: bigint
  readonly used: bigint
}

/** Reads one moment and is complete up to it. */
export const creditsOf = (
  sql: SqlClient.SqlClient,
  accountId: string
): Effect.Effect<Credits | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<Credits>`WITH facts AS (
        SELECT cost FROM model_usage WHERE account_id = ${accountId} AND width = 'day'
        UNION ALL SELECT cost FROM (${usageOutsideRollups(sql, accountId)}) AS live
      )
      SELECT b.posted + COALESCE(p.posted, 0) AS posted, (SELECT COALESCE(total(cost), 0) FROM facts) AS used
      FROM balance b LEFT JOIN play_balance p ON p.account_id = b.account_id WHERE b.account_id = ${accountId}`,
    (rows) => rows[0]
  )

/** A key as its holder may see it, with the account's balance in nano-USD. */
export interface KeyFacts {
  readonly id: string
  readonly kind: "inference" | "management"
  readonly name: string
  readonly prefix: string
  readonly last4: string
  readonly project_id: string | null
  readonly created_at: Date
  readonly expires_at: Date | null
  readonly posted: bigint
}

export const keyFacts = (
  sql: SqlClient.SqlClient,
  keyId: string
): Effect.Effect<KeyFacts | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<KeyFacts>`SELECT k.id, k.kind, k.name, k.prefix, k.last4, k.project_id, k.created_at, k.expires_at,
        b.posted + COALESCE(p.posted, 0) AS posted
      FROM api_key k JOIN balance b ON b.account_id = k.account_id
        LEFT JOIN play_balance p ON p.account_id = k.account_id WHERE k.id = ${keyId}`,
    (rows) => rows[0]
  )

/** A key's spending since several dates and in total, and the time of its newest paid request. */
export interface KeySpend {
  readonly today: bigint
  readonly week: bigint
  readonly month: bigint
  readonly ever: bigint
  readonly used_at: Date | null
}

/** `days` holds the first day of each current period. */
export const keySpend = (
  sql: SqlClient.SqlClient,
  { accountId, keyId }: { readonly accountId: string; readonly keyId: string },
  days: { readonly today: string; readonly week: string; readonly month: string }
): Effect.Effect<KeySpend, SqlError.SqlError> =>
  Effect.map(
    sql<KeySpend>`WITH facts AS (
        SELECT start AS at, cost, newest_at FROM usage_rollup
          WHERE account_id = ${accountId} AND width = 'day' AND key_id = ${keyId}
        UNION ALL SELECT created_at, cost, created_at FROM (${unrolledCosts(sql, accountId, sql`ARRAY[${keyId}]`)}) AS live
      )
      SELECT COALESCE(total(cost) FILTER (WHERE at >= ${days.today}::date), 0) AS today,
        COALESCE(total(cost) FILTER (WHERE at >= ${days.week}::date), 0) AS week,
        COALESCE(total(cost) FILTER (WHERE at >= ${days.month}::date), 0) AS month,
        COALESCE(total(cost), 0) AS ever, max(newest_at) AS used_at FROM facts`,
    ([row = { today: 0n, week: 0n, month: 0n, ever: 0n, used_at: null }]) => row
  )

/** A key's total usage and the time of its newest paid request. Amounts are in nano-USD. */
export interface KeyTotal {
  readonly key_id: string
  readonly cost: bigint
  readonly used_at: Date
}

const totalsOf = (
  sql: SqlClient.SqlClient,
  accountId: string,
  keyIds: Statement.Fragment
): Effect.Effect<ReadonlyArray<KeyTotal>, SqlError.SqlError> =>
  sql<KeyTotal>`WITH wanted AS MATERIALIZED (SELECT ${keyIds} AS ids), facts AS (
      SELECT key_id, cost, newest_at FROM key_usage WHERE key_id = ANY ((SELECT ids FROM wanted)::text[])
      UNION ALL SELECT key_id, cost, created_at
        FROM (${unrolledCosts(sql, accountId, sql.literal("(SELECT ids FROM wanted)::text[]"))}) AS live
    )
    SELECT key_id, sum(cost)::bigint AS cost, max(newest_at) AS used_at FROM facts GROUP BY key_id`

/** Returns totals for those of the account's keys that were used, complete up to this moment. */
export const keyTotals = (sql: SqlClient.SqlClient, accountId: string, keyIds: ReadonlyArray<string>) =>
  totalsOf(sql, accountId, sql`${[...keyIds]}::text[]`)

/** Returns totals for those keys of a page of the account's keys that were used. */
export const keyTotalsOfPage = (sql: SqlClient.SqlClient, of: KeysOf, page: KeysPage) =>
  totalsOf(sql, of.accountId, sql`ARRAY(${idsOfPage(sql, of, page)})`)
