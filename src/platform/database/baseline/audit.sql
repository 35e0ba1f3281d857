-- An event without `awaited` was written together with its operation and needs no completion.
CREATE TABLE audit_event (
  id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
  account_id text NOT NULL REFERENCES account,
  type text NOT NULL,
  actor_type text NOT NULL,
  actor_id text NOT NULL,
  resource_type text NOT NULL,
  resource_id text NOT NULL,
  request_id text,
  changes jsonb NOT NULL DEFAULT '{}',
  effective_at timestamptz NOT NULL DEFAULT now(),
  awaited boolean NOT NULL DEFAULT false
);
COMMENT ON TABLE audit_event IS 'What was changed in an account, by which actor; never updated';

CREATE TABLE audit_completion (
  event_id text PRIMARY KEY REFERENCES audit_event,
  outcome text NOT NULL CHECK (outcome IN ('succeeded', 'failed')),
  code text,
  changes jsonb NOT NULL DEFAULT '{}',
  completed_at timestamptz NOT NULL DEFAULT now(),
  CHECK ((outcome = 'failed') = (code IS NOT NULL))
);
COMMENT ON TABLE audit_completion IS 'How an awaited event ended, written after its operation; never updated';

-- They are few enough to read all of them.
CREATE TABLE audit_open (
  event_id text PRIMARY KEY REFERENCES audit_event,
  opened_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE audit_open IS 'Awaited events that are not completed yet';

CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'the audit log is append only'; END $$;
CREATE TRIGGER audit_event_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_event
  FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER audit_completion_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_completion
  FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();

-- Every combination of filters reads a page from one place of an index: scanning for the few rows that match two filters might read
-- as many rows as match either. No other index has this collation for the id. So no plan can walk through all rows in the order of
-- another index in the hope that some match.
CREATE FUNCTION audit_place(account_id text, type text, actor_id text, resource_id text) RETURNS bigint
  LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN hashtextextended(
    account_id || '|' || COALESCE(type, '') || '|' || COALESCE(actor_id, '') || '|' || COALESCE(resource_id, ''), 0);
CREATE INDEX audit_event_account ON audit_event (account_id, id COLLATE "C" DESC);
CREATE INDEX audit_event_type ON audit_event (audit_place(account_id, type, NULL, NULL), id COLLATE "C" DESC);
CREATE INDEX audit_event_actor ON audit_event (audit_place(account_id, NULL, actor_id, NULL), id COLLATE "C" DESC);
CREATE INDEX audit_event_resource ON audit_event (audit_place(account_id, NULL, NULL, resource_id), id COLLATE "C" DESC);
CREATE INDEX audit_event_type_actor ON audit_event (audit_place(account_id, type, actor_id, NULL), id COLLATE "C" DESC);
CREATE INDEX audit_event_type_resource ON audit_event (audit_place(account_id, type, NULL, resource_id), id COLLATE "C" DESC);
CREATE INDEX audit_event_actor_resource ON audit_event (audit_place(account_id, NULL, actor_id, resource_id), id COLLATE "C" DESC);
CREATE INDEX audit_event_type_actor_resource ON audit_event (audit_place(account_id, type, actor_id, resource_id), id COLLATE "C" DESC);

-- The claim of a paid request is in its request row.
CREATE TABLE unpaid_claim (
  account_id text NOT NULL REFERENCES account,
  claim text NOT NULL,
  fingerprint text NOT NULL,
  request_id text NOT NULL,
  answer json,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, claim)
);
COMMENT ON TABLE unpaid_claim IS 'Idempotency keys of operations that change an account and are free';
CREATE INDEX unpaid_claim_created ON unpaid_claim (created_at);
