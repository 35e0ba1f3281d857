-- Callers' texts are stored as JSON strings, which may contain any character.
CREATE TABLE session (
  id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
  account_id text NOT NULL REFERENCES account (id),
  session_id text CHECK (length(session_id) BETWEEN 1 AND 256),
  model text,
  metadata text NOT NULL,
  messages int NOT NULL DEFAULT 0 CHECK (messages >= 0),
  bytes bigint NOT NULL DEFAULT 0 CHECK (bytes >= 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (account_id, session_id)
) WITH (fillfactor = 80);
COMMENT ON TABLE session IS 'Conversations that the legacy chat records';

-- Checking the limits of an account needs no sum over its sessions.
CREATE TABLE session_total (
  account_id text PRIMARY KEY REFERENCES account (id),
  sessions int NOT NULL DEFAULT 0 CHECK (sessions >= 0),
  bytes bigint NOT NULL DEFAULT 0 CHECK (bytes >= 0)
) WITH (fillfactor = 80);
COMMENT ON TABLE session_total IS 'How many sessions and bytes each account has recorded';

CREATE TABLE session_message (
  session text NOT NULL REFERENCES session (id),
  position int NOT NULL,
  role text NOT NULL,
  content text NOT NULL,
  digest text NOT NULL,
  turn text,
  model text,
  usage text,
  cost bigint CHECK (cost >= 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (session, position)
);
COMMENT ON TABLE session_message IS 'The messages of recorded conversations';
-- Only answers have a turn id, through which a repeated turn is recognized.
CREATE INDEX session_message_turn ON session_message (session, turn) WHERE turn IS NOT NULL;
