import { Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"

/** How many rows a step processed, and whether it reached its limit. */
export interface RollupStep {
  readonly rows: number
  readonly full: boolean
}

/** An arbitrary number that no other advisory lock of this program uses. */
const lockKey = 6_801_143_211n

/** Takes the lock of the rollup worker until the transaction ends. Returns false when another process has it. */
export const tryLockRollups = (sql: SqlClient.SqlClient): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql<{ locked: boolean }>`SELECT pg_try_advisory_xact_lock(${lockKey}) AS locked`,
    (rows) => rows[0]?.locked === true
  )

/**
 * Returns the moment before which all requests are visible in the tables (late ones as pending); undefined while it is unknown.
 * Each call checks whether every transaction that was writing at the last known moment has ended, and if so advances the moment. It
 * compares with the transaction that looked, because every earlier writer has a lower ID; a snapshot's upper bound may be lower
 * than a writer's ID. It subtracts twice the grace period, because the database's clock may be set back.
 */
export const safeMoment = (sql: SqlClient.SqlClient): Effect.Effect<number | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<{ safe_ms: number | null }>`UPDATE usage_rollup_state SET safe_at = GREATEST(safe_at, seen_at),
        seen_at = statement_timestamp(), seen_xid = pg_current_xact_id()
      WHERE pg_snapshot_xmin(pg_current_snapshot()) >= seen_xid
      RETURNING CASE WHEN isfinite(safe_at)
        THEN floor(date_part('epoch', safe_at) * 1000 - 2 * usage_grace_ms())::float8 END AS safe_ms`,
    (rows) => rows[0]?.safe_ms ?? undefined
  )

/** The usage of a request row `r`, parsed once; nulls without usage or with other units. */
const usageJoin = (sql: SqlClient.SqlClient) =>
  sql.literal(`
  CROSS JOIN LATERAL jsonb_to_record(r.closed -> 'usage') AS u
    (input bigint, cached bigint, "cacheWrite" bigint, output bigint, reasoning bigint)`)

/** The token counts of the usage; zeros for other units. */
const tokens = (sql: SqlClient.SqlClient) =>
  sql.literal(`
  COALESCE(u.input, 0) + COALESCE(u.cached, 0) + COALESCE(u."cacheWrite", 0) AS prompt, COALESCE(u.cached, 0) AS cached,
  COALESCE(u."cacheWrite", 0) AS cache_write, COALESCE(u.output, 0) AS completion, COALESCE(u.reasoning, 0) AS reasoning`)

/** The grouping columns of a request row `r`. */
const group = (sql: SqlClient.SqlClient) =>
  sql.literal(`
  r.account_id, r.key_id, r.project_id, COALESCE(r.resolved_model, r.model) AS model, r.provider, r.operation, r.status, r.created_at`)

/** The counted figures of a request row `r` with usage `u`; zero while it is open, or charged up front and not concluded. */
const figures = (sql: SqlClient.SqlClient) =>
  sql`(r.closed IS NOT NULL)::int AS requests, ${tokens(sql)}, ${cost(sql)}, ${latency(sql)}`

/** The time from the arrival to the end, in microseconds, and whether it is known. */
const latency = (sql: SqlClient.SqlClient) =>
  sql.literal(`
  COALESCE(round((r.closed ->> 'totalMs')::float8 * 1000)::bigint, 0) AS latency_us, COALESCE(r.closed ? 'totalMs', false)::int AS timed`)

/** The facts by which a list of receipts skips what cannot match: the id, the highest figures, and the requested model if another served. */
const bounds = (sql: SqlClient.SqlClient) =>
  sql.literal(`
  r.id, r.settled AS most_cost, CASE WHEN r.model <> r.resolved_model THEN r.model END AS alias`)

const cost = (sql: SqlClient.SqlClient) =>
  sql.literal("CASE WHEN r.closed IS NULL THEN 0 ELSE r.settled - r.refunded END AS cost")

/**
 * What an ended request row `r` cost the operator: whether simulated money paid for it, the provider's cost, whether that is unknown of a
 * charged request, and what was used beyond the hold.
 */
