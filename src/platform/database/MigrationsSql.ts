import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { ledgerExpiry } from "./LedgerCommitSql.ts"
import { accountStates } from "./migrations/AccountStatesSql.ts"
import { audit } from "./migrations/AuditSql.ts"
import { batches } from "./migrations/BatchesSql.ts"
import { budgets } from "./migrations/BudgetsSql.ts"
import { chargedRequests } from "./migrations/ChargedRequestsSql.ts"
import { claimsFirst } from "./migrations/ClaimsFirstSql.ts"
import { durableWrites } from "./migrations/DurableWritesSql.ts"
import { expiredReceipts } from "./migrations/ExpiredReceiptsSql.ts"
import { files } from "./migrations/FilesSql.ts"
import { firstLedgerCommit } from "./migrations/FirstLedgerCommitSql.ts"
import { jobs, jobSequence } from "./migrations/JobsSql.ts"
import { keys } from "./migrations/KeysSql.ts"
import { lateByStatement } from "./migrations/LateByStatementSql.ts"
import { lighterRules } from "./migrations/LighterRulesSql.ts"
import { margins } from "./migrations/MarginsSql.ts"
import { modelUsage } from "./migrations/ModelUsageSql.ts"
import { owners } from "./migrations/OwnersSql.ts"
import { pages } from "./migrations/PagesSql.ts"
import { plainArrays } from "./migrations/PlainArraysSql.ts"
import { plainGroupsByPlace } from "./migrations/PlainGroupsByPlaceSql.ts"
import { plainGroupsChecked } from "./migrations/PlainGroupsCheckedSql.ts"
import { plainGroups } from "./migrations/PlainGroupsSql.ts"
import { replays } from "./migrations/ReplaysSql.ts"
import { requestFilters } from "./migrations/RequestFiltersSql.ts"
import { requestsByAccount } from "./migrations/RequestsByAccountSql.ts"
import { projects } from "./migrations/ProjectsSql.ts"
import { payments } from "./migrations/PaymentsSql.ts"
import { playMoney } from "./migrations/PlayMoneySql.ts"
import { usageOutcomes } from "./migrations/UsageOutcomesSql.ts"
import { videosLost } from "./migrations/VideosLostSql.ts"
import { videos } from "./migrations/VideosSql.ts"
import { singleOperations } from "./migrations/SingleOperationsSql.ts"
import { sessions } from "./migrations/SessionsSql.ts"
import { webhooks } from "./migrations/WebhooksSql.ts"
import { usageFunctions } from "./UsageFunctionsSql.ts"

