import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * What a request, a movement and a balance must be, in as few words as it takes. PostgreSQL reads a rule anew for every statement that
 * writes to its table, from a text that is much longer than what was written here, lists of words most of all: it took a sixth of the
 * database's time for a hold and its close. The rules of a domain it keeps.
 *
 * A request's numbers stand in one chain: nothing is refunded that was not settled, nothing settled or in progress that is not held.
 */
const rules = [
  // In the order in which the ledger's statements take them, so that none waits for this while this waits for it.
  "LOCK TABLE balance, request, transfer IN ACCESS EXCLUSIVE MODE",
  "CREATE DOMAIN request_state AS text CONSTRAINT request_state_known CHECK (VALUE IN ('open', 'settled', 'released'))",
  "CREATE DOMAIN request_status AS text CONSTRAINT request_status_known CHECK (VALUE IN ('open', 'succeeded', 'failed', 'cancelled'))",
  "CREATE DOMAIN transfer_kind AS text CONSTRAINT transfer_kind_known CHECK (VALUE IN ('settle', 'charge', 'refund', 'credit'))",
  `ALTER TABLE request
    DROP CONSTRAINT request_state_check, DROP CONSTRAINT request_status_check, DROP CONSTRAINT request_held_check,
    DROP CONSTRAINT request_progress_check, DROP CONSTRAINT request_settled_check, DROP CONSTRAINT request_absorbed_check,
    DROP CONSTRAINT request_refunded_check, DROP CONSTRAINT request_check, DROP CONSTRAINT request_check1,
    DROP CONSTRAINT request_check2, DROP CONSTRAINT request_check3,
    ADD CONSTRAINT request_in_order CHECK (
      LEAST(refunded, progress, absorbed, settled - refunded, held - settled, held - progress) >= 0
      AND (state::request_state = 'open') = (closed_at IS NULL) AND status::request_status IS NOT NULL)`,
  `ALTER TABLE transfer DROP CONSTRAINT transfer_amount_check, DROP CONSTRAINT transfer_check, DROP CONSTRAINT transfer_kind_check,
    ADD CONSTRAINT transfer_in_order CHECK (amount > 0 AND debit <> credit AND kind::transfer_kind IS NOT NULL)`,
  `ALTER TABLE balance DROP CONSTRAINT balance_held_check, DROP CONSTRAINT balance_check,
    ADD CONSTRAINT balance_in_order CHECK (posted >= held AND held >= 0)`
]

/** For each byte what it counts as a digit of Crockford's, which is nothing for most. */
const digits = Array.from({ length: 256 }, (_, byte) =>
  Math.max(0, "0123456789ABCDEFGHJKMNPQRSTVWXYZ".indexOf(String.fromCharCode(byte)))
)

const hexadecimal = digits.map((digit) => digit.toString(16).padStart(2, "0")).join("")

const number = (places: ReadonlyArray<number>) =>
  places
    .map((place, index) => `(get_byte(digits, get_byte(id, ${place})) << ${5 * (places.length - 1 - index)})`)
    .join(" | ")

/** As before for what is an id, with a byte taken where a part of a text was cut out and looked for, nine times for each request. */
const requestIsLate = `
CREATE OR REPLACE FUNCTION request_is_late() RETURNS trigger LANGUAGE plpgsql AS $late$
DECLARE
  digits CONSTANT bytea := '\\x${hexadecimal}';
  -- At least as long as what is read of it.
  id CONSTANT bytea := convert_to(NEW.id, 'UTF8') || '\\x${"00".repeat(14)}';
BEGIN
  -- The first of the ten digits is 0 for a thousand years.
  IF ((${number([5, 6, 7, 8, 9])})::bigint << 20 | (${number([10, 11, 12, 13])}))
      < date_part('epoch', clock_timestamp()) * 1000 - usage_grace_ms() THEN
    INSERT INTO usage_pending (account_id, request_id) VALUES (NEW.account_id, NEW.id);
  END IF;
  RETURN NEW;
END $late$`

/** The same rules of the ledger's tables, for less of the database's time. */
export const lighterRules = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of [...rules, requestIsLate]) yield* sql.unsafe(statement)
})
