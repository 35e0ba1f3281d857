-- Writes the balances of the group.
UPDATE balance b SET posted = n.money, held = n.promised
  FROM unnest(accounts, account_money, account_promised) AS n(account_id, money, promised)
  WHERE b.account_id = n.account_id AND b.account_id = ANY (accounts) AND (b.posted <> n.money OR b.held <> n.promised);
-- An account occurs once for each of its operations. The last occurrence has its final balance.
IF play_accounts IS NOT NULL THEN
  INSERT INTO play_balance (account_id, posted, held)
    SELECT DISTINCT ON (n.account_id) n.account_id, n.posted, n.held
      FROM unnest(play_accounts, play_posted, play_held) WITH ORDINALITY AS n(account_id, posted, held, ord)
      ORDER BY n.account_id, n.ord DESC
    ON CONFLICT (account_id) DO UPDATE SET posted = EXCLUDED.posted, held = EXCLUDED.held;
END IF;
