-- Returns the conclusion of a request that was charged up front and is past its expiry. It gives everything back.
CREATE OR REPLACE FUNCTION ledger_overdue_charge(request_id text, account_id text) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_build_object(
    'closed',
    -- include: rules/hold_expired.sql
    ,
    -- include: rules/expired_end.sql
  )
$$;
