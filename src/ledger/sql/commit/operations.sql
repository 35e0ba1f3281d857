-- The operations with the rows that decide each, account by account: first those that give money back, then holds and extensions in
-- order of arrival.
SELECT o.*, b.posted, b.held AS held_all, p.posted AS play_posted, p.held AS play_held, r.play, r.account_id AS owner, r.state,
  r.held AS held_now, r.settled, r.refunded, r.absorbed, r.expired, r.expires_at <= moment AS overdue, holder.id AS claimed_by,
  t.id IS NOT NULL AS moved,
  CASE WHEN o.kind = 'hold' THEN o.budgets WHEN r.account_id = o.account_id THEN r.budgets END AS budget_refs,
  k.account_id = o.account_id AND
  -- include: rules/key_works.sql
  AS key_active,
  -- include: rules/due.sql
  AS due,
  -- include: rules/settled.sql
  AS pays,
  COALESCE(k.budgets_epoch = o.budgets_epoch, true) AS key_as_known
FROM ROWS FROM (jsonb_to_recordset(operations) AS (kind text, account_id text, request_id text, key_id text, at_least bigint,
    up_to bigint, charge boolean, paid_by text, budgets text[], budgets_epoch int, claim text, held bigint, more bigint,
    settle boolean, cost bigint, only_if_expired boolean, source text, amount bigint, reference text)) WITH ORDINALITY
  AS o(kind, account_id, request_id, key_id, at_least, up_to, charge, paid_by, budgets, budgets_epoch, claim, held, more,
    settle, cost, only_if_expired, source, amount, reference, ord)
LEFT JOIN balance b ON b.account_id = o.account_id AND b.account_id = ANY (all_accounts)
LEFT JOIN play_balance p ON p.account_id = o.account_id AND p.account_id = ANY (all_accounts)
LEFT JOIN request r ON r.id = o.request_id AND r.id = ANY (all_requests)
-- Written so that only the index on claims fits. The index on accounts would read all requests of an account.
LEFT JOIN request holder ON holder.account_id || '' = o.account_id AND holder.claim = o.claim AND holder.claim = ANY (all_claims)
LEFT JOIN api_key k ON k.id = o.key_id AND k.id = ANY (all_keys)
LEFT JOIN transfer t ON t.kind = o.kind AND t.reference = o.reference
  AND t.kind IN ('credit', 'refund', 'adjust') AND t.reference = ANY (all_references)
ORDER BY o.account_id, o.kind IN ('hold', 'extend'), o.ord