const margin = (sql: SqlClient.SqlClient) =>
  sql.literal(`
  COALESCE(r.play, false) AS play, COALESCE((r.closed ->> 'providerCost')::bigint, 0) AS provider_cost,
  (r.closed IS NOT NULL AND r.settled > 0 AND r.closed -> 'providerCost' IS NULL)::int AS uncosted,
  CASE WHEN r.closed IS NULL THEN 0 ELSE r.absorbed END AS absorbed`)

/** The effect of a refund on that. */
const marginGiven = (sql: SqlClient.SqlClient) =>
  sql.literal("COALESCE(r.play, false) AS play, 0 AS provider_cost, 0 AS uncosted, f.absorbed")

/** The effect of a refund on figures that are already counted. */
const refundFigures = (sql: SqlClient.SqlClient) =>
  sql.literal(`
  0 AS requests, 0 AS prompt, 0 AS cached, 0 AS cache_write, 0 AS completion, 0 AS reasoning, -f.amount AS cost, 0 AS latency_us,
  0 AS timed`)

/** The figures that rollups sum. */
const names = ["requests", "prompt", "cached", "cache_write", "completion", "reasoning", "cost", "latency_us", "timed"]

const columns = (sql: SqlClient.SqlClient) => sql.literal(names.join(", "))
const summed = (sql: SqlClient.SqlClient) => sql.literal(names.map((name) => `sum(${name}) AS ${name}`).join(", "))
const addedFigures = (sql: SqlClient.SqlClient) =>
  sql.literal(names.map((name) => `${name} = known.${name} + EXCLUDED.${name}`).join(", "))

/** Writes the sums of `hours` and `facts`: usage by hour and by day, and margins by day. */
const written = (sql: SqlClient.SqlClient) => sql`), written AS (
    INSERT INTO usage_rollup AS known (account_id, width, start, key_id, project_id, model, provider, operation, status,
        ${columns(sql)}, newest_at, oldest_id, newest_id, most_cost, most_latency_us, aliases)
      SELECT account_id, 'hour', start, key_id, project_id, model, provider, operation, status,
        ${columns(sql)}, newest_at, oldest_id, newest_id, most_cost, most_latency_us, aliases FROM hours
      UNION ALL
      SELECT account_id, 'day', date_trunc('day', start, 'UTC'), key_id, project_id, model, provider, operation, status,
        ${summed(sql)}, max(newest_at), min(oldest_id), max(newest_id), max(most_cost), max(most_latency_us), NULL
        FROM hours GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
      ON CONFLICT (account_id, width, start, key_id, project_id, model, provider, operation, status) DO UPDATE SET
        ${addedFigures(sql)}, newest_at = GREATEST(known.newest_at, EXCLUDED.newest_at),
        oldest_id = LEAST(known.oldest_id, EXCLUDED.oldest_id), newest_id = GREATEST(known.newest_id, EXCLUDED.newest_id),
        most_cost = GREATEST(known.most_cost, EXCLUDED.most_cost),
        most_latency_us = GREATEST(known.most_latency_us, EXCLUDED.most_latency_us),
        aliases = CASE WHEN EXCLUDED.aliases IS NULL OR EXCLUDED.aliases <@ known.aliases THEN known.aliases
          ELSE ARRAY(SELECT DISTINCT unnest(known.aliases || EXCLUDED.aliases)) END
  ), earned AS (
    INSERT INTO margin_day AS known
        (day, account_id, model, provider, play, requests, revenue, provider_cost, uncosted, absorbed, attempt_cost)
      SELECT day, account_id, model, provider, play,
        sum(requests), sum(revenue), sum(provider_cost), sum(uncosted), sum(absorbed), sum(attempt_cost)
      FROM (
        SELECT (created_at AT TIME ZONE 'UTC')::date AS day, account_id, model, provider, play, requests, cost AS revenue,
          provider_cost, uncosted, absorbed, 0 AS attempt_cost FROM facts
        UNION ALL SELECT day, account_id, model, provider, play, 0, 0, 0, 0, 0, cost FROM attempts
      ) AS both_kinds GROUP BY 1, 2, 3, 4, 5
      ON CONFLICT (day, account_id, model, provider, play) DO UPDATE SET
        requests = known.requests + EXCLUDED.requests, revenue = known.revenue + EXCLUDED.revenue,
        provider_cost = known.provider_cost + EXCLUDED.provider_cost, uncosted = known.uncosted + EXCLUDED.uncosted,
        absorbed = known.absorbed + EXCLUDED.absorbed, attempt_cost = known.attempt_cost + EXCLUDED.attempt_cost`

