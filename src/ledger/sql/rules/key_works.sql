-- Whether the key `k` may open a hold at this moment.
k.revoked_at IS NULL AND COALESCE(k.expires_at > moment, true)
