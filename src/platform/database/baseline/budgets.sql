-- `owner_id` names the key or project even after it is gone, because spending may still be reported.
CREATE TABLE budget (
  id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
  account_id text NOT NULL REFERENCES account,
  scope text NOT NULL CHECK (scope IN ('key', 'project')),
  limit_nano bigint NOT NULL CHECK (limit_nano >= 0),
  period text NOT NULL CHECK (period IN ('daily', 'weekly', 'monthly', 'lifetime')),
  owner_id text
);
COMMENT ON TABLE budget IS 'Spending limits of keys and projects';

CREATE TABLE budget_period (
  budget_id text NOT NULL REFERENCES budget,
  period_start date NOT NULL,
  spent bigint NOT NULL DEFAULT 0 CHECK (spent >= 0),
  held bigint NOT NULL DEFAULT 0 CHECK (held >= 0),
  PRIMARY KEY (budget_id, period_start)
) WITH (fillfactor = 50);
COMMENT ON TABLE budget_period IS 'What each budget spent and holds, for each of its periods';

CREATE TABLE budget_crossing (
  budget_id text NOT NULL,
  period_start date NOT NULL,
  threshold_percent integer NOT NULL CHECK (threshold_percent IN (80, 100)),
  limit_nano bigint NOT NULL,
  spent bigint NOT NULL,
  crossed_at timestamptz NOT NULL DEFAULT now(),
  told_at timestamptz,
  PRIMARY KEY (budget_id, period_start, threshold_percent)
);
COMMENT ON TABLE budget_crossing IS 'Thresholds that a budget crossed in a period, and when its owner was notified';
CREATE INDEX budget_crossing_untold ON budget_crossing (crossed_at) WHERE told_at IS NULL;

-- Spending may cross a threshold of a budget. The transaction that spends records that, once per period, and the owner is notified
-- afterwards. Every spend checks it, because the limit may have been lowered in between. A remainder below one cent and below a
-- hundredth of the budget counts as zero: no request may fit into it, so the budget would never be spent completely.
CREATE FUNCTION budget_period_is_spent() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO budget_crossing (budget_id, period_start, threshold_percent, limit_nano, spent)
    SELECT NEW.budget_id, NEW.period_start, t.percent, b.limit_nano, NEW.spent
    FROM budget b CROSS JOIN (VALUES (80), (100)) AS t(percent)
    WHERE b.id = NEW.budget_id AND (NEW.spent >= b.limit_nano::numeric * t.percent / 100
      OR t.percent = 100 AND NEW.spent > b.limit_nano - LEAST(10000000, b.limit_nano / 100))
    ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER budget_period_begun AFTER INSERT ON budget_period FOR EACH ROW
  WHEN (NEW.spent > 0) EXECUTE FUNCTION budget_period_is_spent();
CREATE TRIGGER budget_period_spent AFTER UPDATE OF spent ON budget_period FOR EACH ROW
  WHEN (NEW.spent > OLD.spent) EXECUTE FUNCTION budget_period_is_spent();