/**
 * Rolls up requests with IDs before `before`, a bounded number of rows, in one statement. The statement sees one moment and takes
 * effect entirely or not at all. A request is counted once, after it has ended. A request that is still open when its neighbors are
 * counted becomes pending. The row of an uncounted request already includes its refunds.
 */
export const rollUp = (
  sql: SqlClient.SqlClient,
  { before, limit }: { readonly before: string; readonly limit: number }
): Effect.Effect<RollupStep, SqlError.SqlError> =>
  Effect.map(
    sql<{ fresh: number; late: number; back: number; attempts: number }>`WITH state AS MATERIALIZED (
      SELECT through FROM usage_rollup_state
    ), bound AS MATERIALIZED (
      SELECT through, COALESCE((SELECT id FROM request WHERE id >= through AND id < ${before} ORDER BY id OFFSET ${limit} LIMIT 1),
        GREATEST(through, ${before})) AS upto FROM state
    ), fresh AS MATERIALIZED (
      SELECT r.* FROM bound b JOIN request r ON r.id >= b.through AND r.id < b.upto
      WHERE NOT EXISTS (SELECT FROM usage_pending p WHERE p.request_id = r.id)
    ), ended AS MATERIALIZED (
      -- A late request may still lie ahead of the counted range; counted here, it would be counted there again.
      SELECT r.* FROM usage_pending p JOIN request r ON r.id = p.request_id CROSS JOIN state s
      WHERE r.closed IS NOT NULL AND r.id < s.through LIMIT ${limit}
    ), back AS MATERIALIZED (
      (SELECT id, request_id, amount, absorbed FROM usage_refund ORDER BY id LIMIT ${limit})
      -- Refunds of requests counted now are already in their rows; left here, they would be subtracted again later.
      UNION SELECT id, request_id, amount, absorbed FROM usage_refund
        WHERE request_id IN (SELECT id FROM fresh UNION ALL SELECT id FROM ended)
    ), attempts AS MATERIALIZED (
      -- A trigger writes these rows, whichever version of the program closes the request or rolls it up.
      SELECT * FROM attempt_cost ORDER BY account_id, request_id, attempt LIMIT ${limit}
    ), facts AS (
      SELECT ${group(sql)}, ${figures(sql)}, ${bounds(sql)}, ${margin(sql)} FROM fresh r ${usageJoin(sql)} WHERE r.closed IS NOT NULL
      UNION ALL SELECT ${group(sql)}, ${figures(sql)}, ${bounds(sql)}, ${margin(sql)} FROM ended r ${usageJoin(sql)}
      UNION ALL SELECT ${group(sql)}, ${refundFigures(sql)}, ${bounds(sql)}, ${marginGiven(sql)}
        FROM back f JOIN request r ON r.id = f.request_id CROSS JOIN state s
        WHERE r.id < s.through AND NOT EXISTS (SELECT FROM usage_pending p WHERE p.request_id = r.id)
    ), hours AS MATERIALIZED (
      -- Days are summed from these few rows, so that each request is grouped once.
      SELECT account_id, date_trunc('hour', created_at, 'UTC') AS start, key_id, project_id, model, provider, operation, status,
        ${summed(sql)}, max(created_at) AS newest_at, min(id) AS oldest_id, max(id) AS newest_id, max(most_cost) AS most_cost,
        max(latency_us) AS most_latency_us, array_agg(DISTINCT alias) FILTER (WHERE alias IS NOT NULL) AS aliases
        FROM facts GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
    ${written(sql)}
    ), left_open AS (
      INSERT INTO usage_pending (account_id, request_id) SELECT account_id, id FROM fresh WHERE closed IS NULL
    ), no_longer AS (
      DELETE FROM usage_pending p USING ended e WHERE p.account_id = e.account_id AND p.request_id = e.id
    ), folded AS (
      DELETE FROM usage_refund f USING back b WHERE f.id = b.id
    ), summed AS (
      DELETE FROM attempt_cost c USING attempts a
        WHERE c.account_id = a.account_id AND c.request_id = a.request_id AND c.attempt = a.attempt
    ), moved AS (
      UPDATE usage_rollup_state SET through = upto FROM bound WHERE usage_rollup_state.through < upto
    )
    SELECT (SELECT count(*) FROM fresh)::int AS fresh, (SELECT count(*) FROM ended)::int AS late,
      (SELECT count(*) FROM back)::int AS back, (SELECT count(*) FROM attempts)::int AS attempts`,
    ([row = { fresh: 0, late: 0, back: 0, attempts: 0 }]) => {
      const counts = [row.fresh, row.late, row.back, row.attempts]
      return { rows: counts.reduce((sum, count) => sum + count, 0), full: counts.some((count) => count >= limit) }
    }
  )

