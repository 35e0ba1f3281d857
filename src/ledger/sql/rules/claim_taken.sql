-- Whether `r` has the claim `n` of the account. The condition compares the row with itself as both bounds. Only the index on claims fits
-- that, with both of its columns, so the lookup is fast even when many accounts use the same key.
r.claim IS NOT NULL AND (r.claim, r.account_id) BETWEEN (n.claim, account) AND (n.claim, account)
