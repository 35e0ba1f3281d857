import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Adds what requests earned and cost the operator: one row for each day, account, model and provider. A report over a year then reads
 * days, not requests.
 */
export const margins = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE margin_day (
    day date NOT NULL,
    account_id text NOT NULL,
    model text NOT NULL,
    provider text,
    play boolean NOT NULL,
    requests bigint NOT NULL,
    revenue bigint NOT NULL,
    provider_cost bigint NOT NULL,
    uncosted bigint NOT NULL,
    absorbed bigint NOT NULL
  ) WITH (fillfactor = 70)`
  yield* sql`CREATE UNIQUE INDEX margin_day_row ON margin_day (day, account_id, model, provider, play) NULLS NOT DISTINCT`
  // Usage beyond a hold may become known after the request has been rolled up: when its end comes later than its expiry.
  yield* sql`ALTER TABLE usage_refund ADD COLUMN absorbed bigint NOT NULL DEFAULT 0`
  yield* sql`CREATE FUNCTION request_is_absorbed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO usage_refund (account_id, request_id, amount, absorbed)
        VALUES (NEW.account_id, NEW.id, 0, NEW.absorbed - OLD.absorbed);
      RETURN NULL;
    END $$`
  yield* sql`CREATE TRIGGER request_absorbed AFTER UPDATE OF absorbed ON request FOR EACH ROW
    WHEN (NEW.absorbed <> OLD.absorbed AND OLD.closed IS NOT NULL) EXECUTE FUNCTION request_is_absorbed()`
  // No rollup runs from here until the commit, so that none is counted twice or never.
  yield* sql`LOCK TABLE usage_rollup_state IN ACCESS EXCLUSIVE MODE`
  yield* sql`INSERT INTO margin_day
    SELECT (r.created_at AT TIME ZONE 'UTC')::date, r.account_id, COALESCE(r.resolved_model, r.model), r.provider,
      COALESCE(r.play, false), count(*), sum(r.settled - r.refunded + COALESCE(f.amount, 0)), 0,
      count(*) FILTER (WHERE r.settled > 0), sum(r.absorbed)
    FROM request r LEFT JOIN usage_pending p ON p.request_id = r.id
      LEFT JOIN (SELECT request_id, sum(amount) AS amount FROM usage_refund GROUP BY request_id) AS f ON f.request_id = r.id
    WHERE p.request_id IS NULL AND r.id < (SELECT through FROM usage_rollup_state)
    GROUP BY 1, 2, 3, 4, 5`
})
