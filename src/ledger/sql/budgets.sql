-- Returns the budgets of these periods. A period is the id of a budget and the day it began, as in `0123456789ab:2026-01-31`.
CREATE OR REPLACE FUNCTION ledger_budgets(budgets text[]) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT array_agg(split_part(b, ':', 1) ORDER BY b) FROM unnest(budgets) AS b
$$;
