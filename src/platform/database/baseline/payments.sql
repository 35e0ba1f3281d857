-- `return_url` is kept so that a repeated checkout request has the same content, because the processor compares them. `attention`
-- means that an operator must look at the top-up. The service does not query the processor about a `stopped` one until then.
CREATE TABLE top_up (
  id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
  account_id text NOT NULL REFERENCES account,
  amount_cents integer NOT NULL CHECK (amount_cents BETWEEN 500 AND 1000000),
  processor text NOT NULL CHECK (processor IN ('stripe', 'simulated')),
  return_url text NOT NULL,
  status text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'paid', 'expired', 'failed')),
  session_id text UNIQUE,
  checkout_url text,
  payment_id text,
  refunded_cents bigint NOT NULL DEFAULT 0 CHECK (refunded_cents >= 0),
  attention text,
  stopped boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  ask_at timestamptz NOT NULL,
  paid_at timestamptz,
  CHECK ((status = 'paid') = (paid_at IS NOT NULL)),
  CHECK (status <> 'paid' OR session_id IS NOT NULL),
  CHECK (NOT stopped OR attention IS NOT NULL)
) WITH (fillfactor = 80);
COMMENT ON TABLE top_up IS 'Payments of customers through a payment processor';
-- No other index has this order, as with `api_key_of_kind`.
CREATE INDEX top_up_account ON top_up (account_id, id COLLATE "C" DESC);
CREATE INDEX top_up_payment ON top_up (payment_id) WHERE payment_id IS NOT NULL;
CREATE INDEX top_up_ask ON top_up (ask_at) WHERE status = 'open' AND NOT stopped;

-- With it, a repeated notice writes no second line to the audit log.
CREATE TABLE payment_notice (
  event_id text PRIMARY KEY,
  top_up_id text NOT NULL REFERENCES top_up,
  type text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE payment_notice IS 'Notices of a processor about payments, other than that one was made';
