ALTER TABLE margin_day ADD COLUMN attempt_cost bigint NOT NULL DEFAULT 0;

CREATE TABLE attempt_cost (
  account_id text NOT NULL,
  request_id text NOT NULL,
  attempt integer NOT NULL,
  day date NOT NULL,
  model text NOT NULL,
  provider text NOT NULL,
  play boolean NOT NULL,
  cost bigint NOT NULL CHECK (cost > 0),
  PRIMARY KEY (account_id, request_id, attempt)
);
COMMENT ON TABLE attempt_cost IS 'What attempts that served no answer cost the operator, until it is in the margins of the day';
CREATE INDEX attempt_cost_day ON attempt_cost (day);

CREATE FUNCTION attempts_have_cost() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO attempt_cost (account_id, request_id, attempt, day, model, provider, play, cost)
    SELECT NEW.account_id, NEW.id, a.index, (NEW.created_at AT TIME ZONE 'UTC')::date, a.model, a.provider,
      COALESCE(NEW.play, false), a.nano
    FROM jsonb_to_recordset(NEW.closed -> 'attemptCosts') AS a(index integer, model text, provider text, nano bigint);
  RETURN NULL;
END $$;
CREATE TRIGGER attempts_have_cost AFTER UPDATE OF closed ON request FOR EACH ROW
  WHEN (OLD.closed IS NULL AND NEW.closed ? 'attemptCosts') EXECUTE FUNCTION attempts_have_cost();
