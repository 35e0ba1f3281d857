import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Creates the audit log in two halves, neither of which is ever updated, and the idempotency keys of operations that are free. */
export const audit = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Written after the operation for which an entry was opened. An entry without `awaited` was written together with its operation and
  // needs no completion.
  yield* sql`CREATE TABLE audit_completion (
    event_id text PRIMARY KEY REFERENCES audit_event,
    outcome text NOT NULL CHECK (outcome IN ('succeeded', 'failed')),
    code text,
    changes jsonb NOT NULL DEFAULT '{}',
    completed_at timestamptz NOT NULL DEFAULT now(),
    CHECK ((outcome = 'failed') = (code IS NOT NULL))
  )`
  // Entries that were opened and not completed. They are few enough to read all of them.
  yield* sql`CREATE TABLE audit_open (
    event_id text PRIMARY KEY REFERENCES audit_event,
    opened_at timestamptz NOT NULL DEFAULT now()
  )`
  yield* sql`ALTER TABLE audit_event ADD COLUMN awaited boolean NOT NULL DEFAULT false`
  // Every combination of filters reads a page from one place of an index: scanning for the few rows that match two filters might read
  // as many rows as match either. No other index has this collation for the id. So no plan can walk through all rows in the order of
  // another index in the hope that some match.
  yield* sql`CREATE FUNCTION audit_place(account_id text, type text, actor_id text, resource_id text) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN hashtextextended(
      account_id || '|' || COALESCE(type, '') || '|' || COALESCE(actor_id, '') || '|' || COALESCE(resource_id, ''), 0)`
  yield* sql`DROP INDEX audit_event_account`
  yield* sql`CREATE INDEX audit_event_account ON audit_event (account_id, id COLLATE "C" DESC)`
  for (const narrowed of [
    ["type"],
    ["actor"],
    ["resource"],
    ["type", "actor"],
    ["type", "resource"],
    ["actor", "resource"],
    ["type", "actor", "resource"]
  ]) {
    const place = [
      narrowed.includes("type") ? "type" : "NULL",
      narrowed.includes("actor") ? "actor_id" : "NULL",
      narrowed.includes("resource") ? "resource_id" : "NULL"
    ]
    yield* sql`CREATE INDEX ${sql(["audit_event", ...narrowed].join("_"))}
      ON audit_event (audit_place(account_id, ${sql.literal(place.join(", "))}), id COLLATE "C" DESC)`
  }
  yield* sql`CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the audit log is append only'; END $$`
  for (const table of ["audit_event", "audit_completion"]) {
    yield* sql`CREATE TRIGGER ${sql(`${table}_append_only`)} BEFORE UPDATE OR DELETE OR TRUNCATE ON ${sql(table)}
      FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only()`
  }
  // The claim of a paid request is in its request row. These claims belong to operations that change an account and are free.
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
