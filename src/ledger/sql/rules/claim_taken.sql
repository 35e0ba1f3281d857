-- Whether `r` has the claim `n` of the account. The claim is looked up as a row between itself and itself: only the index on claims
-- serves that, with both of its columns, and any number of accounts may use the same key.
r.claim IS NOT NULL AND (r.claim, r.account_id) BETWEEN (n.claim, account) AND (n.claim, account)
