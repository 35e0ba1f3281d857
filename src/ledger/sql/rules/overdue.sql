-- Whether the hold of `r` is open past its expiry.
r.state = 'open' AND r.expires_at <= moment
