CREATE TABLE project (
  id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
  account_id text NOT NULL REFERENCES account,
  name text NOT NULL,
  slug text NOT NULL CHECK (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  budget_id text REFERENCES budget,
  routing json,
  data_policy text NOT NULL DEFAULT 'default' CHECK (data_policy IN ('default', 'no_training', 'zero_retention')),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  archived_at timestamptz,
  UNIQUE (account_id, id),
  UNIQUE (account_id, slug)
);
COMMENT ON TABLE project IS 'Groups of keys of one account, with a budget, routing and a data policy of their own';
-- No other index has this order, as with `api_key_of_kind`.
CREATE INDEX project_account ON project (account_id, id COLLATE "C" DESC);
