-- Writes the requests of the group.
IF held_ord IS NOT NULL THEN
  INSERT INTO request (
      -- include: rules/opened_columns.sql
      , state, status, closed_at, settled, budgets, play)
    SELECT
      -- include: rules/opened_values.sql
      , CASE WHEN n.charge THEN 'settled' ELSE 'open' END, CASE WHEN n.charge THEN 'succeeded' ELSE 'open' END,
      CASE WHEN n.charge THEN moment END, CASE WHEN n.charge THEN n.amount ELSE 0 END, COALESCE(n.budgets, '{}'),
      CASE WHEN n.plays THEN true END
    FROM (
      SELECT u.amount, u.plays, o.request_id AS id, o.*
      FROM unnest(held_ord, held_amount, held_plays) AS u(ord, amount, plays)
      CROSS JOIN LATERAL jsonb_to_record(operations -> (u.ord - 1)) AS o(request_id text, account_id text, key_id text,
        project_id text, operation text, model text, charge boolean, ttl_ms bigint, budgets text[], opened jsonb,
        idempotency_key text, claim text, fingerprint text)
    ) AS n;
  late_before := ledger_late_before(moment);
  IF late_before > ANY (all_requests) THEN
    INSERT INTO usage_pending (account_id, request_id) SELECT o ->> 'account_id', o ->> 'request_id'
      FROM unnest(held_ord) AS n(ord) CROSS JOIN LATERAL (SELECT operations -> (n.ord - 1)) AS one(o)
      WHERE o ->> 'request_id' < late_before;
  END IF;
END IF;
IF closed_ord IS NOT NULL THEN
  WITH n AS MATERIALIZED (
    SELECT u.*, o.* FROM unnest(closed_ord, closed_id, closed_settled, closed_absorbed, closed_money)
      AS u(ord, id, settled, absorbed, money)
    CROSS JOIN LATERAL jsonb_to_record(operations -> (u.ord - 1)) AS o(settle boolean, status text, only_if_expired boolean,
      resolved_model text, provider text, closed jsonb, answer jsonb, keep_claim boolean)
  )
  UPDATE request r SET expired = n.only_if_expired,
      -- include: rules/closed.sql
    FROM n WHERE r.id = n.id AND r.id = ANY (closed_id);
END IF;
IF extended_ord IS NOT NULL THEN
  WITH n AS MATERIALIZED (
    SELECT u.*, o.* FROM unnest(extended_ord, extended_id, extended_by) AS u(ord, id, more)
    CROSS JOIN LATERAL jsonb_to_record(operations -> (u.ord - 1)) AS o(progress bigint, ttl_ms bigint, so_far jsonb)
  )
  UPDATE request r SET held = r.held + n.more, progress = LEAST(GREATEST(r.progress, n.progress), r.held + n.more),
      expires_at = moment + n.ttl_ms * interval '1 millisecond',
      opened = CASE WHEN n.so_far IS NOT NULL AND n.progress >= r.progress
        THEN r.opened || jsonb_build_object('soFar', n.so_far) ELSE r.opened END
    FROM n WHERE r.id = n.id AND r.id = ANY (extended_id);
END IF;
