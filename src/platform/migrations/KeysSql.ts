import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * What keys were used for follows from what is written of days, whoever writes it: a program of before knows nothing of it. Once for
 * a statement, for a row each would take several times as long.
 */
const keysUsed = (name: string, written: string) => `
CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO key_usage AS known (key_id, cost, newest_at)
    SELECT key_id, sum(cost), max(newest_at) FROM (${written}) AS written WHERE width = 'day' GROUP BY key_id
    ON CONFLICT (key_id) DO UPDATE
      SET cost = known.cost + EXCLUDED.cost, newest_at = GREATEST(known.newest_at, EXCLUDED.newest_at);
  RETURN NULL;
END $$`

/** What keys are rotated and listed by, and what each of them was used for in all. */
export const keys = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE api_key ADD COLUMN routing json`
  // A key that was rotated; it may work for a while beside the one in its place.
  yield* sql`ALTER TABLE api_key ADD COLUMN replaced_by text REFERENCES api_key`
  // The collation is none that another index has: no plan can walk through all keys in the order of that one instead.
  yield* sql`CREATE INDEX api_key_of_kind ON api_key (account_id, kind, id COLLATE "C" DESC)`
  yield* sql`DROP INDEX api_key_account`
  // Those that were revoked, or have expired, may be any number: those that work are found without reading any of them.
  yield* sql`CREATE INDEX api_key_working ON api_key (account_id, COALESCE(expires_at, 'infinity'::timestamptz))
    WHERE kind = 'inference' AND revoked_at IS NULL`
  // Of all that is rolled up; what is not yet is looked up beside it.
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
  // Behind the triggers, which let nobody write meanwhile.
  yield* sql`INSERT INTO key_usage (key_id, cost, newest_at)
    SELECT key_id, sum(cost), max(newest_at) FROM usage_rollup WHERE width = 'day' GROUP BY key_id`
})
