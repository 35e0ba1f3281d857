-- Applies the operation to the running sums, so that the next one sees its effect.
IF spend <> 0 THEN
  money := money - spend;
  moved_ord := moved_ord || op.ord::int;
  moved_spend := moved_spend || spend;
  moved_house := moved_house || CASE WHEN plays THEN 'house:play'
    WHEN op.kind IN ('credit', 'adjust') THEN 'house:' || op.source ELSE 'house:revenue' END;
  moved_comes := moved_comes || (op.kind IN ('credit', 'refund') OR op.kind = 'adjust' AND spend < 0);
END IF;
promised := promised + hold;
IF plays THEN
  IF spend <> 0 OR hold <> 0 THEN
    play_accounts := play_accounts || account;
    play_posted := play_posted || money;
    play_held := play_held || promised;
  END IF;
  play_money := money;
  play_promised := promised;
ELSE
  real_money := money;
  real_promised := promised;
END IF;
IF op.budget_refs <> '{}' AND (spend <> 0 OR hold <> 0) THEN
  FOREACH budget_ref IN ARRAY op.budget_refs LOOP
    i := array_position(budget_refs, budget_ref);
    budget_left[i] := budget_left[i] - spend - hold;
    budget_spend[i] := budget_spend[i] + spend;
    budget_hold[i] := budget_hold[i] + hold;
  END LOOP;
END IF;
-- A request that only doubles can serve may use both kinds of money, so its result reports their sum. A refusal of real money reports
-- the simulated money.
IF verdict = 'refused' THEN
  money := CASE WHEN op.paid_by IS NULL THEN play_money ELSE 0 END;
ELSIF plays THEN
  money := money + real_money;
  promised := promised + real_promised;
END IF;
