import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const figures = ["requests", "prompt", "cached", "cache_write", "completion", "reasoning", "cost"]
const ofKey = "width, key_id, cost, newest_at"
const ofModel = `account_id, width, start, model, provider, ${figures.join(", ")}`

/** What is summed up besides of what is written in `usage_rollup`: for keys in all, and for models in each hour and day. */
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
 * What accounts used of each model at each provider, in all their keys and projects: what is asked for most, and would else be summed
 * up from a row for every key at every question.
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
  // Nobody writes from here on until this is committed, whatever takes the place of the functions.
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
