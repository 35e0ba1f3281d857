-- Ends a request that was charged up front, once, behind the lock of its account. A refund moves the amount that is given back, in the
-- kind of money that was charged, and the receipt is completed. Without an amount, everything not yet refunded is given back. When a
-- conclusion comes after an expiry has refunded everything, the work was done for nothing and the operator bears its cost. A request that
-- was paid with simulated money reports both kinds as the account's money.
CREATE OR REPLACE FUNCTION ledger_conclude(conclusion jsonb) RETURNS TABLE (concluded boolean, cost bigint, money bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
  account CONSTANT text := conclusion ->> 'account_id';
  request_id CONSTANT text := conclusion ->> 'request_id';
  only_if_expired CONSTANT boolean := (conclusion ->> 'only_if_expired')::boolean;
  moment timestamptz;
  own record;
  back bigint := (conclusion ->> 'refund')::bigint;
  verdict text;
BEGIN
  SELECT posted INTO money FROM balance WHERE account_id = account FOR UPDATE;
  moment := clock_timestamp();
  SELECT r.settled, r.refunded, r.absorbed, r.expired, r.play, r.closed IS NULL AS standing, r.expires_at <= moment AS overdue
    INTO own FROM request r WHERE r.id = request_id AND r.account_id = account AND r.state = 'settled';
  IF own.play THEN
    money := money + (SELECT p.posted FROM play_balance p WHERE p.account_id = account);
  END IF;
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
    UPDATE request r SET expired = only_if_expired,
        -- include: rules/receipt.sql
      FROM (SELECT o.*, money AS money FROM jsonb_to_record(conclusion) AS o(status text, resolved_model text, provider text,
        closed jsonb, answer jsonb, keep_claim boolean)) AS n
      WHERE r.id = request_id;
  ELSIF own.expired AND own.absorbed = 0 AND own.refunded > back THEN
    UPDATE request r SET absorbed = own.refunded - back WHERE r.id = request_id;
  END IF;
  RETURN NEXT;
END $$;
