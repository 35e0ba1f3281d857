-- Whether the hold of `r` has outlived its time.
r.state = 'open' AND r.expires_at <= moment
