-- No foreign keys on requests and transfers: the ledger inserts only behind locks on the very key and balance rows that they would
-- check. The functions that write these tables are in `src/ledger/sql`.

-- posted >= held: money reserved for running requests is never spent twice, whatever the code above does.
CREATE TABLE balance (
  account_id text PRIMARY KEY REFERENCES account,
  posted bigint NOT NULL DEFAULT 0,
  held bigint NOT NULL DEFAULT 0,
  CONSTRAINT balance_in_order CHECK (posted >= held AND held >= 0)
) WITH (fillfactor = 50);
COMMENT ON TABLE balance IS 'The real money of each account, and how much of it open holds reserve';

-- Written behind the lock of the account's balance only, which takes the place of a foreign key.
CREATE TABLE play_balance (
  account_id text PRIMARY KEY,
  posted bigint NOT NULL DEFAULT 0,
  held bigint NOT NULL DEFAULT 0,
  CONSTRAINT play_balance_in_order CHECK (posted >= held AND held >= 0)
) WITH (fillfactor = 50);
COMMENT ON TABLE play_balance IS 'The same for play money of a sandbox; only accounts with play money have a row';

-- PostgreSQL parses a table's constraint anew for every statement that writes to the table, from a stored form that is much longer
-- than this text, lists of words most of all. It caches the constraints of a domain instead.
CREATE DOMAIN request_state AS text CONSTRAINT request_state_known CHECK (VALUE IN ('open', 'settled', 'released'));
CREATE DOMAIN request_status AS text
  CONSTRAINT request_status_known CHECK (VALUE IN ('open', 'succeeded', 'failed', 'cancelled'));
CREATE DOMAIN transfer_kind AS text
  CONSTRAINT transfer_kind_known CHECK (VALUE IN ('settle', 'charge', 'refund', 'credit', 'adjust'));

-- A request that is charged up front is `settled` from the start, and its `closed` is null until it is concluded. `play` is true when
-- play money pays and null when real money does, so a service without a sandbox writes nothing for it. The amounts stand in one chain:
-- refunded <= settled, and settled and progress <= held.
CREATE TABLE request (
  id text PRIMARY KEY,
  account_id text NOT NULL,
  key_id text NOT NULL,
  project_id text,
  operation text NOT NULL,
  model text NOT NULL,
  state text NOT NULL,
  status text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  closed_at timestamptz,
  expired boolean NOT NULL DEFAULT false,
  held bigint NOT NULL,
  progress bigint NOT NULL DEFAULT 0,
  settled bigint NOT NULL DEFAULT 0,
  absorbed bigint NOT NULL DEFAULT 0,
  refunded bigint NOT NULL DEFAULT 0,
  budgets text[] NOT NULL DEFAULT '{}',
  resolved_model text,
  provider text,
  opened jsonb NOT NULL,
  closed jsonb,
  idempotency_key text,
  claim text,
  fingerprint text,
  answer jsonb,
  play boolean,
  CONSTRAINT request_in_order CHECK (
    LEAST(refunded, progress, absorbed, settled - refunded, held - settled, held - progress) >= 0
    AND (state::request_state = 'open') = (closed_at IS NULL) AND status::request_status IS NOT NULL)
) WITH (fillfactor = 70);
COMMENT ON TABLE request IS 'Paid requests: each row is hold, receipt and idempotency claim in one';
-- No query searches these columns. Comparing whole documents kept ANALYZE busy for most of a second, which slowed every commit down.
ALTER TABLE request ALTER COLUMN opened SET STATISTICS 0, ALTER COLUMN closed SET STATISTICS 0,
  ALTER COLUMN answer SET STATISTICS 0, ALTER COLUMN budgets SET STATISTICS 0;
-- The column that a group of operations names comes first: before PostgreSQL 18 an index helps only from its first column on.
CREATE UNIQUE INDEX request_claim ON request (claim, account_id) WHERE claim IS NOT NULL;
-- In ascending order: a descending index would put each new entry before all others, which splits pages in the middle. PostgreSQL
-- reads both kinds in either direction.
CREATE INDEX request_account ON request (account_id, id);
CREATE INDEX request_open_account ON request (account_id, expires_at) WHERE state = 'open';
CREATE INDEX request_claimed ON request (closed_at) WHERE claim IS NOT NULL AND state <> 'open';
CREATE INDEX request_unconcluded ON request (expires_at) WHERE state = 'settled' AND closed IS NULL;
-- For lists of receipts with a given status. A successful request is in neither of the next two, so the ledger's usual path writes
-- nothing for them. No other index on requests has the collation of the first, so no plan can walk through all of an account's
-- requests in the order of another index instead.
CREATE INDEX request_unserved ON request (account_id, status, id COLLATE "C" DESC) WHERE status IN ('failed', 'cancelled');
CREATE INDEX request_unconcluded_account ON request (account_id) WHERE state = 'settled' AND closed IS NULL;

CREATE TABLE transfer (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  debit text NOT NULL,
  credit text NOT NULL,
  amount bigint NOT NULL,
  kind text NOT NULL,
  request_id text,
  reference text,
  CONSTRAINT transfer_in_order CHECK (amount > 0 AND debit <> credit AND kind::transfer_kind IS NOT NULL)
);
COMMENT ON TABLE transfer IS 'Every movement of money between two accounts, of which the house has several; never updated';
-- Only what customers got is read by account. The house's side would be one huge index range.
CREATE INDEX transfer_credit ON transfer (credit, id) WHERE left(credit, 6) <> 'house:';
-- Money that is taken from an account other than by charges is rare, so the ledger's usual path writes nothing for this index.
CREATE INDEX transfer_adjusted ON transfer (debit, id) WHERE kind = 'adjust';
CREATE UNIQUE INDEX transfer_once ON transfer (request_id, kind) WHERE kind IN ('settle', 'charge');
CREATE UNIQUE INDEX transfer_reference ON transfer (reference, kind) WHERE reference IS NOT NULL;
CREATE FUNCTION transfer_is_append_only() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'transfers are append only'; END $$;
CREATE TRIGGER transfer_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON transfer
  FOR EACH STATEMENT EXECUTE FUNCTION transfer_is_append_only();

-- They have no receipt of their own, so each names the request whose receipt explains the answer.
CREATE TABLE replay (
  id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES account (id),
  request_id text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE replay IS 'Ids of requests that were answered with what an earlier request under the same idempotency key got';
CREATE INDEX replay_created ON replay (created_at);

CREATE TABLE ledger_version (
  version text PRIMARY KEY,
  used_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE ledger_version IS 'Versions of the ledger''s functions in this database, and when a node last used them';
