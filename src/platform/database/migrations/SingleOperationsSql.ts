import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Takes a single hold the way `ledger_commit` would, in two statements and without any JSON but the request's own. The fixed cost of a
 * group is most of the cost of one operation. Returns NULL, with nothing changed, in every case that is not plain: less money than the
 * hold might take, an inactive key or other budgets, an overdue hold of the account. Fails with a unique violation when its request or
 * its claim already exists. `ledger_commit` decides all of these. The balance is locked first, which waits for the current holder of
 * the account's lock. The statement that reads the key begins after that, so it sees a revocation that has committed meanwhile.
 */
const ledgerHold = `
CREATE FUNCTION ledger_hold(account text, request text, key text, project text, operation text, model text, amount bigint,
  ttl_ms bigint, epoch int, opened jsonb, idempotency_key text, claim text, fingerprint text)
RETURNS bigint
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $hold$
DECLARE
  moment timestamptz;
BEGIN
  UPDATE balance AS b SET held = b.held + amount WHERE b.account_id = account AND b.posted - b.held >= amount;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  moment := clock_timestamp();
  INSERT INTO request (id, account_id, key_id, project_id, operation, model, state, status, expires_at, held, opened,
      idempotency_key, claim, fingerprint)
    SELECT request, account, k.id, project, operation, model, 'open', 'open', moment + ttl_ms * interval '1 millisecond', amount,
      opened, idempotency_key, claim, fingerprint
    FROM api_key AS k
    WHERE k.id = key AND k.account_id = account AND k.revoked_at IS NULL AND COALESCE(k.expires_at > moment, true)
      AND k.budgets_epoch = epoch
      -- Not asked by NOT EXISTS, for which a plan may read the whole table at once.
      AND (SELECT count(*) FROM request AS r WHERE r.account_id = account AND r.state = 'open' AND r.expires_at <= moment) = 0;
  IF NOT FOUND THEN
    UPDATE balance AS b SET held = b.held - amount WHERE b.account_id = account;
    RETURN NULL;
  END IF;
  RETURN amount;
END $hold$`

/**
 * Closes a single request in the same way. Returns what it settled and absorbed, and the account's money afterwards, posted and held.
 * Returns NULL, with nothing changed, when the request is not open or counts towards a budget. The balance is changed first, by the
 * amounts that the request shows at that moment. Waiting for the balance may make these outdated. So the request is written only if
 * they are unchanged; otherwise the balance is restored.
 */
const ledgerClose = `
CREATE FUNCTION ledger_close(account text, request text, settle boolean, cost bigint, status text, resolved_model text,
  provider text, closed jsonb, keep_claim boolean, answer jsonb)
RETURNS bigint[]
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $close$
DECLARE
  money bigint;
  promised bigint;
  freed bigint;
  so_far bigint;
  due bigint;
  paid bigint;
BEGIN
  -- What is asked of the request beside its id must not choose the index.
  UPDATE balance AS b SET held = b.held - r.held,
      posted = b.posted - CASE WHEN settle THEN LEAST(COALESCE(cost, r.progress), r.held) ELSE 0 END
    FROM request AS r
    WHERE b.account_id = account AND b.held >= r.held
      AND r.id = request AND r.account_id || '' = account AND r.state || '' = 'open' AND r.budgets = '{}'
    RETURNING b.posted, b.held, r.held, r.progress INTO money, promised, freed, so_far;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  due := CASE WHEN settle THEN COALESCE(cost, so_far) ELSE 0 END;
  paid := LEAST(due, freed);
  UPDATE request AS r SET state = CASE WHEN settle THEN 'settled' ELSE 'released' END, status = ledger_close.status,
      closed_at = clock_timestamp(), settled = paid, absorbed = due - paid, resolved_model = ledger_close.resolved_model,
      provider = ledger_close.provider, closed = ledger_close.closed,
      answer = jsonb_set(ledger_close.answer, '{posted}', to_jsonb(money::text)), claim = CASE WHEN keep_claim THEN r.claim END
    WHERE r.id = request AND r.state || '' = 'open' AND r.held = freed AND r.progress = so_far;
  IF NOT FOUND THEN
    UPDATE balance AS b SET held = b.held + freed, posted = b.posted + paid WHERE b.account_id = account;
    RETURN NULL;
  END IF;
  IF paid > 0 THEN
    INSERT INTO transfer (debit, credit, amount, kind, request_id) VALUES (account, 'house:revenue', paid, 'settle', request);
  END IF;
  RETURN ARRAY[paid, due - paid, money, promised];
END $close$`

/** Adds the ledger's statements for the most common group under light load: one plain operation. */
export const singleOperations = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(ledgerHold)
  yield* sql.unsafe(ledgerClose)
})
