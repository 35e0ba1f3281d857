-- Adds to the totals of keys. One of the two widths is enough.
SELECT key_id, sum(cost), max(newest_at) FROM written WHERE width = 'day' GROUP BY key_id
ON CONFLICT (key_id) DO UPDATE
  SET cost = known.cost + EXCLUDED.cost, newest_at = GREATEST(known.newest_at, EXCLUDED.newest_at);
