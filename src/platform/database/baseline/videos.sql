-- `turn` is a fencing token: a worker takes the next one, and writes only while its own is still the latest. `plan` lists the
-- providers that may make the video and their prices at the time of the charge. `asking` is the provider to which the job is being
-- submitted; `waits_for` is the provider that has no capacity for it. A prompt may contain characters that PostgreSQL text cannot, so
-- it is stored as JSON. `lost` counts how often a provider did not know the job. Constraints repeat the rules of `domain/Video.ts`.
CREATE TABLE video_job (
  id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
  request_id text NOT NULL UNIQUE,
  account_id text NOT NULL REFERENCES account,
  key_id text NOT NULL,
  model text NOT NULL,
  state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'processing', 'completed', 'failed')),
  prompt json NOT NULL,
  parameters json NOT NULL,
  plan json NOT NULL,
  steering text,
  charged bigint NOT NULL CHECK (charged >= 0),
  cost bigint CHECK (cost BETWEEN 0 AND charged),
  refunded boolean NOT NULL DEFAULT false,
  provider text,
  ticket text,
  attempts json NOT NULL DEFAULT '[]',
  submissions integer NOT NULL DEFAULT 0 CHECK (submissions >= 0),
  polls integer NOT NULL DEFAULT 0 CHECK (polls >= 0),
  faults integer NOT NULL DEFAULT 0 CHECK (faults >= 0),
  progress integer NOT NULL DEFAULT 0 CHECK (progress BETWEEN 0 AND 100),
  turn bigint NOT NULL DEFAULT 0,
  busy_until timestamptz,
  asking text,
  waits_for text,
  next_poll_at timestamptz NOT NULL DEFAULT now(),
  polled_at timestamptz,
  deadline_at timestamptz NOT NULL,
  file_id text,
  error_code text,
  error_message text,
  created_at timestamptz NOT NULL DEFAULT now(),
  completed_at timestamptz,
  lost integer NOT NULL DEFAULT 0 CHECK (lost >= 0),
  CHECK ((state IN ('completed', 'failed')) = (completed_at IS NOT NULL)),
  CHECK ((state IN ('completed', 'failed')) = (cost IS NOT NULL)),
  CHECK ((state = 'completed') = (file_id IS NOT NULL)),
  CHECK (state <> 'completed' OR progress = 100),
  CHECK ((state = 'failed') = (error_code IS NOT NULL)),
  CHECK ((state = 'failed') = (error_message IS NOT NULL)),
  CHECK ((state = 'failed') = refunded),
  CHECK (NOT refunded OR cost = 0),
  CHECK (state NOT IN ('processing', 'completed') OR provider IS NOT NULL AND ticket IS NOT NULL),
  CHECK (state <> 'queued' OR provider IS NULL AND ticket IS NULL)
) WITH (fillfactor = 70);
COMMENT ON TABLE video_job IS 'Jobs that make videos; each row has its outcome';
CREATE INDEX video_job_standing ON video_job (next_poll_at) WHERE completed_at IS NULL;
CREATE INDEX video_job_deadline ON video_job (deadline_at) WHERE completed_at IS NULL;
CREATE INDEX video_job_provider ON video_job (COALESCE(provider, asking)) WHERE completed_at IS NULL;
CREATE INDEX video_job_waiting ON video_job (waits_for, created_at) WHERE completed_at IS NULL;
CREATE INDEX video_job_account ON video_job (account_id) WHERE completed_at IS NULL;
CREATE INDEX video_job_by_account ON video_job (account_id, id);
CREATE INDEX video_job_completed ON video_job (completed_at) WHERE completed_at IS NOT NULL;
CREATE FUNCTION video_job_is_ended() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'video jobs that have ended never change'; END $$;
CREATE TRIGGER video_job_ended BEFORE UPDATE ON video_job FOR EACH ROW
  WHEN (OLD.completed_at IS NOT NULL) EXECUTE FUNCTION video_job_is_ended();
