-- Closes a single request the way `ledger_commit` would; `hold.sql` names the gain. Returns what it settled and absorbed, and the
-- account's money afterwards, posted and held. Returns NULL, with nothing changed, when the request is not open, counts towards a
-- budget or is paid with simulated money.
-- It changes the balance first, by the amounts in the request's row at that moment. While it waits for the balance, these may change. So
-- it writes the request only if they are unchanged, and otherwise restores the balance.
CREATE OR REPLACE FUNCTION ledger_close(account text, request text, settle boolean, cost bigint, status text, resolved_model text,
  provider text, closed jsonb, keep_claim boolean, answer jsonb)
RETURNS bigint[]
LANGUAGE plpgsql
AS $$
DECLARE
  moment timestamptz;
  posted_after bigint;
  held_after bigint;
  freed bigint;
  so_far bigint;
  due bigint;
  paid bigint;
BEGIN
  -- `|| ''` keeps the other conditions from choosing the index: only the one on ids fits.
  UPDATE balance AS b SET held = b.held - r.held, posted = b.posted -
      -- include: rules/settled.sql
    FROM request AS r CROSS JOIN (SELECT settle AS settle, cost AS cost) AS o
    WHERE b.account_id = account AND b.held >= r.held AND r.id = request AND r.account_id || '' = account
      AND r.state || '' = 'open' AND
      -- include: rules/plain_request.sql
    RETURNING b.posted, b.held, r.held, r.progress,
      -- include: rules/due.sql
      ,
      -- include: rules/settled.sql
    INTO posted_after, held_after, freed, so_far, due, paid;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  moment := clock_timestamp();
  UPDATE request AS r SET
      -- include: rules/closed.sql
    FROM (SELECT settle AS settle, paid AS settled, due - paid AS absorbed, status AS status, resolved_model AS resolved_model,
      provider AS provider, closed AS closed, answer AS answer, posted_after AS money, keep_claim AS keep_claim) AS n
    WHERE r.id = request AND r.state || '' = 'open' AND r.held = freed AND r.progress = so_far;
  IF NOT FOUND THEN
    UPDATE balance AS b SET held = b.held + freed, posted = b.posted + paid WHERE b.account_id = account;
    RETURN NULL;
  END IF;
  IF paid > 0 THEN
    -- include: rules/settle_transfer.sql
    FROM (SELECT request AS id, paid AS settled) AS n;
  END IF;
  RETURN ARRAY[paid, due - paid, posted_after, held_after];
END $$;
