account_id, width, start, model, provider, operation, status,
requests, prompt, cached, cache_write, completion, reasoning, cost, latency_us, timed