/** Migrations in the order they run. Never edit one that has landed; add a new entry instead. */
export const migrations: Record<string, Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient>> = {
  "0001_accounts_and_keys": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE account (
      id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
      email text NOT NULL,
      limit_scale double precision NOT NULL DEFAULT 1 CHECK (limit_scale > 0),
      created_at timestamptz NOT NULL DEFAULT now()
    )`
    yield* sql`CREATE UNIQUE INDEX account_email ON account (lower(email))`
    yield* sql`CREATE TABLE api_key (
      id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
      account_id text NOT NULL REFERENCES account,
      project_id text,
      kind text NOT NULL CHECK (kind IN ('inference', 'management')),
      name text NOT NULL,
      hash bytea NOT NULL CHECK (octet_length(hash) = 32),
      prefix text NOT NULL,
      last4 text NOT NULL,
      scopes text[] NOT NULL DEFAULT '{}',
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz,
      revoked_at timestamptz
    )`
    yield* sql`CREATE UNIQUE INDEX api_key_hash ON api_key (hash)`
    yield* sql`CREATE INDEX api_key_account ON api_key (account_id, id)`
    yield* sql`CREATE TABLE audit_event (
      id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
      account_id text NOT NULL REFERENCES account,
      type text NOT NULL,
      actor_type text NOT NULL,
      actor_id text NOT NULL,
      resource_type text NOT NULL,
      resource_id text NOT NULL,
      request_id text,
      changes jsonb NOT NULL DEFAULT '{}',
      effective_at timestamptz NOT NULL DEFAULT now()
    )`
    yield* sql`CREATE INDEX audit_event_account ON audit_event (account_id, id DESC)`
  }),
  "0002_ledger": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    // posted >= held: money reserved for running requests is never spent twice, whatever the code above does.
    yield* sql`CREATE TABLE balance (
      account_id text PRIMARY KEY REFERENCES account,
      posted bigint NOT NULL DEFAULT 0,
      held bigint NOT NULL DEFAULT 0 CHECK (held >= 0),
      CHECK (posted >= held)
    ) WITH (fillfactor = 50)`
    yield* sql`CREATE TABLE budget (
      id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
      account_id text NOT NULL REFERENCES account,
      scope text NOT NULL CHECK (scope IN ('key', 'project')),
      limit_nano bigint NOT NULL CHECK (limit_nano >= 0),
      period text NOT NULL CHECK (period IN ('daily', 'weekly', 'monthly', 'lifetime'))
    )`
    yield* sql`ALTER TABLE api_key ADD COLUMN budget_id text REFERENCES budget`
    yield* sql`CREATE TABLE budget_period (
      budget_id text NOT NULL REFERENCES budget,
      period_start date NOT NULL,
      spent bigint NOT NULL DEFAULT 0 CHECK (spent >= 0),
      held bigint NOT NULL DEFAULT 0 CHECK (held >= 0),
      PRIMARY KEY (budget_id, period_start)
    ) WITH (fillfactor = 50)`
    // No foreign keys: the ledger's statement inserts only behind locks on the very key and balance rows that they would check.
    yield* sql`CREATE TABLE request (
      id text PRIMARY KEY,
      account_id text NOT NULL,
      key_id text NOT NULL,
      project_id text,
      operation text NOT NULL,
      model text NOT NULL,
      state text NOT NULL CHECK (state IN ('open', 'settled', 'released')),
      status text NOT NULL CHECK (status IN ('open', 'succeeded', 'failed', 'cancelled')),
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      closed_at timestamptz,
      expired boolean NOT NULL DEFAULT false,
      held bigint NOT NULL CHECK (held >= 0),
      progress bigint NOT NULL DEFAULT 0 CHECK (progress >= 0),
      settled bigint NOT NULL DEFAULT 0 CHECK (settled >= 0),
      absorbed bigint NOT NULL DEFAULT 0 CHECK (absorbed >= 0),
      refunded bigint NOT NULL DEFAULT 0 CHECK (refunded >= 0),
      budgets text[] NOT NULL DEFAULT '{}',
      resolved_model text,
      provider text,
      opened jsonb NOT NULL,
      closed jsonb,
      idempotency_key text,
      claim text,
      fingerprint text,
      answer jsonb,
      CHECK (settled <= held),
      CHECK (progress <= held),
      CHECK (refunded <= settled),
      CHECK ((state = 'open') = (closed_at IS NULL))
    ) WITH (fillfactor = 70)`
    // The column that a group of operations names comes first: before PostgreSQL 18 an index helps only from its first column on.
    yield* sql`CREATE UNIQUE INDEX request_claim ON request (claim, account_id) WHERE claim IS NOT NULL`
    yield* sql`CREATE INDEX request_account ON request (account_id, id DESC)`
    yield* sql`CREATE INDEX request_open ON request (expires_at) WHERE state = 'open'`
    yield* sql`CREATE INDEX request_open_account ON request (account_id, expires_at) WHERE state = 'open'`
    yield* sql`CREATE INDEX request_claimed ON request (closed_at) WHERE claim IS NOT NULL AND state <> 'open'`
    yield* sql`CREATE TABLE transfer (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      at timestamptz NOT NULL DEFAULT now(),
      debit text NOT NULL,
      credit text NOT NULL,
      amount bigint NOT NULL CHECK (amount > 0),
      kind text NOT NULL CHECK (kind IN ('settle', 'charge', 'refund', 'credit')),
      request_id text,
      reference text,
      CHECK (debit <> credit)
    )`
    // Only customers' statements are read by account. The house's side would be one huge index range.
    yield* sql`CREATE INDEX transfer_debit ON transfer (debit, id) WHERE left(debit, 6) <> 'house:'`
    yield* sql`CREATE INDEX transfer_credit ON transfer (credit, id) WHERE left(credit, 6) <> 'house:'`
    yield* sql`CREATE UNIQUE INDEX transfer_once ON transfer (request_id, kind) WHERE kind IN ('settle', 'charge')`
    yield* sql`CREATE UNIQUE INDEX transfer_reference ON transfer (reference, kind) WHERE reference IS NOT NULL`
    yield* sql`CREATE FUNCTION transfer_is_append_only() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'transfers are append only'; END $$`
    yield* sql`CREATE TRIGGER transfer_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON transfer
      FOR EACH STATEMENT EXECUTE FUNCTION transfer_is_append_only()`
  }),
  "0003_ledger_commit": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql.unsafe(ledgerExpiry)
    yield* sql.unsafe(firstLedgerCommit)
  }),
  "0004_request_statistics": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    // No query searches these columns. Comparing whole documents kept ANALYZE busy for most of a second, which slowed every commit
    // down.
    for (const column of ["opened", "closed", "answer", "budgets"]) {
      yield* sql`ALTER TABLE request ALTER COLUMN ${sql(column)} SET STATISTICS 0`
    }
  }),
  "0005_presets": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE preset (
      id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
      account_id text NOT NULL REFERENCES account,
      slug text NOT NULL CHECK (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
      name text NOT NULL,
      description text,
      active_version integer NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    )`
    yield* sql`CREATE UNIQUE INDEX preset_slug ON preset (account_id, slug)`
    yield* sql`CREATE INDEX preset_account ON preset (account_id, id DESC)`
    // json keeps the order of members, which a model follows in the schema of its answer. jsonb does not.
    yield* sql`CREATE TABLE preset_version (
      preset_id text NOT NULL REFERENCES preset ON DELETE CASCADE,
      version integer NOT NULL CHECK (version > 0),
      config json NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (preset_id, version)
    )`
    yield* sql`ALTER TABLE preset ADD CONSTRAINT preset_active_version FOREIGN KEY (id, active_version)
      REFERENCES preset_version DEFERRABLE INITIALLY DEFERRED`
    // A version is deleted only with its preset. The preset's row is already gone when the cascade reaches the version.
    yield* sql`CREATE FUNCTION preset_version_is_immutable() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF TG_OP = 'DELETE' THEN
        IF NOT EXISTS (SELECT FROM preset WHERE id = OLD.preset_id) THEN RETURN OLD; END IF;
      END IF;
      RAISE EXCEPTION 'versions of presets never change';
    END $$`
    yield* sql`CREATE TRIGGER preset_version_immutable BEFORE UPDATE OR DELETE ON preset_version
      FOR EACH ROW EXECUTE FUNCTION preset_version_is_immutable()`
    yield* sql`CREATE TRIGGER preset_version_kept BEFORE TRUNCATE ON preset_version
      FOR EACH STATEMENT EXECUTE FUNCTION preset_version_is_immutable()`
  }),
  "0006_live_figures": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    // Each row is written by one node only, so nodes never wait for each other here. A node is one run of a process. A row is rewritten
    // many times within a minute, so the table has no index but the key, and free space on each page lets updates happen in place.
    yield* sql`CREATE TABLE live_figure (
      node text NOT NULL CHECK (node ~ '^[0-9a-f]{24}$'),
      minute integer NOT NULL,
      model text NOT NULL,
      provider text NOT NULL,
      samples integer NOT NULL CHECK (samples > 0),
      ok integer NOT NULL CHECK (ok BETWEEN 0 AND samples),
      streamed integer NOT NULL CHECK (streamed BETWEEN 0 AND ok),
      durations integer[] NOT NULL,
      first_tokens integer[] NOT NULL,
      written_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (minute, node, model, provider)
    ) WITH (fillfactor = 50)`
    // No query searches these columns.
    for (const column of ["durations", "first_tokens"]) {
      yield* sql`ALTER TABLE live_figure ALTER COLUMN ${sql(column)} SET STATISTICS 0`
    }
  }),
  "0007_usage_rollups": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE usage_rollup (
      account_id text NOT NULL,
      width text NOT NULL CHECK (width IN ('hour', 'day')),
      start timestamptz NOT NULL,
      key_id text NOT NULL,
      project_id text,
      model text NOT NULL,
      provider text,
      operation text NOT NULL,
      requests bigint NOT NULL,
      prompt bigint NOT NULL,
      cached bigint NOT NULL,
      cache_write bigint NOT NULL,
      completion bigint NOT NULL,
      reasoning bigint NOT NULL,
      cost bigint NOT NULL,
      newest_at timestamptz NOT NULL
    ) WITH (fillfactor = 70)`
    yield* sql`CREATE UNIQUE INDEX usage_rollup_row ON usage_rollup
      (account_id, width, start, key_id, project_id, model, provider, operation) NULLS NOT DISTINCT`
    // Requests that are in no rollup, whatever their id says: they were still open when the requests around them were rolled up, or
    // they were written late.
    yield* sql`CREATE TABLE usage_pending (
      account_id text NOT NULL,
      request_id text NOT NULL,
      PRIMARY KEY (account_id, request_id)
    )`
    yield* sql`CREATE INDEX usage_pending_request ON usage_pending (request_id)`
    // Refunds that happened after their request may have been rolled up.
    yield* sql`CREATE TABLE usage_refund (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      account_id text NOT NULL,
      request_id text NOT NULL,
      amount bigint NOT NULL
    )`
    yield* sql`CREATE INDEX usage_refund_account ON usage_refund (account_id)`
    yield* sql`CREATE INDEX usage_refund_request ON usage_refund (request_id)`
    // Every request with an id less than `through` is in the rollups or pending.
    yield* sql`CREATE TABLE usage_rollup_state (
      single boolean PRIMARY KEY DEFAULT true CHECK (single),
      through text NOT NULL DEFAULT '',
      safe_at timestamptz NOT NULL DEFAULT '-infinity',
      seen_at timestamptz NOT NULL DEFAULT '-infinity',
      seen_xid xid8 NOT NULL DEFAULT '0'
    )`
    yield* sql`INSERT INTO usage_rollup_state DEFAULT VALUES`
    for (const definition of usageFunctions) yield* sql.unsafe(definition)
    yield* sql`CREATE TRIGGER request_late BEFORE INSERT ON request FOR EACH ROW EXECUTE FUNCTION request_is_late()`
    // Fires when a statement names the column, as a refund does and a close does not.
    yield* sql`CREATE TRIGGER request_refunded AFTER UPDATE OF refunded ON request FOR EACH ROW
      WHEN (NEW.refunded <> OLD.refunded) EXECUTE FUNCTION request_is_refunded()`
  }),
  "0008_charged_requests": chargedRequests,
  "0009_files": files,
  "0010_jobs": jobs,
  "0011_videos": videos,
  "0012_webhooks": webhooks,
  "0013_sessions": sessions,
  "0014_batches": batches,
  "0015_audit": audit,
  "0016_keys": keys,
  "0017_projects": projects,
  "0018_budgets": budgets,
  "0019_owners": owners,
  "0020_payments": payments,
  // PostgreSQL's own sum of bigints goes through numeric, which takes most of the time of summing thousands of groups.
  "0021_total": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE AGGREGATE total(bigint) (SFUNC = int8pl, STYPE = bigint, COMBINEFUNC = int8pl, PARALLEL = SAFE)`
  }),
  "0022_job_sequence": jobSequence,
  "0023_pages": pages,
  "0024_plain_groups": plainGroups,
  "0025_model_usage": modelUsage,
  "0026_plain_groups_by_place": plainGroupsByPlace,
  "0027_plain_groups_checked": plainGroupsChecked,
  "0028_videos_lost": videosLost,
  "0029_single_operations": singleOperations,
  "0030_requests_by_account": requestsByAccount,
  "0031_plain_arrays": plainArrays,
  "0032_claims_first": claimsFirst,
  "0033_lighter_rules": lighterRules,
  "0034_late_by_statement": lateByStatement,
  // The connections that call these functions have the settings themselves (`ownPool` of `Sql.ts`). Before this, each call had to set
  // and restore them.
  "0035_plans_by_connection": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    for (const name of ["ledger_hold", "ledger_close", "ledger_plain"])
      yield* sql`ALTER FUNCTION ${sql(name)} RESET ALL`
  }),
  "0036_request_filters": requestFilters,
  "0037_play_money": playMoney,
  "0038_durable_writes": durableWrites,
  "0039_expired_receipts": expiredReceipts,
  "0040_replays": replays,
  "0041_allowed_tools": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`ALTER TABLE api_key ADD COLUMN allowed_tools text[]`
  }),
  "0042_account_states": accountStates,
  // Money that is taken from an account other than by charges is rare, so the ledger's usual path writes nothing for this index.
  "0043_adjustments_by_account": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE INDEX transfer_adjusted ON transfer (debit, id) WHERE kind = 'adjust'`
  }),
  "0044_usage_outcomes": usageOutcomes,
  "0045_videos_by_account": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE INDEX video_job_by_account ON video_job (account_id, id)`
  }),
  "0046_margins": margins,
  // Each version of the program creates the ledger's functions it calls (`ledger/FunctionsSql.ts`).
  "0047_ledger_versions": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE ledger_version (
      version text PRIMARY KEY,
      used_at timestamptz NOT NULL DEFAULT now()
    )`
    yield* sql`DROP FUNCTION ledger_commit, ledger_hold, ledger_close, ledger_plain, ledger_carve, ledger_conclude, ledger_expiry,
      ledger_overdue_charge, ledger_budgets, request_late_before`
  })
}
