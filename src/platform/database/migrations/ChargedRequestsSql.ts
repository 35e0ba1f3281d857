import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Ends a request that was charged up front, once, behind the lock of its account. A refund moves the amount that is given back, and the
 * receipt is completed. Without an amount, everything not yet refunded is given back. When a conclusion comes after an expiry has
 * refunded everything, the work was done for nothing and the house bears its cost.
 */
const ledgerConclude = `
CREATE FUNCTION ledger_conclude(conclusion jsonb) RETURNS TABLE (concluded boolean, cost bigint, money bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $conclude$
#variable_conflict use_column
DECLARE
  account CONSTANT text := conclusion ->> 'account_id';
  request_id CONSTANT text := conclusion ->> 'request_id';
  only_if_expired CONSTANT boolean := (conclusion ->> 'only_if_expired')::boolean;
  own record;
  back bigint := (conclusion ->> 'refund')::bigint;
  verdict text;
BEGIN
  SELECT posted INTO money FROM balance WHERE account_id = account FOR UPDATE;
  SELECT r.settled, r.refunded, r.absorbed, r.expired, r.closed IS NULL AS standing, r.expires_at <= clock_timestamp() AS overdue
    INTO own FROM request r WHERE r.id = request_id AND r.account_id = account AND r.state = 'settled';
  cost := COALESCE(own.settled - own.refunded, 0);
  concluded := COALESCE(own.standing AND (own.overdue OR NOT only_if_expired), false);
  IF concluded THEN
    back := LEAST(back, cost);
    IF back > 0 THEN
      SELECT c.verdict INTO verdict FROM ledger_commit(jsonb_build_array(jsonb_build_object('kind', 'refund',
        'account_id', account, 'request_id', request_id, 'amount', back, 'reference', 'conclude ' || request_id))) AS c;
      IF verdict <> 'moved' THEN RAISE EXCEPTION 'the refund of request % was %', request_id, verdict; END IF;
      cost := cost - back;
      money := money + back;
    END IF;
    UPDATE request r SET status = conclusion ->> 'status', closed_at = clock_timestamp(), expired = only_if_expired,
        resolved_model = conclusion ->> 'resolved_model', provider = conclusion ->> 'provider', closed = conclusion -> 'closed',
        answer = jsonb_set(conclusion -> 'answer', '{posted}', to_jsonb(money::text)),
        claim = CASE WHEN (conclusion ->> 'keep_claim')::boolean THEN r.claim END
      WHERE r.id = request_id;
  ELSIF own.expired AND own.absorbed = 0 AND own.refunded > back THEN
    UPDATE request r SET absorbed = own.refunded - back WHERE r.id = request_id;
  END IF;
  RETURN NEXT;
END $conclude$`

/** Ends a request that was charged up front and has not been heard of for too long. */
const ledgerOverdueCharge = `
CREATE FUNCTION ledger_overdue_charge(request_id text, account_id text) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $overdue$
  SELECT jsonb_build_object('request_id', request_id, 'account_id', account_id, 'only_if_expired', true, 'status', 'failed',
    'keep_claim', true, 'closed', jsonb_build_object('error', jsonb_build_object('_tag', 'HoldExpired')))
$overdue$`

/**
 * Takes a hold out of another open hold of the same account. The source hold gives what it has beyond its progress, up to the wanted
 * amount and within its own budget periods. Where it has less than the required minimum, the account's balance covers the rest. What
 * cannot be taken this way is an ordinary hold, as is one with a source that is no longer open; `ledger_commit` answers those.
 */
const ledgerCarve = `
CREATE FUNCTION ledger_carve(parent text, child jsonb)
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
      AND NOT EXISTS (SELECT FROM request c WHERE c.id = child ->> 'request_id');
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
 * A request that is charged up front is `settled` from the start, and its `closed` is null until it is concluded. These functions stand
 * beside the ledger's one statement, which remains responsible for everything that is held.
 */
export const chargedRequests = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX request_unconcluded ON request (expires_at) WHERE state = 'settled' AND closed IS NULL`
  for (const definition of [ledgerConclude, ledgerOverdueCharge, ledgerCarve]) yield* sql.unsafe(definition)
})
