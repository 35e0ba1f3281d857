-- PostgreSQL's own sum of bigints goes through numeric, which takes most of the time of summing thousands of groups.
CREATE AGGREGATE total(bigint) (SFUNC = int8pl, STYPE = bigint, COMBINEFUNC = int8pl, PARALLEL = SAFE);

-- `oldest_id` and `newest_id` are the range of request ids behind the row, through which a list of receipts finds the hours that have
-- any that match.
CREATE TABLE usage_rollup (
  account_id text NOT NULL,
  width text NOT NULL CHECK (width IN ('hour', 'day')),
  start timestamptz NOT NULL,
  key_id text NOT NULL,
  project_id text,
  model text NOT NULL,
  provider text,
  operation text NOT NULL,
  requests bigint NOT NULL,
  prompt bigint NOT NULL,
  cached bigint NOT NULL,
  cache_write bigint NOT NULL,
  completion bigint NOT NULL,
  reasoning bigint NOT NULL,
  cost bigint NOT NULL,
  newest_at timestamptz NOT NULL,
  status text NOT NULL,
  latency_us bigint NOT NULL,
  timed bigint NOT NULL,
  oldest_id text NOT NULL,
  newest_id text NOT NULL,
  most_cost bigint NOT NULL,
  most_latency_us bigint NOT NULL,
  aliases text[]
) WITH (fillfactor = 70);
COMMENT ON TABLE usage_rollup IS 'Sums of ended requests by hour and by day, for each key, model, provider, operation and outcome';
CREATE UNIQUE INDEX usage_rollup_row ON usage_rollup
  (account_id, width, start, key_id, project_id, model, provider, operation, status) NULLS NOT DISTINCT;

CREATE TABLE key_usage (
  key_id text PRIMARY KEY,
  cost bigint NOT NULL,
  newest_at timestamptz NOT NULL
) WITH (fillfactor = 70);
COMMENT ON TABLE key_usage IS 'Totals of each key, of what is rolled up';

-- What clients ask for most. It would otherwise be summed from one row per key at every query.
CREATE TABLE model_usage (
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
  cost bigint NOT NULL,
  operation text NOT NULL,
  status text NOT NULL,
  latency_us bigint NOT NULL,
  timed bigint NOT NULL
) WITH (fillfactor = 70);
COMMENT ON TABLE model_usage IS 'Sums of ended requests by hour and by day, across all keys and projects of an account';
CREATE UNIQUE INDEX model_usage_row ON model_usage
  (account_id, width, start, model, provider, operation, status) NULLS NOT DISTINCT;

-- Triggers derive both from the rows of `usage_rollup`, whichever program writes them. They fire once per statement, because once per
-- row would take several times as long.
CREATE FUNCTION usage_rollup_is_new() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO key_usage AS known (key_id, cost, newest_at)
    WITH written AS (SELECT * FROM after)
    -- include: usage/key_sums.sql
  INSERT INTO model_usage AS known (
      -- include: usage/model_columns.sql
    )
    WITH written AS (SELECT * FROM after)
    -- include: usage/model_sums.sql
  RETURN NULL;
END $$;
CREATE FUNCTION usage_rollup_is_more() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO key_usage AS known (key_id, cost, newest_at)
    WITH written AS (
      SELECT width, key_id, cost, newest_at FROM after UNION ALL SELECT width, key_id, -cost, newest_at FROM before
    )
    -- include: usage/key_sums.sql
  INSERT INTO model_usage AS known (
      -- include: usage/model_columns.sql
    )
    WITH written AS (
      SELECT
        -- include: usage/model_columns.sql
      FROM after UNION ALL SELECT
        -- include: usage/negative_sums.sql
      FROM before
    )
    -- include: usage/model_sums.sql
  RETURN NULL;
END $$;
CREATE TRIGGER usage_rollup_new AFTER INSERT ON usage_rollup REFERENCING NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION usage_rollup_is_new();
CREATE TRIGGER usage_rollup_more AFTER UPDATE ON usage_rollup REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION usage_rollup_is_more();

-- A report over a year reads days, not requests.
CREATE TABLE margin_day (
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
) WITH (fillfactor = 70);
COMMENT ON TABLE margin_day IS 'What requests earned and cost the operator, by day, account, model and provider';
CREATE UNIQUE INDEX margin_day_row ON margin_day (day, account_id, model, provider, play) NULLS NOT DISTINCT;

-- They were still open when the requests around them were rolled up, or they were written late.
CREATE TABLE usage_pending (
  account_id text NOT NULL,
  request_id text NOT NULL,
  PRIMARY KEY (account_id, request_id)
);
COMMENT ON TABLE usage_pending IS 'Requests that are in no rollup, whatever their id says';
CREATE INDEX usage_pending_request ON usage_pending (request_id);

CREATE TABLE usage_refund (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account_id text NOT NULL,
  request_id text NOT NULL,
  amount bigint NOT NULL,
  absorbed bigint NOT NULL DEFAULT 0
);
COMMENT ON TABLE usage_refund IS 'Refunds and absorbed amounts that came after their request may have been rolled up';
CREATE INDEX usage_refund_account ON usage_refund (account_id);
CREATE INDEX usage_refund_request ON usage_refund (request_id);

CREATE FUNCTION request_is_refunded() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO usage_refund (account_id, request_id, amount) VALUES (NEW.account_id, NEW.id, NEW.refunded - OLD.refunded);
  RETURN NULL;
END $$;
-- Fires when a statement names the column, as a refund does and a close does not.
CREATE TRIGGER request_refunded AFTER UPDATE OF refunded ON request FOR EACH ROW
  WHEN (NEW.refunded <> OLD.refunded) EXECUTE FUNCTION request_is_refunded();

-- Usage beyond a hold may become known after the request has been rolled up: when its end comes later than its expiry.
CREATE FUNCTION request_is_absorbed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO usage_refund (account_id, request_id, amount, absorbed)
    VALUES (NEW.account_id, NEW.id, 0, NEW.absorbed - OLD.absorbed);
  RETURN NULL;
END $$;
CREATE TRIGGER request_absorbed AFTER UPDATE OF absorbed ON request FOR EACH ROW
  WHEN (NEW.absorbed <> OLD.absorbed AND OLD.closed IS NOT NULL) EXECUTE FUNCTION request_is_absorbed();

-- Every request with an id less than `through` is in the rollups or pending.
CREATE TABLE usage_rollup_state (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  through text NOT NULL DEFAULT '',
  safe_at timestamptz NOT NULL DEFAULT '-infinity',
  seen_at timestamptz NOT NULL DEFAULT '-infinity',
  seen_xid xid8 NOT NULL DEFAULT '0'
);
COMMENT ON TABLE usage_rollup_state IS 'How far requests are rolled up; one row';
INSERT INTO usage_rollup_state DEFAULT VALUES;

-- Requests are rolled up in order of their ids, which is the order in which they arrived. A request that is written later than the
-- grace period after its arrival is recorded as late. All others are written by then. So everything older than the grace period, once
-- its writers have ended, can be rolled up for good. The grace period covers the work before a hold. If a node's clock is behind by
-- more than that, each of its requests counts as late, which costs a row each but stays correct.
CREATE FUNCTION usage_grace_ms() RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 30000::bigint';
