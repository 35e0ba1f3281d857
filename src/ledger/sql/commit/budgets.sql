-- Narrows the room by the budgets that the operation counts towards, and says which of them is short of what it needs.
scope := NULL;
short_of := NULL;
IF op.purses <> '{}' THEN
  FOREACH purse IN ARRAY op.purses LOOP
    i := array_position(purses, purse);
    IF i IS NULL THEN
      SELECT g.limit_nano - COALESCE(p.spent + p.held, 0), g.scope INTO left_over, scope FROM budget g
        LEFT JOIN budget_period p ON p.budget_id = split_part(purse, ':', 1) AND p.period_start = split_part(purse, ':', 2)::date
        WHERE g.id = split_part(purse, ':', 1) AND g.account_id = account;
      purses := purses || purse;
      purse_left := purse_left || COALESCE(left_over, 0);
      purse_scope := purse_scope || scope;
      purse_spend := purse_spend || 0::bigint;
      purse_hold := purse_hold || 0::bigint;
      i := cardinality(purses);
    END IF;
    IF purse_left[i] < need AND money - promised >= need AND (detail IS NULL OR purse_scope[i] < detail) THEN
      detail := purse_scope[i];
      short_of := GREATEST(purse_left[i], 0);
    END IF;
    room := LEAST(room, purse_left[i]);
  END LOOP;
END IF;
