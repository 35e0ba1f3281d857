-- How the sweep ends a request that is past its time: the idempotency key stays taken, and nothing happens if another end came first.
'request_id', request_id, 'account_id', account_id, 'only_if_expired', true, 'status', 'failed', 'keep_claim', true
