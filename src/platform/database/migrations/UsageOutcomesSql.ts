import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const sums = [
  ...["requests", "prompt", "cached", "cache_write", "completion", "reasoning", "cost"],
  ...["latency_us", "timed"]
]
const dimensions = "account_id, width, start, model, provider, operation, status"
const ofKey = "width, key_id, cost, newest_at"
const ofModel = `${dimensions}, ${sums.join(", ")}`
const summed = sums.map((name) => `sum(${name})`).join(", ")
const negated = sums.map((name) => `-${name}`).join(", ")

/** Sums derived from the rows of `usage_rollup`: totals for keys, and hourly and daily sums for models. */
const written = (name: string, rowsOf: (columns: string, negative: string) => string) => `
CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO key_usage AS known (key_id, cost, newest_at)
    SELECT key_id, sum(cost), max(newest_at)
      FROM (${rowsOf(ofKey, "width, key_id, -cost, newest_at")}) AS written WHERE width = 'day' GROUP BY key_id
    ON CONFLICT (key_id) DO UPDATE
      SET cost = known.cost + EXCLUDED.cost, newest_at = GREATEST(known.newest_at, EXCLUDED.newest_at);
  INSERT INTO model_usage AS known (${ofModel})
    SELECT ${dimensions}, ${summed} FROM (${rowsOf(ofModel, `${dimensions}, ${negated}`)}) AS written GROUP BY ${dimensions}
    ON CONFLICT (${dimensions}) DO UPDATE
      SET ${sums.map((name) => `${name} = known.${name} + EXCLUDED.${name}`).join(", ")};
  RETURN NULL;
END $$`

/** The rows that the rollups already include, by hour. Refunds that are not folded in yet still count as part of them. */
const counted = `
  SELECT r.account_id, date_trunc('hour', r.created_at, 'UTC') AS start, r.key_id, r.project_id,
    COALESCE(r.resolved_model, r.model) AS model, r.provider, r.operation, r.status, count(*) AS requests,
    sum(u.input + u.cached + u.write) AS prompt, sum(u.cached) AS cached, sum(u.write) AS cache_write,
    sum(u.output) AS completion, sum(u.reasoning) AS reasoning, sum(r.settled - r.refunded + COALESCE(f.amount, 0)) AS cost,
    sum(u.us) AS latency_us, count(u.timed) AS timed, max(r.created_at) AS newest_at, min(r.id) AS oldest_id,
    max(r.id) AS newest_id, max(r.settled) AS most_cost, max(u.us) AS most_latency_us,
    array_agg(DISTINCT r.model) FILTER (WHERE r.model <> r.resolved_model) AS aliases
  FROM request r LEFT JOIN usage_pending p ON p.request_id = r.id
  LEFT JOIN (SELECT request_id, sum(amount) AS amount FROM usage_refund GROUP BY request_id) AS f ON f.request_id = r.id
  CROSS JOIN LATERAL (
    SELECT COALESCE((m ->> 'input')::bigint, 0) AS input, COALESCE((m ->> 'cached')::bigint, 0) AS cached,
      COALESCE((m ->> 'cacheWrite')::bigint, 0) AS write, COALESCE((m ->> 'output')::bigint, 0) AS output,
      COALESCE((m ->> 'reasoning')::bigint, 0) AS reasoning, r.closed ->> 'totalMs' AS timed,
      COALESCE(round((r.closed ->> 'totalMs')::float8 * 1000)::bigint, 0) AS us
    FROM (SELECT r.closed -> 'usage' AS m) AS closed
  ) AS u
  WHERE p.request_id IS NULL AND r.id < (SELECT through FROM usage_rollup_state)
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8`

/**
 * Adds the outcome and the latency of requests to the rollups, and the range of request ids behind each row, through which a list of
 * receipts finds the hours that have any that match. It counts everything anew, because sums cannot be divided by outcome afterwards.
 * A program of an earlier version cannot write these rollups; its steps fail, and a program of this version counts instead.
 */
export const usageOutcomes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`LOCK TABLE usage_rollup IN ACCESS EXCLUSIVE MODE`
  // The totals of keys stay as they are.
  yield* sql`DROP TRIGGER usage_rollup_new ON usage_rollup`
  yield* sql`DROP TRIGGER usage_rollup_more ON usage_rollup`
  yield* sql`DROP INDEX usage_rollup_row, model_usage_row`
  yield* sql`TRUNCATE usage_rollup, model_usage`
  yield* sql`ALTER TABLE usage_rollup
    ADD COLUMN status text NOT NULL,
    ADD COLUMN latency_us bigint NOT NULL,
    ADD COLUMN timed bigint NOT NULL,
    ADD COLUMN oldest_id text NOT NULL,
    ADD COLUMN newest_id text NOT NULL,
    ADD COLUMN most_cost bigint NOT NULL,
    ADD COLUMN most_latency_us bigint NOT NULL,
    ADD COLUMN aliases text[]`
  yield* sql`ALTER TABLE model_usage
    ADD COLUMN operation text NOT NULL,
    ADD COLUMN status text NOT NULL,
    ADD COLUMN latency_us bigint NOT NULL,
    ADD COLUMN timed bigint NOT NULL`
  yield* sql.unsafe(`INSERT INTO usage_rollup (account_id, width, start, key_id, project_id, model, provider, operation, status,
      ${sums.join(", ")}, newest_at, oldest_id, newest_id, most_cost, most_latency_us, aliases)
    WITH hours AS MATERIALIZED (${counted})
    SELECT account_id, 'hour', start, key_id, project_id, model, provider, operation, status,
      ${sums.join(", ")}, newest_at, oldest_id, newest_id, most_cost, most_latency_us, aliases FROM hours
    UNION ALL
    SELECT account_id, 'day', date_trunc('day', start, 'UTC'), key_id, project_id, model, provider, operation, status,
      ${summed}, max(newest_at), min(oldest_id), max(newest_id), max(most_cost), max(most_latency_us), NULL
      FROM hours GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9`)
  yield* sql.unsafe(
    `INSERT INTO model_usage (${ofModel}) SELECT ${dimensions}, ${summed} FROM usage_rollup GROUP BY ${dimensions}`
  )
  yield* sql`CREATE UNIQUE INDEX usage_rollup_row ON usage_rollup
    (account_id, width, start, key_id, project_id, model, provider, operation, status) NULLS NOT DISTINCT`
  yield* sql.unsafe(`CREATE UNIQUE INDEX model_usage_row ON model_usage (${dimensions}) NULLS NOT DISTINCT`)
  yield* sql.unsafe(written("usage_rollup_is_new", (columns) => `SELECT ${columns} FROM after`))
  yield* sql.unsafe(
    written(
      "usage_rollup_is_more",
      (columns, negative) => `SELECT ${columns} FROM after UNION ALL SELECT ${negative} FROM before`
    )
  )
  yield* sql`CREATE TRIGGER usage_rollup_new AFTER INSERT ON usage_rollup REFERENCING NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION usage_rollup_is_new()`
  yield* sql`CREATE TRIGGER usage_rollup_more AFTER UPDATE ON usage_rollup REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION usage_rollup_is_more()`
})
