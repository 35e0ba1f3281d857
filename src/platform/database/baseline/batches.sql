CREATE TABLE batch (
  id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
  account_id text NOT NULL REFERENCES account,
  principal jsonb NOT NULL,
  endpoint text NOT NULL,
  input_file_id text NOT NULL,
  metadata jsonb,
  status text NOT NULL CHECK (status IN ('validating', 'in_progress', 'finalizing', 'completed', 'failed', 'expired', 'cancelling',
    'cancelled')),
  errors jsonb,
  total int NOT NULL DEFAULT 0,
  completed int NOT NULL DEFAULT 0,
  failed int NOT NULL DEFAULT 0,
  output_bytes bigint NOT NULL DEFAULT 0,
  output_ttl_seconds int,
  claim text,
  fingerprint text,
  worker text,
  worker_until timestamptz,
  output_file_id text,
  error_file_id text,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  in_progress_at timestamptz,
  finalizing_at timestamptz,
  completed_at timestamptz,
  failed_at timestamptz,
  expired_at timestamptz,
  cancelling_at timestamptz,
  cancelled_at timestamptz,
  CHECK (completed >= 0 AND failed >= 0 AND completed + failed <= total)
) WITH (fillfactor = 70);
COMMENT ON TABLE batch IS 'Batches that run in the background';
CREATE INDEX batch_account ON batch (account_id, id DESC);
CREATE UNIQUE INDEX batch_claim ON batch (account_id, claim) WHERE claim IS NOT NULL;
CREATE INDEX batch_open ON batch (account_id)
  WHERE status IN ('validating', 'in_progress', 'finalizing', 'cancelling');

-- Each finished line, once, however many processes worked on it.
CREATE TABLE batch_item (
  batch_id text NOT NULL REFERENCES batch ON DELETE CASCADE,
  index int NOT NULL,
  ok boolean NOT NULL,
  line text NOT NULL,
  PRIMARY KEY (batch_id, index)
);
COMMENT ON TABLE batch_item IS 'Results of their lines, which stay until they are written to files';
