import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const figures = ["requests", "prompt", "cached", "cache_write", "completion", "reasoning", "cost"]
const ofKey = "width, key_id, cost, newest_at"
const ofModel = `account_id, width, start, model, provider, ${figures.join(", ")}`

/** Sums derived from the rows of `usage_rollup`: totals for keys, and hourly and daily sums for models. */
const written = (name: string, rowsOf: (columns: string, negative: string) => string) => `
CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO key_usage AS known (key_id, cost, newest_at)
    SELECT key_id, sum(cost), max(newest_at)
      FROM (${rowsOf(ofKey, "width, key_id, -cost, newest_at")}) AS written WHERE width = 'day' GROUP BY key_id
    ON CONFLICT (key_id) DO UPDATE
      SET cost = known.cost + EXCLUDED.cost, newest_at = GREATEST(known.newest_at, EXCLUDED.newest_at);
  INSERT INTO model_usage AS known (${ofModel})
    SELECT account_id, width, start, model, provider, ${figures.map((figure) => `sum(${figure})`).join(", ")}
      FROM (${rowsOf(ofModel, `account_id, width, start, model, provider, ${figures.map((figure) => `-${figure}`).join(", ")}`)}) AS written
      GROUP BY account_id, width, start, model, provider
    ON CONFLICT (account_id, width, start, model, provider) DO UPDATE
      SET ${figures.map((figure) => `${figure} = known.${figure} + EXCLUDED.${figure}`).join(", ")};
  RETURN NULL;
END $$`

/**
 * Adds the usage of accounts by model and provider, across all keys and projects. It is what clients ask for most, and would otherwise
 * be summed from one row per key at every query.
 */
export const modelUsage = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE model_usage (
    account_id text NOT NULL,
    width text NOT NULL CHECK (width IN ('hour', 'day')),
    start timestamptz NOT NULL,
    model text NOT NULL,
    provider text,
    requests bigint NOT NULL,
    prompt bigint NOT NULL,
    cached bigint NOT NULL,
    cache_write bigint NOT NULL,
    completion bigint NOT NULL,
    reasoning bigint NOT NULL,
    cost bigint NOT NULL
  ) WITH (fillfactor = 70)`
  yield* sql`CREATE UNIQUE INDEX model_usage_row ON model_usage (account_id, width, start, model, provider) NULLS NOT DISTINCT`
  // No writer runs from here until the commit, whatever replaces the functions.
  yield* sql`LOCK TABLE usage_rollup IN SHARE ROW EXCLUSIVE MODE`
  yield* sql.unsafe(written("usage_rollup_is_new", (columns) => `SELECT ${columns} FROM after`))
  yield* sql.unsafe(
    written(
      "usage_rollup_is_more",
      (columns, negative) => `SELECT ${columns} FROM after UNION ALL SELECT ${negative} FROM before`
    )
  )
  yield* sql.unsafe(`INSERT INTO model_usage (${ofModel})
    SELECT account_id, width, start, model, provider, ${figures.map((figure) => `sum(${figure})`).join(", ")}
      FROM usage_rollup GROUP BY account_id, width, start, model, provider`)
})
