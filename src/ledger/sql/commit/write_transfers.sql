-- Writes the transfers of the group, and what its budgets spent and hold.
IF moved_ord IS NOT NULL THEN
  INSERT INTO transfer (debit, credit, amount, kind, request_id, reference)
    SELECT CASE WHEN n.comes THEN n.house ELSE o.account_id END, CASE WHEN n.comes THEN o.account_id ELSE n.house END,
      CASE WHEN n.comes THEN -n.spend ELSE n.spend END,
      CASE o.kind WHEN 'hold' THEN 'charge' WHEN 'close' THEN 'settle' ELSE o.kind END, o.request_id, o.reference
    FROM unnest(moved_ord, moved_spend, moved_house, moved_comes) AS n(ord, spend, house, comes)
    CROSS JOIN LATERAL jsonb_to_record(operations -> (n.ord - 1)) AS o(kind text, account_id text, request_id text,
      reference text);
END IF;
FOR i IN 1 .. COALESCE(cardinality(budget_refs), 0) LOOP
  CONTINUE WHEN budget_spend[i] = 0 AND budget_hold[i] = 0;
  UPDATE budget_period SET spent = spent + budget_spend[i], held = held + budget_hold[i]
    WHERE budget_id = split_part(budget_refs[i], ':', 1) AND period_start = split_part(budget_refs[i], ':', 2)::date;
  IF NOT FOUND THEN
    INSERT INTO budget_period (budget_id, period_start, spent, held)
      VALUES (split_part(budget_refs[i], ':', 1), split_part(budget_refs[i], ':', 2)::date, budget_spend[i], budget_hold[i]);
  END IF;
END LOOP;
