/** Millions of receipts of one account, over thirty days. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** The expected totals of `GET /usage`. */
export interface ExpectedUsage {
  readonly requests: bigint
  readonly prompt: bigint
  readonly cost: bigint
}

/** An SQL expression for the first ten characters of a request id, from its time in milliseconds. */
export const idTime = (ms: string): string =>
  Array.from(
    { length: 10 },
    (_, index) => `substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((${ms} >> ${45 - 5 * index}) & 31)::int + 1, 1)`
  ).join(" || ")

/** An SQL expression for the closed facts of a successful request, from its number `n` and its time `ms`. */
export const closedFacts = `jsonb_build_object('usage', jsonb_build_object('input', 40 + n % 900, 'cached', n % 64, 'cacheWrite', 0,
    'output', 20 + n % 500, 'reasoning', n % 20), 'basis', 'reported', 'routing', jsonb_build_object('strategy', 'balanced',
    'attempts', jsonb_build_array(jsonb_build_object('model', 'gpt-4o-mini', 'provider', 'openai', 'status', 'served', 'ms', 812))),
    'finishReason', 'stop', 'error', null, 'holdMs', 2, 'firstTokenMs', 310, 'totalMs', 816, 'overheadMs', 4, 'endedAtMs', ms)`

/** Runs `body` without a flush for each commit. After a crash the bench starts over anyway. */
export const withBulkSettings = <A, E, R>(sql: SqlClient.SqlClient, body: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    yield* sql`SET statement_timeout = 0`
    yield* sql`SET synchronous_commit = off`
    return yield* body
  })

/** Writes a range of receipts, evenly spaced in time, over all keys of the account, 20 models and 3 providers. */
export const writeReceipts = (
  sql: SqlClient.SqlClient,
  accountId: string,
  receipts: { readonly from: number; readonly to: number; readonly startMs: number; readonly everyMs: number }
) => sql`WITH keys AS MATERIALIZED (SELECT array_agg(id) AS ids FROM api_key WHERE account_id = ${accountId})
  INSERT INTO request (id, account_id, key_id, operation, model, state, status, created_at, expires_at, closed_at, held, settled,
    resolved_model, provider, opened, closed)
  SELECT 'req_' || ${sql.literal(idTime("ms"))} || upper(lpad(to_hex(n), 16, '0')), ${accountId}, ids[1 + n % cardinality(ids)],
    'chat.completions', 'vendor/model-' || n * 7 % 20, 'settled', 'succeeded', at, at + interval '15 minutes',
    at + interval '1 second', 90000, 1000 + n % 5000, 'vendor/model-' || n * 7 % 20, 'provider-' || n % 3,
    '{"streamed": false, "queueMs": 0, "traceId": null, "prices": []}', ${sql.literal(closedFacts)}
  FROM keys, generate_series(${receipts.from}::int, ${receipts.to - 1}::int) AS n
  CROSS JOIN LATERAL (SELECT (${receipts.startMs}::float8 + n * ${receipts.everyMs}::float8)::bigint AS ms) AS m
  CROSS JOIN LATERAL (SELECT to_timestamp(ms / 1000.0) AS at) AS t`

/** The model of the few receipts that failed. */
export const RARE_MODEL = "vendor/rare"

/** Makes every 200,003rd receipt a failure with its own model. The last eight digits of the id are the receipt's number. */
export const makeSomeRare = (sql: SqlClient.SqlClient, accountId: string) =>
  sql`UPDATE request SET model = ${RARE_MODEL}, resolved_model = ${RARE_MODEL}, status = 'failed'
    WHERE account_id = ${accountId} AND ('x' || right(id, 8))::bit(32)::int % 200003 = 7`

/** Updates statistics now, because autovacuum could start during a measurement. */
export const analyze = (sql: SqlClient.SqlClient) => sql`ANALYZE request`

/** The totals of the last 30 days, with today. */
export const expectedUsage = (sql: SqlClient.SqlClient, accountId: string) =>
  Effect.map(
    sql<ExpectedUsage>`SELECT count(*) AS requests, sum(settled)::bigint AS cost,
      sum((closed #>> '{usage,input}')::bigint + COALESCE((closed #>> '{usage,cached}')::bigint, 0))::bigint AS prompt
      FROM request WHERE account_id = ${accountId} AND created_at >= date_trunc('day', now(), 'UTC') - interval '29 days'`,
    ([row = { requests: 0n, prompt: 0n, cost: 0n }]) => row
  )

/** The number of requests that are not in the rollups. */
export const unrolledCount = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ left: bigint }>`SELECT count(*) AS left FROM request WHERE id >= (SELECT through FROM usage_rollup_state)`,
    ([row]) => Number(row?.left ?? 0n)
  )

export const createDatabase = (sql: SqlClient.SqlClient, name: string) => sql`CREATE DATABASE ${sql(name)}`

export const dropDatabase = (sql: SqlClient.SqlClient, name: string) => sql`DROP DATABASE IF EXISTS ${sql(name)}`
