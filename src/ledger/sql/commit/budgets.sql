-- Reduces the available amount to what the budgets of the operation allow, and records which budget has less than it needs.
scope := NULL;
short_of := NULL;
IF op.budget_refs <> '{}' THEN
  FOREACH budget_ref IN ARRAY op.budget_refs LOOP
    i := array_position(budget_refs, budget_ref);
    IF i IS NULL THEN
      SELECT g.limit_nano - COALESCE(p.spent + p.held, 0), g.scope INTO left_over, scope FROM budget g
        LEFT JOIN budget_period p ON p.budget_id = split_part(budget_ref, ':', 1) AND p.period_start = split_part(budget_ref, ':', 2)::date
        WHERE g.id = split_part(budget_ref, ':', 1) AND g.account_id = account;
      budget_refs := budget_refs || budget_ref;
      budget_left := budget_left || COALESCE(left_over, 0);
      budget_scope := budget_scope || scope;
      budget_spend := budget_spend || 0::bigint;
      budget_hold := budget_hold || 0::bigint;
      i := cardinality(budget_refs);
    END IF;
    IF budget_left[i] < need AND money - promised >= need AND (detail IS NULL OR budget_scope[i] < detail) THEN
      detail := budget_scope[i];
      short_of := GREATEST(budget_left[i], 0);
    END IF;
    room := LEAST(room, budget_left[i]);
  END LOOP;
END IF;
