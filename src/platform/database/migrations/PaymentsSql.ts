import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Creates the tables for money that customers pay through a payment processor. */
export const payments = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // `return_url` is kept so that a repeated checkout request has the same content, because the processor compares them. `attention`
  // means that an operator must look at the top-up. The service does not query the processor about a `stopped` one until then.
  yield* sql`CREATE TABLE top_up (
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
  ) WITH (fillfactor = 80)`
  // No other index has this order, as with `api_key_of_kind`.
  yield* sql`CREATE INDEX top_up_account ON top_up (account_id, id COLLATE "C" DESC)`
  yield* sql`CREATE INDEX top_up_payment ON top_up (payment_id) WHERE payment_id IS NOT NULL`
  yield* sql`CREATE INDEX top_up_ask ON top_up (ask_at) WHERE status = 'open' AND NOT stopped`
  // Notices about a payment other than that it was made. With it, a repeated notice writes no second line to the audit log.
  yield* sql`CREATE TABLE payment_notice (
    event_id text PRIMARY KEY,
    top_up_id text NOT NULL REFERENCES top_up,
    type text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
  )`
})