/**
 * The account's usage outside the rollups, up to this moment: recent requests, pending ones, and refunds of counted ones. It has
 * one row per request; requests that have not ended count as zero.
 */
export const usageOutsideRollups = (sql: SqlClient.SqlClient, accountId: string) =>
  inNone(sql, accountId, {
    request: sql`${group(sql)}, ${figures(sql)}`,
    refund: sql`${group(sql)}, ${refundFigures(sql)}`,
    used: usageJoin(sql),
    which: sql.literal("true")
  })

/** The account's usage in a range of request ids, whether it is rolled up or not, with one row per request. */
export const ofRequests = (
  sql: SqlClient.SqlClient,
  accountId: string,
  { from, until }: { readonly from: string; readonly until: string }
) => sql`SELECT ${group(sql)}, ${figures(sql)} FROM request r ${usageJoin(sql)}
  WHERE (r.account_id, r.id) >= (${accountId}, ${from}) AND (r.account_id, r.id) < (${accountId}, ${until})`

/** The account's usage outside the rollups for these keys only, reduced to cost and time, so that token usage is not parsed. */
export const unrolledCosts = (sql: SqlClient.SqlClient, accountId: string, keyIds: Statement.Fragment) =>
  inNone(sql, accountId, {
    request: sql`r.key_id, r.created_at, ${cost(sql)}`,
    refund: sql.literal("r.key_id, r.created_at, -f.amount AS cost"),
    used: sql.literal(""),
    which: sql`r.key_id = ANY (${keyIds})`
  })

/** The margins outside the rollups, of all accounts, up to this moment. */
export const unrolledMargins = (sql: SqlClient.SqlClient) =>
  inNone(sql, undefined, {
    request: sql`${group(sql)}, (r.closed IS NOT NULL)::int AS requests, ${cost(sql)}, ${margin(sql)}`,
    refund: sql`${group(sql)}, 0 AS requests, -f.amount AS cost, ${marginGiven(sql)}`,
    used: sql.literal(""),
    which: sql.literal("true")
  })

interface PendingSelection {
  /** The columns of a request row `r`. */
  readonly request: Statement.Fragment
  /** The columns of a refund `f` of a request. */
  readonly refund: Statement.Fragment
  readonly used: Statement.Fragment
  readonly which: Statement.Fragment
}

/** Without an account, of all accounts. */
const inNone = (
  sql: SqlClient.SqlClient,
  accountId: string | undefined,
  { refund, request, used, which: wanted }: PendingSelection
) => {
  const which = (table: "r" | "p" | "f") =>
    accountId === undefined ? wanted : sql`${sql.literal(table)}.account_id = ${accountId} AND ${wanted}`
  return sql`
  SELECT ${request} FROM request r ${used}
    WHERE ${which("r")} AND r.id >= (SELECT through FROM usage_rollup_state)
      AND NOT EXISTS (SELECT FROM usage_pending p WHERE p.account_id = r.account_id AND p.request_id = r.id)
  UNION ALL SELECT ${request} FROM usage_pending p JOIN request r ON r.id = p.request_id ${used}
    WHERE ${which("p")}
  UNION ALL SELECT ${refund} FROM usage_refund f JOIN request r ON r.id = f.request_id
    WHERE ${which("f")} AND r.id < (SELECT through FROM usage_rollup_state)
      AND NOT EXISTS (SELECT FROM usage_pending p WHERE p.account_id = r.account_id AND p.request_id = r.id)`
}
