-- Each row fills a page, so that each write asks the disk for space: an update in place would succeed on a full disk. The table is
-- emptied at 4 MB, unless a backup reads it.
CREATE TABLE durable_write (filling text NOT NULL) WITH (fillfactor = 10);
COMMENT ON TABLE durable_write IS 'Filler that a node writes in order to learn whether the database accepts writes';

CREATE FUNCTION write_durably() RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    -- Of no row: PostgreSQL checks the privileges of a paid request all the same.
    INSERT INTO request SELECT * FROM request WHERE false;
    UPDATE request SET state = state WHERE false;
    UPDATE balance SET posted = posted WHERE false;
    INSERT INTO transfer (debit, credit, amount, kind) SELECT debit, credit, amount, kind FROM transfer WHERE false;
    IF pg_relation_size('durable_write') > 4194304 THEN
      BEGIN
        LOCK TABLE durable_write IN ACCESS EXCLUSIVE MODE NOWAIT;
        TRUNCATE durable_write;
      EXCEPTION WHEN lock_not_available THEN
        NULL;
      END;
    END IF;
    -- With ten percent of a page to fill, the next row does not fit beside one of this length.
    INSERT INTO durable_write VALUES (repeat('x', 800));
  END
$$;
