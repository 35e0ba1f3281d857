-- Returns the id below which a request that is written now is late: the first id of a request that could have arrived one grace period
-- ago. The statement that writes requests compares with it, once for all of them. An id's ten digits of time are milliseconds in
-- Crockford's base 32. Ids are compared byte by byte, in the order in which they are generated.
CREATE OR REPLACE FUNCTION ledger_late_before(moment timestamptz) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  digits CONSTANT text := '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  ms CONSTANT bigint := GREATEST(0, ceil(date_part('epoch', moment) * 1000) - usage_grace_ms());
BEGIN
  RETURN 'req_' || substr(digits, (ms >> 45 & 31)::int + 1, 1) || substr(digits, (ms >> 40 & 31)::int + 1, 1)
    || substr(digits, (ms >> 35 & 31)::int + 1, 1) || substr(digits, (ms >> 30 & 31)::int + 1, 1)
    || substr(digits, (ms >> 25 & 31)::int + 1, 1) || substr(digits, (ms >> 20 & 31)::int + 1, 1)
    || substr(digits, (ms >> 15 & 31)::int + 1, 1) || substr(digits, (ms >> 10 & 31)::int + 1, 1)
    || substr(digits, (ms >> 5 & 31)::int + 1, 1) || substr(digits, (ms & 31)::int + 1, 1);
END $$;
