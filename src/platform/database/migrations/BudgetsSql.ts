import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ledgerCommit } from "../LedgerCommitSql.ts"

/**
 * Nodes cache for a while which budgets a key's holds count towards. The key's epoch tells the ledger whether a node's cache is
 * current. The epoch changes with the key's budget, its project, and its project's budget.
 */
const keyEpoch = `
CREATE FUNCTION api_key_budgets_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  NEW.budgets_epoch := OLD.budgets_epoch + 1;
  RETURN NEW;
END $$`

/**
 * Locks the project: if it gets another budget at the same instant, the change must include the key that is joining it, and the key
 * must get that budget.
 */
const keyProject = `
CREATE FUNCTION api_key_comes_into_project() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  PERFORM 1 FROM project WHERE id = NEW.project_id FOR SHARE;
  RETURN NEW;
END $$`

const projectEpoch = `
CREATE FUNCTION project_budget_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE api_key SET budgets_epoch = budgets_epoch + 1 WHERE project_id = NEW.id AND revoked_at IS NULL;
  RETURN NULL;
END $$`

/**
 * A rotated key that still works has the budget, the project and the routing of the key that replaces it. Otherwise the two would have
 * two budgets, and the limits of the project would not apply to the old key. Keys between the two may have stopped earlier.
 */
const rotatedKeys = `
CREATE FUNCTION api_key_is_as_its_successor() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  WITH RECURSIVE successor AS (
    SELECT id, replaced_by FROM api_key WHERE account_id = NEW.account_id AND kind = 'inference' AND revoked_at IS NULL
      AND COALESCE(expires_at, 'infinity'::timestamptz) > now() AND replaced_by IS NOT NULL
    UNION ALL SELECT s.id, k.replaced_by FROM successor s JOIN api_key k ON k.id = s.replaced_by WHERE k.replaced_by IS NOT NULL
  ) UPDATE api_key k SET budget_id = NEW.budget_id, project_id = NEW.project_id, routing = NEW.routing
    FROM successor s WHERE k.id = s.id AND s.replaced_by = NEW.id;
  RETURN NULL;
END $$`

/**
 * Takes a hold out of another open hold of the same account. The source hold gives what it has beyond its progress, up to the wanted
 * amount and within its own budget periods. Where it has less than the required minimum, the account's balance covers the rest, unless
 * the caller's budgets have changed: money that was not held before obeys the current ones. What cannot be taken this way is an
 * ordinary hold, as is one with a source that is no longer open; `ledger_commit` answers those.
 */
const ledgerCarve = `
CREATE OR REPLACE FUNCTION ledger_carve(parent text, child jsonb)
RETURNS TABLE (place int, verdict text, detail text, result bigint, beside bigint, money bigint, promised bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $carve$
#variable_conflict use_column
DECLARE
  account CONSTANT text := child ->> 'account_id';
  needed CONSTANT bigint := (child ->> 'at_least')::bigint;
  wanted CONSTANT bigint := CASE WHEN (child ->> 'charge')::boolean THEN needed ELSE GREATEST(needed, (child ->> 'up_to')::bigint) END;
  own record;
  given bigint;
BEGIN
  PERFORM 1 FROM balance WHERE account_id = account FOR UPDATE;
  SELECT r.held - r.progress AS room, r.budgets INTO own FROM request r
    WHERE r.id = parent AND r.account_id = account AND r.state = 'open' AND r.expires_at > clock_timestamp()
      AND NOT EXISTS (SELECT FROM request c WHERE c.id = child ->> 'request_id')
      AND (r.held - r.progress >= needed OR ledger_budgets(r.budgets) IS NOT DISTINCT FROM
        ledger_budgets(ARRAY(SELECT jsonb_array_elements_text(child -> 'budgets'))));
  IF FOUND THEN
    given := LEAST(wanted, own.room);
    BEGIN
      UPDATE balance SET held = held - given WHERE account_id = account;
      UPDATE budget_period SET held = held - given
        WHERE budget_id = ANY (SELECT split_part(b, ':', 1) FROM unnest(own.budgets) AS b)
          AND budget_id || ':' || period_start = ANY (own.budgets);
      UPDATE request SET held = held - given WHERE id = parent;
      RETURN QUERY SELECT * FROM ledger_commit(jsonb_build_array(
        child || jsonb_build_object('budgets', own.budgets, 'up_to', GREATEST(needed, given)))) AS c WHERE c.verdict = 'granted';
      IF FOUND THEN RETURN; END IF;
      RAISE EXCEPTION SQLSTATE 'TG001';
    EXCEPTION WHEN SQLSTATE 'TG001' THEN NULL;
    END;
  END IF;
  RETURN QUERY SELECT * FROM ledger_commit(jsonb_build_array(child));
END $carve$`

/**
 * Spending may cross a threshold of a budget. The transaction that spends records that, once per period, and the owner is notified
 * afterwards. Every spend checks it, because the limit may have been lowered in between. A remainder below one cent and below a
 * hundredth of the budget counts as zero: no request may fit into it, so the budget would never be spent completely.
 */
