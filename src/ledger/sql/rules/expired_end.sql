-- The end of an expired request by the sweep: the idempotency key stays claimed, and nothing happens if another end came first.
'request_id', request_id, 'account_id', account_id, 'only_if_expired', true, 'status', 'failed', 'keep_claim', true
