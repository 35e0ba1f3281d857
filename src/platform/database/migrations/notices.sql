CREATE TABLE declined_notice (
  account_id text NOT NULL REFERENCES account,
  kind text NOT NULL,
  PRIMARY KEY (account_id, kind)
);
COMMENT ON TABLE declined_notice IS 'Kinds of notices that an owner chose not to get by email';

CREATE TABLE notice (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account_id text NOT NULL REFERENCES account,
  kind text NOT NULL CHECK (kind IN ('low_balance', 'budget_alert', 'webhook_disabled', 'sign_in', 'key_change')),
  data jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE notice IS 'What owners are to be notified of, written with what happened; deleted when a letter says it';
CREATE INDEX notice_group ON notice (account_id, kind);

-- The text is stored as written, so every attempt sends the same one.
CREATE TABLE letter (
  id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
  account_id text NOT NULL REFERENCES account,
  kind text NOT NULL,
  recipient text NOT NULL,
  subject text NOT NULL,
  body text NOT NULL,
  attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  due_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,
  outcome text CHECK (outcome IN ('sent', 'refused', 'given_up')),
  CHECK ((ended_at IS NULL) = (outcome IS NULL))
) WITH (fillfactor = 80);
COMMENT ON TABLE letter IS 'Emails to owners, kept until a mail server accepted them and a month longer';
CREATE INDEX letter_group ON letter (account_id, kind, created_at);
CREATE INDEX letter_due ON letter (due_at) WHERE ended_at IS NULL;
CREATE INDEX letter_ended ON letter (ended_at) WHERE ended_at IS NOT NULL;

-- A sign-in from an origin that is in here needs no notice.
CREATE TABLE known_origin (
  account_id text NOT NULL REFERENCES account,
  digest bytea NOT NULL CHECK (length(digest) = 32),
  seen_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, digest)
) WITH (fillfactor = 80);
COMMENT ON TABLE known_origin IS 'Browsers and addresses from which an account was signed in to lately, as hashes';
CREATE INDEX known_origin_seen ON known_origin (seen_at);

-- The transaction that spends records the crossing. The condition of the trigger keeps other spends from calling it.
CREATE FUNCTION balance_is_low() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO notice (account_id, kind, data) SELECT NEW.account_id, 'low_balance', '{}'
    WHERE NOT EXISTS (SELECT FROM declined_notice WHERE account_id = NEW.account_id AND kind = 'low_balance');
  RETURN NULL;
END $$;
CREATE TRIGGER balance_low AFTER UPDATE OF posted ON balance FOR EACH ROW
  WHEN (OLD.posted >= 5000000000 AND NEW.posted < 5000000000) EXECUTE FUNCTION balance_is_low();