const crossings = `
CREATE FUNCTION budget_period_is_spent() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO budget_crossing (budget_id, period_start, threshold_percent, limit_nano, spent)
    SELECT NEW.budget_id, NEW.period_start, t.percent, b.limit_nano, NEW.spent
    FROM budget b CROSS JOIN (VALUES (80), (100)) AS t(percent)
    WHERE b.id = NEW.budget_id AND (NEW.spent >= b.limit_nano::numeric * t.percent / 100
      OR t.percent = 100 AND NEW.spent > b.limit_nano - LEAST(10000000, b.limit_nano / 100))
    ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$`

/** Adds budgets of keys and of projects, and the record of their notifications. */
export const budgets = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // The owner of a budget, also after its key or project is gone, because spending may still be reported.
  yield* sql`ALTER TABLE budget ADD COLUMN owner_id text`
  yield* sql`UPDATE budget SET owner_id = k.id FROM api_key k WHERE k.budget_id = budget.id`
  yield* sql`ALTER TABLE api_key ADD COLUMN budgets_epoch integer NOT NULL DEFAULT 0`
  yield* sql`CREATE INDEX api_key_budget ON api_key (budget_id) WHERE budget_id IS NOT NULL`
  for (const definition of [keyEpoch, keyProject, projectEpoch, rotatedKeys]) yield* sql.unsafe(definition)
  yield* sql`CREATE TRIGGER api_key_budgets_change BEFORE UPDATE OF budget_id, project_id ON api_key FOR EACH ROW
    WHEN (NEW.budget_id IS DISTINCT FROM OLD.budget_id OR NEW.project_id IS DISTINCT FROM OLD.project_id)
    EXECUTE FUNCTION api_key_budgets_change()`
  yield* sql`CREATE TRIGGER api_key_made_in_project BEFORE INSERT ON api_key FOR EACH ROW
    WHEN (NEW.project_id IS NOT NULL) EXECUTE FUNCTION api_key_comes_into_project()`
  yield* sql`CREATE TRIGGER api_key_moved_into_project BEFORE UPDATE OF project_id ON api_key FOR EACH ROW
    WHEN (NEW.project_id IS NOT NULL AND NEW.project_id IS DISTINCT FROM OLD.project_id)
    EXECUTE FUNCTION api_key_comes_into_project()`
  yield* sql`CREATE TRIGGER api_key_rotated AFTER UPDATE OF budget_id, project_id, routing ON api_key FOR EACH ROW
    WHEN (NEW.budget_id IS DISTINCT FROM OLD.budget_id OR NEW.project_id IS DISTINCT FROM OLD.project_id
      OR NEW.routing::text IS DISTINCT FROM OLD.routing::text)
    EXECUTE FUNCTION api_key_is_as_its_successor()`
  yield* sql`CREATE TRIGGER project_budget_change AFTER UPDATE OF budget_id ON project FOR EACH ROW
    WHEN (NEW.budget_id IS DISTINCT FROM OLD.budget_id) EXECUTE FUNCTION project_budget_change()`
  // A batch stores the principal that created it. Batches from before the epochs have no epoch, so their first hold reads the budgets.
  yield* sql`UPDATE batch SET principal = (principal - 'budget') || '{"budgets": [], "budgetsEpoch": -1}'
    WHERE principal ? 'budget' OR NOT principal ? 'budgets'`
  yield* sql`CREATE FUNCTION ledger_budgets(budgets text[]) RETURNS text[] LANGUAGE sql IMMUTABLE AS
    $$ SELECT array_agg(split_part(b, ':', 1) ORDER BY b) FROM unnest(budgets) AS b $$`
  for (const definition of [ledgerCommit, ledgerCarve]) yield* sql.unsafe(definition)

  yield* sql`CREATE TABLE budget_crossing (
    budget_id text NOT NULL,
    period_start date NOT NULL,
    threshold_percent integer NOT NULL CHECK (threshold_percent IN (80, 100)),
    limit_nano bigint NOT NULL,
    spent bigint NOT NULL,
    crossed_at timestamptz NOT NULL DEFAULT now(),
    told_at timestamptz,
    PRIMARY KEY (budget_id, period_start, threshold_percent)
  )`
  yield* sql`CREATE INDEX budget_crossing_untold ON budget_crossing (crossed_at) WHERE told_at IS NULL`
  yield* sql.unsafe(crossings)
  yield* sql`CREATE TRIGGER budget_period_begun AFTER INSERT ON budget_period FOR EACH ROW
    WHEN (NEW.spent > 0) EXECUTE FUNCTION budget_period_is_spent()`
  yield* sql`CREATE TRIGGER budget_period_spent AFTER UPDATE OF spent ON budget_period FOR EACH ROW
    WHEN (NEW.spent > OLD.spent) EXECUTE FUNCTION budget_period_is_spent()`
})
