/**
 * Requests are rolled up in order of their ids, which is the order in which they arrived. A request that is written later than the
 * grace period after its arrival is recorded as late. All others are written by then. So everything older than the grace period, once
 * its writers have ended, can be rolled up for good. The grace period covers the work before a hold. If a node's clock is behind by
 * more than that, each of its requests counts as late, which costs a row each but stays correct.
 */
export const usageFunctions: ReadonlyArray<string> = [
  `CREATE FUNCTION usage_grace_ms() RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 30000::bigint'`,
  // An id's ten digits of time are milliseconds in Crockford's base 32. The first digit stays 0 for a thousand years.
  `CREATE FUNCTION request_is_late() RETURNS trigger LANGUAGE plpgsql AS $late$
  DECLARE
    digits CONSTANT text := '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  BEGIN
    IF (((((((((strpos(digits, substr(NEW.id, 6, 1)) - 1)::bigint * 32 + strpos(digits, substr(NEW.id, 7, 1)) - 1)
        * 32 + strpos(digits, substr(NEW.id, 8, 1)) - 1) * 32 + strpos(digits, substr(NEW.id, 9, 1)) - 1)
        * 32 + strpos(digits, substr(NEW.id, 10, 1)) - 1) * 32 + strpos(digits, substr(NEW.id, 11, 1)) - 1)
        * 32 + strpos(digits, substr(NEW.id, 12, 1)) - 1) * 32 + strpos(digits, substr(NEW.id, 13, 1)) - 1)
        * 32 + strpos(digits, substr(NEW.id, 14, 1)) - 1)
        < date_part('epoch', clock_timestamp()) * 1000 - usage_grace_ms() THEN
      INSERT INTO usage_pending (account_id, request_id) VALUES (NEW.account_id, NEW.id);
    END IF;
    RETURN NEW;
  END $late$`,
  `CREATE FUNCTION request_is_refunded() RETURNS trigger LANGUAGE plpgsql AS $refunded$
  BEGIN
    INSERT INTO usage_refund (account_id, request_id, amount) VALUES (NEW.account_id, NEW.id, NEW.refunded - OLD.refunded);
    RETURN NULL;
  END $refunded$`
]
