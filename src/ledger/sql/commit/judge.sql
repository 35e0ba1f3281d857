-- Decides one operation. This file contains every rule for movements of money.
IF op.kind = 'hold' THEN
  IF op.state IS NOT NULL THEN
    -- Its own row exists: an earlier try was committed, and its answer was lost.
    verdict := 'granted';
    result := op.held_now;
  ELSIF op.key_active IS NOT TRUE THEN
    verdict := 'key_inactive';
  ELSIF op.claimed_by IS NOT NULL THEN
    verdict := 'claimed';
    detail := op.claimed_by;
  ELSIF NOT op.key_as_known THEN
    verdict := 'key_changed';
  ELSIF money IS NULL OR need > 0 AND room < need THEN
    verdict := 'refused';
    result := COALESCE(short_of, money - promised);
    beside := money;
    IF op.paid_by = 'either' AND short_of IS NULL THEN
      result := GREATEST(result, play_money - play_promised);
      beside := GREATEST(beside, play_money);
    END IF;
  ELSE
    verdict := 'granted';
    IF op.charge THEN
      result := need;
      spend := need;
    ELSE
      result := GREATEST(need, LEAST(op.up_to, room));
      hold := result;
    END IF;
    held_ord := held_ord || op.ord::int;
    held_amount := held_amount || result;
    held_plays := held_plays || plays;
  END IF;

ELSIF op.kind = 'credit' THEN
  IF money IS NOT NULL AND NOT op.moved THEN
    verdict := 'moved';
    spend := -op.amount;
  END IF;

ELSIF op.kind = 'adjust' THEN
  IF money IS NULL OR op.moved THEN
    NULL;
  ELSIF money + op.amount < promised THEN
    verdict := 'refused';
    result := money - promised;
  ELSE
    verdict := 'moved';
    spend := -op.amount;
  END IF;

ELSIF op.owner IS DISTINCT FROM account THEN
  NULL;

ELSIF op.kind = 'close' THEN
  result := op.settled;
  IF op.state = 'open' THEN
    IF op.overdue OR NOT op.only_if_expired THEN
      verdict := 'closed';
      result := op.pays;
      beside := op.due - op.pays;
      spend := result;
      hold := -op.held_now;
      closed_ord := closed_ord || op.ord::int;
      closed_id := closed_id || op.request_id;
      closed_settled := closed_settled || result;
      closed_absorbed := closed_absorbed || beside;
      closed_money := closed_money || (money - result + CASE WHEN plays THEN real_money ELSE 0 END);
    END IF;
  ELSIF op.expired AND op.absorbed = 0 AND op.settle AND op.cost > op.settled THEN
    -- The hold had expired: what it cost beyond what the expiry charged is the operator's loss.
    UPDATE request SET absorbed = op.cost - op.settled WHERE id = op.request_id;
  END IF;

ELSIF op.kind = 'extend' AND op.state = 'open' THEN
  IF need > 0 AND room < need THEN
    verdict := 'refused';
  ELSE
    verdict := 'extended';
    hold := need;
    extended_ord := extended_ord || op.ord::int;
    extended_id := extended_id || op.request_id;
    extended_by := extended_by || need;
  END IF;

ELSIF op.kind = 'refund' AND NOT op.moved AND op.state = 'settled' AND op.refunded + op.amount <= op.settled THEN
  verdict := 'moved';
  spend := -op.amount;
  UPDATE request SET refunded = refunded + op.amount WHERE id = op.request_id;
END IF;
