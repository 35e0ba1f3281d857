-- The columns that every end of a request writes to its row. The stored answer shows the account's money afterwards.
status = n.status, closed_at = moment, resolved_model = n.resolved_model, provider = n.provider, closed = n.closed,
answer = jsonb_set(n.answer, '{posted}', to_jsonb(n.money::text)), claim = CASE WHEN n.keep_claim THEN r.claim END
