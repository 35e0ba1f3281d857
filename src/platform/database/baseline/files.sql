-- The row is written before the bytes and deleted after them, so bytes never exist without a row. A sweep finds through it what a
-- dead process left behind.
CREATE TABLE file (
  id text PRIMARY KEY CHECK (id ~ '^file_[0-9a-f]{44}$'),
  account_id text NOT NULL REFERENCES account,
  purpose text NOT NULL CHECK (purpose IN ('image', 'video', 'batch_input', 'batch_output')),
  state text NOT NULL DEFAULT 'storing' CHECK (state IN ('storing', 'stored', 'removing')),
  state_at timestamptz NOT NULL DEFAULT now(),
  content_type text NOT NULL,
  name text,
  bytes bigint NOT NULL CHECK (bytes >= 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz
);
COMMENT ON TABLE file IS 'Stored files of accounts, whose bytes are in the data directory or a bucket';
CREATE INDEX file_account ON file (account_id, id DESC);
CREATE INDEX file_input ON file (account_id) WHERE purpose = 'batch_input';
CREATE INDEX file_expires ON file (expires_at) WHERE state = 'stored' AND expires_at IS NOT NULL;
CREATE INDEX file_unfinished ON file (state_at) WHERE state <> 'stored';
