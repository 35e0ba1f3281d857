import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * A trigger derives the usage of keys from the daily rows, whichever program writes them: a program of an earlier version does not know
 * of it. It fires once per statement, because once per row would take several times as long.
 */
const keysUsed = (name: string, written: string) => `
CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO key_usage AS known (key_id, cost, newest_at)
    SELECT key_id, sum(cost), max(newest_at) FROM (${written}) AS written WHERE width = 'day' GROUP BY key_id
    ON CONFLICT (key_id) DO UPDATE
      SET cost = known.cost + EXCLUDED.cost, newest_at = GREATEST(known.newest_at, EXCLUDED.newest_at);
  RETURN NULL;
END $$`

/** Adds the columns and indexes for rotating and listing keys, and the total usage of each key. */
export const keys = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE api_key ADD COLUMN routing json`
  // A rotated key, which may work for a while beside the key that replaces it.
  yield* sql`ALTER TABLE api_key ADD COLUMN replaced_by text REFERENCES api_key`
  // No other index has this collation. So no plan can walk through all keys in the order of another index instead.
  yield* sql`CREATE INDEX api_key_of_kind ON api_key (account_id, kind, id COLLATE "C" DESC)`
  yield* sql`DROP INDEX api_key_account`
  // Any number of keys may be revoked or expired. This index finds the working keys without reading the others.
  yield* sql`CREATE INDEX api_key_working ON api_key (account_id, COALESCE(expires_at, 'infinity'::timestamptz))
    WHERE kind = 'inference' AND revoked_at IS NULL`
  // Totals of everything that is rolled up. The rest is read separately.
  yield* sql`CREATE TABLE key_usage (
    key_id text PRIMARY KEY,
    cost bigint NOT NULL,
    newest_at timestamptz NOT NULL
  ) WITH (fillfactor = 70)`
  const columns = "width, key_id, cost, newest_at"
  yield* sql.unsafe(keysUsed("usage_rollup_is_new", `SELECT ${columns} FROM after`))
  yield* sql.unsafe(
    keysUsed(
      "usage_rollup_is_more",
      `SELECT ${columns} FROM after UNION ALL SELECT width, key_id, -cost, newest_at FROM before`
    )
  )
  yield* sql`CREATE TRIGGER usage_rollup_new AFTER INSERT ON usage_rollup REFERENCING NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION usage_rollup_is_new()`
  yield* sql`CREATE TRIGGER usage_rollup_more AFTER UPDATE ON usage_rollup REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION usage_rollup_is_more()`
  // Runs after the triggers exist. Creating them locks out all writers until the commit.
  yield* sql`INSERT INTO key_usage (key_id, cost, newest_at)
    SELECT key_id, sum(cost), max(newest_at) FROM usage_rollup WHERE width = 'day' GROUP BY key_id`
})
