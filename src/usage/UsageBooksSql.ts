import type { SqlClient } from "effect/sql"
import type { Finding } from "../ledger/VerifySql.ts"

/**
 * Compares the rollups with the rows of all requests that they include: those before the state's `through` that are not pending.
 * Refunds not yet folded in still count as part of them. It recomputes hours from the rows, days from the hours, and the totals of
 * each key and model.
 */
export const rollupsEqualRequests = (sql: SqlClient.SqlClient) => sql<Finding>`
  WITH taken AS (
    SELECT r.account_id, date_trunc('hour', r.created_at, 'UTC') AS start, r.key_id, r.project_id,
      COALESCE(r.resolved_model, r.model) AS model, r.provider, r.operation, r.status, count(*) AS requests, sum(u.input + u.cached + u.write) AS prompt,
      sum(u.cached) AS cached, sum(u.write) AS cache_write, sum(u.output) AS completion, sum(u.reasoning) AS reasoning,
      sum(r.settled - r.refunded + COALESCE(f.amount, 0)) AS cost, sum(u.us) AS latency_us, count(u.ms) AS timed,
      max(r.created_at) AS newest_at
    FROM request r LEFT JOIN usage_pending p ON p.request_id = r.id
    LEFT JOIN (SELECT request_id, sum(amount) AS amount FROM usage_refund GROUP BY request_id) AS f ON f.request_id = r.id
    CROSS JOIN LATERAL (
      SELECT COALESCE((m ->> 'input')::bigint, 0) AS input, COALESCE((m ->> 'cached')::bigint, 0) AS cached,
        COALESCE((m ->> 'cacheWrite')::bigint, 0) AS write, COALESCE((m ->> 'output')::bigint, 0) AS output,
        COALESCE((m ->> 'reasoning')::bigint, 0) AS reasoning, ms, COALESCE(round(ms::float8 * 1000)::bigint, 0) AS us
      FROM (SELECT r.closed -> 'usage' AS m, r.closed ->> 'totalMs' AS ms) AS closed
    ) AS u
    WHERE p.request_id IS NULL AND r.id < (SELECT through FROM usage_rollup_state)
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
  ), side AS (
    SELECT 'hour' AS width, 1 AS sign, taken.* FROM taken
    UNION ALL SELECT 'day', 1, account_id, date_trunc('day', start, 'UTC'), key_id, project_id, model, provider, operation, status,
      requests, prompt, cached, cache_write, completion, reasoning, cost, latency_us, timed, newest_at FROM taken
    UNION ALL SELECT width, -1, account_id, start, key_id, project_id, model, provider, operation, status,
      requests, prompt, cached, cache_write, completion, reasoning, cost, latency_us, timed, newest_at FROM usage_rollup
    UNION ALL SELECT 'ever', 1, account_id, '-infinity', key_id, NULL, '', NULL, '', '', 0, 0, 0, 0, 0, 0, cost, 0, 0, newest_at FROM taken
    UNION ALL SELECT 'ever', -1, k.account_id, '-infinity', k.id, NULL, '', NULL, '', '', 0, 0, 0, 0, 0, 0, u.cost, 0, 0, u.newest_at
      FROM key_usage u JOIN api_key k ON k.id = u.key_id
    UNION ALL SELECT 'model hour', 1, account_id, start, '', NULL, model, provider, operation, status,
      requests, prompt, cached, cache_write, completion, reasoning, cost, latency_us, timed, NULL FROM taken
    UNION ALL SELECT 'model day', 1, account_id, date_trunc('day', start, 'UTC'), '', NULL, model, provider, operation, status,
      requests, prompt, cached, cache_write, completion, reasoning, cost, latency_us, timed, NULL FROM taken
    UNION ALL SELECT 'model ' || width, -1, account_id, start, '', NULL, model, provider, operation, status,
      requests, prompt, cached, cache_write, completion, reasoning, cost, latency_us, timed, NULL FROM model_usage
  ), compared AS (
    SELECT account_id, width, start, sum(sign * requests) AS requests, sum(sign * cost) AS cost,
      sum(sign * requests) <> 0 OR sum(sign * prompt) <> 0 OR sum(sign * cached) <> 0 OR sum(sign * cache_write) <> 0
        OR sum(sign * completion) <> 0 OR sum(sign * reasoning) <> 0 OR sum(sign * cost) <> 0
        OR sum(sign * latency_us) <> 0 OR sum(sign * timed) <> 0
        OR max(newest_at) FILTER (WHERE sign > 0) IS DISTINCT FROM max(newest_at) FILTER (WHERE sign < 0) AS wrong
    FROM side GROUP BY account_id, width, start, key_id, project_id, model, provider, operation, status
  )
  SELECT count(*) AS checked, count(*) FILTER (WHERE wrong) AS failed,
    min(format('one of account %s for the %s from %s lacks %s requests and %s', account_id, width, start, requests, cost))
      FILTER (WHERE wrong) AS example FROM compared`

