import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Which budgets a key's holds count towards is remembered by nodes for a while. The key's epoch tells the ledger whether what a
 * node remembers is so still: it changes with the key's budget, its project, and its project's budget.
 */
const keyEpoch = `
CREATE FUNCTION api_key_budgets_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  NEW.budgets_epoch := OLD.budgets_epoch + 1;
  RETURN NEW;
END $$`

/** Budgets of keys and of projects, and what is told of them. */
export const budgets = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Whose it is where nobody has it any more: what was spent of it may still be told.
  yield* sql`ALTER TABLE budget ADD COLUMN owner_id text`
  yield* sql`UPDATE budget SET owner_id = k.id FROM api_key k WHERE k.budget_id = budget.id`
  yield* sql`ALTER TABLE api_key ADD COLUMN budgets_epoch integer NOT NULL DEFAULT 0`
  yield* sql`CREATE INDEX api_key_budget ON api_key (budget_id) WHERE budget_id IS NOT NULL`
  yield* sql.unsafe(keyEpoch)
  yield* sql`CREATE TRIGGER api_key_budgets_change BEFORE UPDATE OF budget_id, project_id ON api_key FOR EACH ROW
    WHEN (NEW.budget_id IS DISTINCT FROM OLD.budget_id OR NEW.project_id IS DISTINCT FROM OLD.project_id)
    EXECUTE FUNCTION api_key_budgets_change()`
})
