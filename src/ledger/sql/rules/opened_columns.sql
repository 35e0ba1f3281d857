id, account_id, key_id, project_id, operation, model, expires_at, held, opened, idempotency_key, claim, fingerprint