/**
 * Compares the daily margins with the rows of all requests that the rollups include, as `rollupsEqualRequests` does: what requests
 * earned, what they cost the operator, and what the operator absorbed. The costs of attempts that served no answer reach the sums by a queue
 * of their own, so they are compared with the rows of all requests.
 */
export const marginsEqualRequests = (sql: SqlClient.SqlClient) => sql<Finding>`
  WITH side AS (
    SELECT 1 AS sign, (r.created_at AT TIME ZONE 'UTC')::date AS day, r.account_id,
      COALESCE(r.resolved_model, r.model) AS model, r.provider, COALESCE(r.play, false) AS play, 1 AS requests,
      r.settled - r.refunded + COALESCE(f.amount, 0) AS revenue,
      COALESCE((r.closed ->> 'providerCost')::bigint, 0) AS provider_cost,
      (r.settled > 0 AND r.closed -> 'providerCost' IS NULL)::int AS uncosted,
      r.absorbed - COALESCE(f.absorbed, 0) AS absorbed, 0 AS attempt_cost
    FROM request r LEFT JOIN usage_pending p ON p.request_id = r.id
    LEFT JOIN (SELECT request_id, sum(amount) AS amount, sum(absorbed) AS absorbed FROM usage_refund GROUP BY request_id) AS f ON f.request_id = r.id
    WHERE p.request_id IS NULL AND r.id < (SELECT through FROM usage_rollup_state)
    UNION ALL SELECT 1, (r.created_at AT TIME ZONE 'UTC')::date, r.account_id, a.model, a.provider, COALESCE(r.play, false),
        0, 0, 0, 0, 0, a.nano
      FROM request r CROSS JOIN LATERAL jsonb_to_recordset(r.closed -> 'attemptCosts') AS a(model text, provider text, nano bigint)
      WHERE r.closed ? 'attemptCosts'
    UNION ALL SELECT -1, day, account_id, model, provider, play, 0, 0, 0, 0, 0, cost FROM attempt_cost
    UNION ALL SELECT -1, day, account_id, model, provider, play, requests, revenue, provider_cost, uncosted, absorbed, attempt_cost
      FROM margin_day
  ), compared AS (
    SELECT account_id, day, model, sum(sign * revenue) AS revenue,
      sum(sign * (provider_cost + attempt_cost)) AS provider_cost,
      sum(sign * requests) <> 0 OR sum(sign * revenue) <> 0 OR sum(sign * provider_cost) <> 0 OR sum(sign * uncosted) <> 0
        OR sum(sign * absorbed) <> 0 OR sum(sign * attempt_cost) <> 0 AS wrong
    FROM side GROUP BY account_id, day, model, provider, play
  )
  SELECT count(*) AS checked, count(*) FILTER (WHERE wrong) AS failed,
    min(format('one of account %s on %s for %s lacks %s of revenue and %s of provider cost', account_id, day, model, revenue,
      provider_cost)) FILTER (WHERE wrong) AS example FROM compared`
