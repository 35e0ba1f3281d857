CREATE TABLE owner_session (
  id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
  account_id text NOT NULL REFERENCES account,
  hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
  created_at timestamptz NOT NULL DEFAULT now(),
  seen_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 80);
COMMENT ON TABLE owner_session IS 'Sessions of account owners in the console';
CREATE INDEX owner_session_account ON owner_session (account_id);
CREATE INDEX owner_session_created ON owner_session (created_at);
CREATE INDEX owner_session_seen ON owner_session (seen_at);

-- The recipient and the purpose of a code, as a keyed hash. The codes are hashed with a key too, because any other hash of six digits
-- could be reversed by trying all of them.
CREATE TABLE verification_code (
  subject bytea PRIMARY KEY CHECK (length(subject) = 32),
  id text NOT NULL CHECK (id ~ '^[0-9a-f]{24}$'),
  digest bytea CHECK (length(digest) = 32),
  reference text,
  attempts int NOT NULL DEFAULT 0 CHECK (attempts BETWEEN 0 AND 5),
  expires_at timestamptz NOT NULL,
  CHECK ((digest IS NULL) <> (reference IS NULL))
) WITH (fillfactor = 80);
COMMENT ON TABLE verification_code IS 'Codes that were sent and can still be entered';
CREATE INDEX verification_code_expires ON verification_code (expires_at);

-- How many codes were sent to a recipient, or for an account, since a given time.
CREATE TABLE verification_sends (
  subject bytea PRIMARY KEY CHECK (length(subject) = 32),
  sends int NOT NULL CHECK (sends > 0),
  ends_at timestamptz NOT NULL
) WITH (fillfactor = 80);
COMMENT ON TABLE verification_sends IS 'How many codes a recipient or an account got lately';
CREATE INDEX verification_sends_ends ON verification_sends (ends_at);

CREATE TABLE verified_phone (
  account_id text PRIMARY KEY REFERENCES account,
  number bytea NOT NULL CHECK (length(number) = 32),
  last2 text NOT NULL CHECK (last2 ~ '^[0-9]{2}$'),
  credited bigint NOT NULL CHECK (credited >= 0),
  verified_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE verified_phone IS 'Verified phone numbers, each of which earns one starter credit';
CREATE UNIQUE INDEX verified_phone_credited ON verified_phone (number) WHERE credited > 0;
