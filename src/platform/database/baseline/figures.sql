-- Each row is written by one node only, so nodes never wait for each other here. A node is one run of a process. A row is rewritten
-- many times within a minute, so the table has no index but the key, and free space on each page lets updates happen in place.
CREATE TABLE live_figure (
  node text NOT NULL CHECK (node ~ '^[0-9a-f]{24}$'),
  minute integer NOT NULL,
  model text NOT NULL,
  provider text NOT NULL,
  samples integer NOT NULL CHECK (samples > 0),
  ok integer NOT NULL CHECK (ok BETWEEN 0 AND samples),
  streamed integer NOT NULL CHECK (streamed BETWEEN 0 AND ok),
  durations integer[] NOT NULL,
  first_tokens integer[] NOT NULL,
  written_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (minute, node, model, provider)
) WITH (fillfactor = 50);
COMMENT ON TABLE live_figure IS 'How each provider did lately, by node and minute';
-- No query searches these columns.
ALTER TABLE live_figure ALTER COLUMN durations SET STATISTICS 0, ALTER COLUMN first_tokens SET STATISTICS 0;
