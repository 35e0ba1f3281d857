-- Secrets are encrypted. `sealed_with` names the key, so that a node knows whether it can decrypt them.
CREATE TABLE webhook_endpoint (
  id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
  account_id text NOT NULL REFERENCES account,
  url text NOT NULL,
  events text[] NOT NULL,
  status text NOT NULL DEFAULT 'enabled' CHECK (status IN ('enabled', 'disabled', 'removed')),
  secret bytea,
  previous_secret bytea,
  previous_until timestamptz,
  sealed_with text,
  failing_since timestamptz,
  failed_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  CHECK (status = 'removed' OR (secret IS NOT NULL AND sealed_with IS NOT NULL))
);
COMMENT ON TABLE webhook_endpoint IS 'Addresses that get the events of an account';
CREATE INDEX webhook_endpoint_account ON webhook_endpoint (account_id, id COLLATE "C" DESC) WHERE status <> 'removed';
CREATE INDEX webhook_endpoint_removed ON webhook_endpoint (id) WHERE status = 'removed';

-- The body is stored as signed, so every attempt sends the same bytes.
CREATE TABLE webhook_event (
  id text PRIMARY KEY,
  account_id text NOT NULL,
  type text NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL
);
COMMENT ON TABLE webhook_event IS 'Events, written in the transaction that makes them true';
CREATE INDEX webhook_event_created ON webhook_event (created_at);

-- A claimed delivery is due again when its claim ends, so the claims of a dead node return by themselves.
CREATE TABLE webhook_delivery (
  id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
  endpoint_id text NOT NULL REFERENCES webhook_endpoint ON DELETE CASCADE,
  event_id text NOT NULL REFERENCES webhook_event,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
  step integer NOT NULL DEFAULT 0 CHECK (step >= 0),
  attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  due_at timestamptz NOT NULL DEFAULT now(),
  claim text,
  created_at timestamptz NOT NULL DEFAULT now(),
  delivered_at timestamptz,
  ended_at timestamptz,
  CHECK ((status = 'pending') = (ended_at IS NULL)),
  CHECK (status = 'pending' OR (status = 'delivered') = (delivered_at IS NOT NULL)),
  CHECK (status = 'pending' OR claim IS NULL)
) WITH (fillfactor = 70);
COMMENT ON TABLE webhook_delivery IS 'What each endpoint gets of each event, and whether it did';
CREATE UNIQUE INDEX webhook_delivery_once ON webhook_delivery (event_id, endpoint_id);
CREATE INDEX webhook_delivery_endpoint ON webhook_delivery (endpoint_id, id COLLATE "C" DESC);
-- The endpoint comes first, so a claim steps from one endpoint to the next, however many deliveries wait for each.
CREATE INDEX webhook_delivery_due ON webhook_delivery (endpoint_id, due_at) WHERE status = 'pending';
CREATE INDEX webhook_delivery_claimed ON webhook_delivery (endpoint_id, due_at) WHERE claim IS NOT NULL;
CREATE INDEX webhook_delivery_ended ON webhook_delivery (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE webhook_attempt (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  delivery_id text NOT NULL REFERENCES webhook_delivery ON DELETE CASCADE,
  started_at timestamptz NOT NULL,
  duration_ms integer NOT NULL CHECK (duration_ms >= 0),
  status_code integer,
  error text,
  response text
);
COMMENT ON TABLE webhook_attempt IS 'Attempts to deliver, with what the endpoint answered';
CREATE INDEX webhook_attempt_delivery ON webhook_attempt (delivery_id, id);
