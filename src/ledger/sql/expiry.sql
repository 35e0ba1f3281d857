-- Returns the operation that ends an overdue hold: it settles the progress of the request and releases the rest. The receipt shows that
-- progress as the last extension recorded it, and that the hold expired.
CREATE OR REPLACE FUNCTION ledger_expiry(request_id text, account_id text) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('kind', 'close', 'settle', true,
    'resolved_model', so_far -> 'resolved_model', 'provider', so_far -> 'provider',
    'closed', COALESCE(so_far -> 'closed', '{}') ||
      -- include: rules/hold_expired.sql
    ,
    -- include: rules/expired_end.sql
  )
  FROM (SELECT (SELECT r.opened -> 'soFar' FROM request r WHERE r.id = request_id) AS so_far) AS known
$$;
