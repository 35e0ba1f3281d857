-- The values that every hold writes to its row, in the order of `opened_columns.sql`.
n.id, n.account_id, n.key_id, n.project_id, n.operation, n.model, moment + n.ttl_ms * interval '1 millisecond', n.amount,
n.opened, n.idempotency_key, n.claim, n.fingerprint
