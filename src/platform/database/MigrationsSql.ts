import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { RanMigration } from "./BackupSql.ts"
import { createJobTable } from "./JobTableSql.ts"
import { readSql, statementsIn } from "./SqlFiles.ts"

const directory = new URL("./baseline/", import.meta.url)

/** Migrations that are longer than a few statements, each in a file. */
const later = new URL("./migrations/", import.meta.url)

/** The files of the baseline, in an order in which each refers only to tables of those before it. */
const files = [
  "accounts",
  "budgets",
  "projects",
  "keys",
  "audit",
  "ledger",
  "usage",
  "presets",
  "figures",
  "files",
  "videos",
  "webhooks",
  "sessions",
  "batches",
  "owners",
  "payments",
  "health"
]

const baseline = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const file of files)
    for (const statement of statementsIn(readSql(directory, `${file}.sql`))) yield* sql.unsafe(statement)
  yield* createJobTable
})

/** The last migration before the baseline took the place of all earlier ones. A database with it has the baseline's tables. */
export const beforeBaseline: RanMigration = { id: 47, name: "ledger_versions" }

/** Migrations in the order they run. Never edit one that has landed; add a new entry instead. */
export const migrations: Record<string, Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient>> = {
  "0001_baseline": baseline,
  // Operator keys belong to no account, so they have a table of their own, where no lookup of a caller's key finds them.
  "0002_operator_keys": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE operator_key (
      id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
      name text NOT NULL,
      hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
      last4 text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz,
      revoked_at timestamptz
    )`
    yield* sql`COMMENT ON TABLE operator_key IS 'Keys of operators for the endpoints below /operator. The admin command alone makes them.'`
    yield* sql`CREATE INDEX top_up_attention ON top_up (id COLLATE "C" DESC) WHERE attention IS NOT NULL`
  }),
  "0003_markups": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`ALTER TABLE account ADD COLUMN markup_bp integer NOT NULL DEFAULT 0 CHECK (markup_bp > -10000)`
  }),
  // `origin` names the database and the files of its tables, so that a restored or replaced table never meets a checkpoint of another.
  // `tip` is the digest of the last transfer that the checkpoint covers.
  "0004_ledger_checkpoint": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE ledger_checkpoint (
      single boolean PRIMARY KEY DEFAULT true CHECK (single),
      origin text NOT NULL,
      through bigint NOT NULL,
      requests_from text NOT NULL,
      tip numeric NOT NULL,
      transfers bigint NOT NULL,
      transfers_digest numeric NOT NULL,
      sums_digest numeric NOT NULL,
      proved_at timestamptz NOT NULL,
      whole_at timestamptz NOT NULL
    )`
    yield* sql`COMMENT ON TABLE ledger_checkpoint IS 'How far the books are proved; at most one row, which only a verification without a failure writes'`
    yield* sql`CREATE TABLE ledger_checkpoint_sum (
      account_id text NOT NULL,
      what text NOT NULL,
      amount bigint NOT NULL,
      PRIMARY KEY (account_id, what)
    ) WITH (fillfactor = 70)`
    yield* sql`COMMENT ON TABLE ledger_checkpoint_sum IS 'What the money, play money and budget periods of each account come to at the checkpoint'`
    yield* sql`CREATE TABLE ledger_verification (
      single boolean PRIMARY KEY DEFAULT true CHECK (single),
      begun_at timestamptz NOT NULL,
      at timestamptz,
      whole_at timestamptz,
      duration_ms integer NOT NULL DEFAULT 0,
      failed text[] NOT NULL DEFAULT '{}'
    )`
    yield* sql`COMMENT ON TABLE ledger_verification IS 'The outcome of the last verification of the books; at most one row'`
    // Refunds are rare, so the ledger's usual path writes nothing for this index.
    yield* sql`CREATE INDEX transfer_refund ON transfer (request_id) WHERE kind = 'refund'`
  }),
  "0005_session_origins": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`ALTER TABLE owner_session ADD COLUMN browser text, ADD COLUMN address text`
    yield* sql`DROP INDEX owner_session_account`
    yield* sql`CREATE INDEX owner_session_account ON owner_session (account_id, id COLLATE "C" DESC)`
  }),
  // PostgreSQL's defaults wait for a fifth of a table. Every request leaves one dead row when it closes, and a dead entry in the index of
  // open holds, which sweeps and verifications read: at 10,000,000 receipts the default lets 2,000,000 of them pile up. A hundredth is
  // still rare enough for a vacuum that reads all indexes of the table. Transfers are only inserted; a vacuum marks their pages
  // visible, which sums over an index need. Balances and budget periods are few and hot, so a vacuum of them is short and never pauses.
  "0006_autovacuum": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`ALTER TABLE request SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 20000,
      autovacuum_vacuum_insert_scale_factor = 0.05)`
    yield* sql`ALTER TABLE transfer SET (autovacuum_vacuum_insert_scale_factor = 0.05)`
    for (const table of ["balance", "play_balance", "budget_period"]) {
      yield* sql`ALTER TABLE ${sql(table)} SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0)`
    }
  }),
  // The table `notice` holds notifications of owners; `letter` holds the emails, each about one or more of them.
  "0007_notices": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    for (const statement of statementsIn(readSql(later, "notices.sql"))) yield* sql.unsafe(statement)
  }),
  "0008_billing_details": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE billing_details (
      account_id text PRIMARY KEY REFERENCES account,
      company_name text,
      address_lines text[] NOT NULL DEFAULT '{}',
      tax_id text
    )`
    yield* sql`COMMENT ON TABLE billing_details IS 'What statements say of the company behind an account'`
  }),
  // `version` changes with the plan, so that nodes notice that the prices they keep of it are outdated.
  "0009_price_plans": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE price_plan (
      id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
      name text NOT NULL,
      markup_bp integer NOT NULL DEFAULT 0 CHECK (markup_bp > -10000),
      prices jsonb NOT NULL DEFAULT '[]',
      requests_per_minute integer CHECK (requests_per_minute > 0),
      running_videos integer CHECK (running_videos > 0),
      running_batches integer CHECK (running_batches > 0),
      daily_spend bigint CHECK (daily_spend >= 0),
      version integer NOT NULL DEFAULT 1,
      created_at timestamptz NOT NULL DEFAULT now()
    )`
    yield* sql`COMMENT ON TABLE price_plan IS 'Named price plans: a markup, fixed prices and limits for the accounts that belong to them'`
    yield* sql`CREATE UNIQUE INDEX price_plan_name ON price_plan (lower(name))`
    yield* sql`ALTER TABLE account ADD COLUMN plan_id text REFERENCES price_plan, ADD COLUMN daily_budget_id text REFERENCES budget`
    yield* sql`CREATE INDEX account_plan ON account (plan_id) WHERE plan_id IS NOT NULL`
    yield* sql`ALTER TABLE budget DROP CONSTRAINT budget_scope_check,
      ADD CONSTRAINT budget_scope_check CHECK (scope IN ('account', 'key', 'project'))`
    yield* sql`COMMENT ON TABLE budget IS 'Spending limits of keys and projects, and the daily ones of accounts by their plans'`
    yield* sql`CREATE TABLE operator_event (
      id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
      type text NOT NULL,
      actor_id text NOT NULL,
      resource_type text NOT NULL,
      resource_id text NOT NULL,
      request_id text,
      changes jsonb NOT NULL DEFAULT '{}',
      effective_at timestamptz NOT NULL DEFAULT now()
    )`
    yield* sql`COMMENT ON TABLE operator_event IS 'What operators changed that concerns no single account; never updated'`
    yield* sql`CREATE TRIGGER operator_event_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON operator_event
      FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only()`
  }),
  // Commits with a notification wait for each other, so only work that is rare beside requests sends one.
  "0010_wakeups": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql.unsafe(`CREATE FUNCTION work_arrives() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_notify('tollgate_work', TG_ARGV[0]); RETURN NULL; END $$`)
    for (const [table, work] of Object.entries({
      webhook_delivery: "webhooks",
      budget_crossing: "budgets",
      job: "jobs",
      notice: "letters",
      letter: "letters"
    })) {
      yield* sql`CREATE TRIGGER work_arrives AFTER INSERT ON ${sql(table)} FOR EACH STATEMENT
        EXECUTE FUNCTION work_arrives(${sql.literal(`'${work}'`)})`
    }
  }),
  // One row per node, so that nodes never wait for each other. An empty provider stands for all of them.
  "0011_provider_spend": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE provider_spend_limit (
      provider text PRIMARY KEY,
      limit_nano bigint NOT NULL CHECK (limit_nano >= 0)
    )`
    yield* sql`COMMENT ON TABLE provider_spend_limit IS 'Bounds on what each provider, and all together, may cost in a UTC day'`
    yield* sql`CREATE TABLE provider_spend (
      day date NOT NULL,
      provider text NOT NULL,
      node text NOT NULL,
      settled bigint NOT NULL,
      reserved bigint NOT NULL,
      at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (day, provider, node)
    ) WITH (fillfactor = 50)`
    yield* sql`COMMENT ON TABLE provider_spend IS 'What the requests of each node cost at a provider in a day, and what running ones may cost at most'`
  }),
  "0012_operator_sessions": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE operator_session (
      id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
      key_id text NOT NULL REFERENCES operator_key,
      hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
      browser text,
      address text,
      created_at timestamptz NOT NULL DEFAULT now(),
      seen_at timestamptz NOT NULL DEFAULT now()
    )`
    yield* sql`COMMENT ON TABLE operator_session IS 'Console sessions of operators. Each acts with the key that began it.'`
    // Changes by operators are few beside those of owners and keys, and are listed across all accounts.
    yield* sql`CREATE INDEX audit_event_operator ON audit_event (id COLLATE "C" DESC) WHERE actor_type = 'operator'`
  }),
  // `credited_cents` differs from `amount_cents` where an operator credited another amount. `attention_session` is the checkout that
  // `attention` is about, which may be another than the top-up's own.
  "0013_top_up_decisions": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`ALTER TABLE top_up ADD COLUMN attention_session text,
      ADD COLUMN credited_cents integer CHECK (credited_cents > 0),
      ADD CONSTRAINT top_up_credited CHECK (credited_cents IS NULL OR status = 'paid')`
    yield* sql`UPDATE top_up SET attention_session = substring(attention FROM '^another checkout was paid for it: (.+)$')
      WHERE attention LIKE 'another checkout was paid for it: %'`
    yield* sql`CREATE TABLE top_up_decision (
      account_id text NOT NULL REFERENCES account,
      top_up_id text NOT NULL REFERENCES top_up,
      reference text NOT NULL,
      action text NOT NULL CHECK (action IN ('settled', 'dismissed')),
      attention text NOT NULL,
      amount bigint NOT NULL,
      reason text NOT NULL,
      actor_id text NOT NULL,
      decided_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (account_id, top_up_id, reference)
    )`
    yield* sql`COMMENT ON TABLE top_up_decision IS 'What operators decided about top-ups that needed them; never updated'`
    yield* sql`CREATE TRIGGER top_up_decision_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON top_up_decision
      FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only()`
  }),
  // Nodes of the version before know neither the column nor the table. Their rollups leave the column as it is, and a trigger fills the
  // table, so a rollup by any node loses nothing. The trigger fires for the rare request with such an attempt alone.
  "0014_attempt_costs": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    for (const statement of statementsIn(readSql(later, "attempt_costs.sql"))) yield* sql.unsafe(statement)
  }),
  "0015_spend_wakeups": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TRIGGER work_arrives AFTER INSERT OR UPDATE OR DELETE ON provider_spend_limit FOR EACH STATEMENT
      EXECUTE FUNCTION work_arrives('spend')`
  }),
  // A share of this table grows without end, because receipts are never deleted. With 10,000,000 of them, vacuum came only after the next
  // checkpoint. PostgreSQL then wrote six times as many whole pages to its log as for an empty database. A vacuum of 20,000 dead rows
  // skips older pages by the visibility map. It skips the indexes while fewer than a fiftieth of the pages have dead rows.
  "0016_vacuum_by_number": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`ALTER TABLE request SET (autovacuum_vacuum_scale_factor = 0)`
  }),
  // Nodes of the version before publish no grants, so beside them a bound is as exact as it was.
  "0017_spend_grants": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`ALTER TABLE provider_spend ADD COLUMN granted bigint NOT NULL DEFAULT 0`
  })
}
