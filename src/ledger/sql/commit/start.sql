-- Loads the state of the operation: its account, the kind of money that it moves, the amount that it needs and the available amount.
IF account IS DISTINCT FROM op.account_id THEN
  IF real_money IS NOT NULL THEN
    accounts := accounts || account;
    account_money := account_money || real_money;
    account_promised := account_promised || real_promised;
  END IF;
  account := op.account_id;
  real_money := op.posted;
  real_promised := op.held_all;
  play_money := CASE WHEN op.posted IS NOT NULL THEN COALESCE(op.play_posted, 0) END;
  play_promised := COALESCE(op.play_held, 0);
END IF;
op_index := op.ord - 1;
verdict := 'gone';
detail := NULL;
result := 0;
beside := 0;
spend := 0;
hold := 0;
need := CASE op.kind WHEN 'hold' THEN op.at_least
  WHEN 'extend' THEN GREATEST(op.held + op.more - op.held_now, 0) ELSE 0 END;
plays := op.play IS TRUE;
IF op.kind = 'hold' THEN
  wanted := CASE WHEN op.charge THEN need ELSE GREATEST(need, op.up_to) END;
  room := play_money - play_promised;
  plays := op.paid_by = 'play' OR op.paid_by = 'either' AND play_money > 0
    AND (room >= wanted OR room >= need AND real_money - real_promised < need);
ELSIF op.kind IN ('credit', 'adjust') THEN
  plays := op.source = 'play';
END IF;
plays := COALESCE(plays, false);
money := CASE WHEN plays THEN play_money ELSE real_money END;
promised := CASE WHEN plays THEN play_promised ELSE real_promised END;
room := money - promised;
