-- Takes a hold out of another open hold of the same account. The source hold gives what it has beyond its progress, up to the wanted
-- amount and within its own budget periods. Where it has less than the required minimum, the account's balance covers the rest, unless
-- the caller's budgets have changed: money that was not held before obeys the current ones. A carved hold is paid with the same kind of
-- money as its source. What cannot be taken this way is an ordinary hold: one with a source that is no longer open, and one that only
-- real money may pay, out of a hold of simulated money. `ledger_commit` answers those.
CREATE OR REPLACE FUNCTION ledger_carve(parent text, child jsonb)
RETURNS TABLE (op_index int, verdict text, detail text, result bigint, beside bigint, money bigint, promised bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
  account CONSTANT text := child ->> 'account_id';
  needed CONSTANT bigint := (child ->> 'at_least')::bigint;
  wanted CONSTANT bigint := CASE WHEN (child ->> 'charge')::boolean THEN needed ELSE GREATEST(needed, (child ->> 'up_to')::bigint) END;
  own record;
  given bigint;
BEGIN
  PERFORM 1 FROM balance WHERE account_id = account FOR UPDATE;
  SELECT r.held - r.progress AS room, r.budgets, r.play INTO own FROM request r
    WHERE r.id = parent AND r.account_id = account AND r.state = 'open' AND r.expires_at > clock_timestamp()
      AND (r.play IS NULL OR child ->> 'paid_by' IS NOT NULL)
      AND NOT EXISTS (SELECT FROM request c WHERE c.id = child ->> 'request_id')
      AND (r.held - r.progress >= needed OR ledger_budgets(r.budgets) IS NOT DISTINCT FROM
        ledger_budgets(ARRAY(SELECT jsonb_array_elements_text(child -> 'budgets'))));
  IF FOUND THEN
    given := LEAST(wanted, own.room);
    BEGIN
      IF own.play THEN
        UPDATE play_balance SET held = held - given WHERE account_id = account;
      ELSE
        UPDATE balance SET held = held - given WHERE account_id = account;
      END IF;
      UPDATE budget_period SET held = held - given
        WHERE budget_id = ANY (SELECT split_part(b, ':', 1) FROM unnest(own.budgets) AS b)
          AND budget_id || ':' || period_start = ANY (own.budgets);
      UPDATE request SET held = held - given WHERE id = parent;
      RETURN QUERY SELECT * FROM ledger_commit(jsonb_build_array(
        child || jsonb_build_object('budgets', own.budgets, 'up_to', GREATEST(needed, given),
          'paid_by', CASE WHEN own.play THEN 'play' END))) AS c WHERE c.verdict = 'granted';
      IF FOUND THEN RETURN; END IF;
      RAISE EXCEPTION SQLSTATE 'TG001';
    EXCEPTION WHEN SQLSTATE 'TG001' THEN NULL;
    END;
  END IF;
  RETURN QUERY SELECT * FROM ledger_commit(jsonb_build_array(child));
END $$;
