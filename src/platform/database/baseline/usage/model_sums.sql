-- Adds to the sums of models.
SELECT account_id, width, start, model, provider, operation, status,
  sum(requests), sum(prompt), sum(cached), sum(cache_write), sum(completion), sum(reasoning), sum(cost), sum(latency_us),
  sum(timed)
FROM written GROUP BY account_id, width, start, model, provider, operation, status
ON CONFLICT (account_id, width, start, model, provider, operation, status) DO UPDATE
  SET requests = known.requests + EXCLUDED.requests, prompt = known.prompt + EXCLUDED.prompt,
    cached = known.cached + EXCLUDED.cached, cache_write = known.cache_write + EXCLUDED.cache_write,
    completion = known.completion + EXCLUDED.completion, reasoning = known.reasoning + EXCLUDED.reasoning,
    cost = known.cost + EXCLUDED.cost, latency_us = known.latency_us + EXCLUDED.latency_us,
    timed = known.timed + EXCLUDED.timed;
