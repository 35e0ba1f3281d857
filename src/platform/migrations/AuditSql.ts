import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The audit log in two halves, of which neither is ever changed; and the idempotency keys of what is not paid for. */
export const audit = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Written after the deed that an entry was opened for. An entry without `awaited` was written with its deed and needs none.
  yield* sql`CREATE TABLE audit_completion (
    event_id text PRIMARY KEY REFERENCES audit_event,
    outcome text NOT NULL CHECK (outcome IN ('succeeded', 'failed')),
    code text,
    changes jsonb NOT NULL DEFAULT '{}',
    completed_at timestamptz NOT NULL DEFAULT now(),
    CHECK ((outcome = 'failed') = (code IS NOT NULL))
  )`
  // What was opened and not completed: so few rows that all of them can be looked at.
  yield* sql`CREATE TABLE audit_open (
    event_id text PRIMARY KEY REFERENCES audit_event,
    opened_at timestamptz NOT NULL DEFAULT now()
  )`
  yield* sql`ALTER TABLE audit_event ADD COLUMN awaited boolean NOT NULL DEFAULT false`
  // A page is found in one place, whatever it is narrowed to: what few lines have both of may be in as many as there are of each.
  for (const narrowed of [
    ["type"],
    ["actor"],
    ["resource"],
    ["type", "actor"],
    ["type", "resource"],
    ["actor", "resource"],
    ["type", "actor", "resource"]
  ]) {
    const columns = narrowed.map((name) => (name === "type" ? name : `${name}_id`)).join(", ")
    yield* sql`CREATE INDEX ${sql(["audit_event", ...narrowed].join("_"))}
      ON audit_event (account_id, ${sql.literal(columns)}, id DESC)`
  }
  yield* sql`CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the audit log is append only'; END $$`
  for (const table of ["audit_event", "audit_completion"]) {
    yield* sql`CREATE TRIGGER ${sql(`${table}_append_only`)} BEFORE UPDATE OR DELETE OR TRUNCATE ON ${sql(table)}
      FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only()`
  }
  // A claim of a paid request stands in its request row; these are of what changes an account and is not paid for.
  yield* sql`CREATE TABLE unpaid_claim (
    account_id text NOT NULL REFERENCES account,
    claim text NOT NULL,
    fingerprint text NOT NULL,
    request_id text NOT NULL,
    answer json,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, claim)
  )`
  yield* sql`CREATE INDEX unpaid_claim_created ON unpaid_claim (created_at)`
})
