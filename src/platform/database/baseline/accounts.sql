CREATE TABLE account (
  id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
  email text NOT NULL,
  limit_scale double precision NOT NULL DEFAULT 1 CHECK (limit_scale > 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'suspended', 'closed')),
  state_reason text,
  state_changed_at timestamptz
);
COMMENT ON TABLE account IS 'Customers, each with its rate limits and the state that an operator gave it';
CREATE UNIQUE INDEX account_email ON account (lower(email));
