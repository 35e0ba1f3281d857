import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ledgerCommit } from "../LedgerCommitSql.ts"

/**
 * The id before which whatever is written at a moment came late: the first that could have arrived the grace before it. What writes a
 * request looks for itself whether it is late, once for all that it writes. It used to be a trigger's work, which read the time out of
 * each id, and took a fifth of the database's time for a group of holds.
 *
 * An id's ten digits of time are milliseconds in Crockford's base 32. They are compared byte by byte, as they are made.
 */
const requestLateBefore = `
CREATE FUNCTION request_late_before(moment timestamptz) RETURNS text LANGUAGE plpgsql STABLE AS $late$
DECLARE
  digits CONSTANT text := '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  ms CONSTANT bigint := GREATEST(0, ceil(date_part('epoch', moment) * 1000) - usage_grace_ms());
BEGIN
  RETURN 'req_' || ${Array.from({ length: 10 }, (_, place) => `substr(digits, (ms >> ${45 - 5 * place} & 31)::int + 1, 1)`).join(" || ")};
END $late$`

/**
 * A hold by itself, as `ledger_commit` would take it, in two statements, or three where it lays a claim, without any JSON but the
 * request's own: what a group costs before its first operation is most of what one operation costs. NULL, and nothing has happened,
 * where it is not so plain: a claim that is there, less money than it might take, a key that is inactive or has other budgets, an
 * overdue hold of the account. Fails with a unique violation where its request is there before, or where its claim is taken in the
 * same instant. All these are for `ledger_commit` to judge.
 *
 * A claim that is there is looked for before anything is written: whoever waits for an answer under an idempotency key asks again and
 * again, and each time would be a transaction that is undone, with what it has written left behind. It is looked for as a row
 * between itself and itself: that fits only the index on claims, with both its columns, and any number of accounts may use one key.
 *
 * The balance is taken first, which waits for whoever has the account; the key is read by a statement that begins after that, so
 * that a revocation which has committed meanwhile is seen.
 */
const ledgerHold = `
CREATE OR REPLACE FUNCTION ledger_hold(account text, request text, key text, project text, operation text, model text, amount bigint,
  ttl_ms bigint, epoch int, opened jsonb, idempotency_key text, claim text, fingerprint text)
RETURNS bigint
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $hold$
#variable_conflict use_variable
DECLARE
  moment timestamptz;
BEGIN
  -- One condition in another, since one with a subquery is a statement of its own, and most holds lay no claim.
  IF claim IS NOT NULL THEN
    IF (SELECT count(*) FROM request AS r
      WHERE r.claim IS NOT NULL AND (r.claim, r.account_id) BETWEEN (claim, account) AND (claim, account)) > 0
    THEN
      RETURN NULL;
    END IF;
  END IF;
  UPDATE balance AS b SET held = b.held + amount WHERE b.account_id = account AND b.posted - b.held >= amount;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  moment := clock_timestamp();
  INSERT INTO request (id, account_id, key_id, project_id, operation, model, state, status, expires_at, held, opened,
      idempotency_key, claim, fingerprint)
    SELECT request, account, k.id, project, operation, model, 'open', 'open', moment + ttl_ms * interval '1 millisecond', amount,
      opened, idempotency_key, claim, fingerprint
    FROM api_key AS k
    WHERE k.id = key AND k.account_id = account AND k.revoked_at IS NULL AND COALESCE(k.expires_at > moment, true)
      AND k.budgets_epoch = epoch
      -- Not asked by NOT EXISTS, for which a plan may read the whole table at once.
      AND (SELECT count(*) FROM request AS r WHERE r.account_id = account AND r.state = 'open' AND r.expires_at <= moment) = 0;
  IF NOT FOUND THEN
    UPDATE balance AS b SET held = b.held - amount WHERE b.account_id = account;
    RETURN NULL;
  END IF;
  IF request COLLATE "C" < request_late_before(moment) THEN
    INSERT INTO usage_pending (account_id, request_id) VALUES (account, request);
  END IF;
  RETURN amount;
END $hold$`

/**
 * The ledger's statement for what most groups are under load: ends and holds of one account, of which none is to be judged by those
 * before it. It does what `ledger_commit` would, the closes first and then the holds. First it reads all that could stand in the way,
 * and answers NULL where something does, with nothing written: a close of what is not open or counts towards a budget, less money
 * than all holds might take, a key that is inactive or has other budgets, an overdue hold of the account, a claim that is there. A
 * request that is there before makes it fail with a unique violation. All these are for `ledger_commit` to judge, in which alone such
 * rules stand.
 *
 * It takes a column of each member of the operations, not a document of each operation, and answers what each close settled, then
 * what each absorbed, then what each released of what is held, and last the account's money as it was, posted and held.
 *
 * The account's balance is locked first, so that what is read then is the latest: whoever changes an open request holds that lock.
 * Should one not, and the request have ended or left its place between the two, then the whole statement fails, and nothing of it
 * stands: no request is paid for that does not end by it, and none is paid for as another.
 *
 * A plan is made once per connection, perhaps when a table is tiny and any of its indexes seems as good as another. So a request is
 * read by its id and its account, which bound the reading of either index that begins with one of them; and what was read to be ended
 * is written where it was found, by its place in the table, which leaves a plan no choice.
 */
const ledgerPlain = `
CREATE OR REPLACE FUNCTION ledger_plain(account text, ended text[], settle boolean[], cost bigint[], ended_status text[], resolved text[],
  ended_by text[], closed text[], keep_claim boolean[], answer text[], begun text[], key text[], project text[], operation text[],
  model text[], amount bigint[], ttl_ms bigint[], opened text[], idempotency_key text[], claim text[], fingerprint text[],
  keys text[], epochs int[])
RETURNS bigint[]
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $plain$
#variable_conflict use_variable
DECLARE
  closes CONSTANT int := cardinality(ended);
  holds CONSTANT int := cardinality(begun);
  moment timestamptz;
  late_before text COLLATE "C";
  money bigint;
  promised bigint;
  places tid[];
  paid bigint[];
  lost bigint[];
  freed bigint[];
  money_after bigint[];
  paid_all bigint := 0;
  freed_all bigint := 0;
  wanted bigint := 0;
  one bigint;
  written int;
BEGIN
  SELECT b.posted, b.held INTO money, promised FROM balance AS b WHERE b.account_id = account FOR UPDATE;
  moment := clock_timestamp();

  IF closes > 0 THEN
    SELECT array_agg(f.row), array_agg(f.paid), array_agg(f.due - f.paid), array_agg(f.held), total(f.paid), total(f.held), count(*)
      INTO places, paid, lost, freed, paid_all, freed_all, written
      FROM (
        SELECT r.row, r.held, r.due, LEAST(r.due, r.held) AS paid
          FROM unnest(ended, settle, cost) AS n(id, settle, cost)
          -- A subquery that is kept as it is: what is asked of the row beside its id and account must not choose the index.
          CROSS JOIN LATERAL (
            SELECT ctid AS row, state, budgets, held, CASE WHEN n.settle THEN COALESCE(n.cost, progress) ELSE 0 END AS due
            FROM request WHERE id = n.id AND account_id = account OFFSET 0
          ) AS r
          WHERE r.state = 'open' AND r.budgets = '{}'
      ) AS f;
    IF written <> closes THEN
      RETURN NULL;
    END IF;
    IF answer IS NOT NULL THEN
      SELECT array_agg(money - s.so_far ORDER BY s.ord) INTO money_after
        FROM (SELECT n.ord, total(n.paid) OVER (ORDER BY n.ord) AS so_far FROM unnest(paid) WITH ORDINALITY AS n(paid, ord)) AS s;
    END IF;
  END IF;

  IF holds > 0 THEN
    FOREACH one IN ARRAY amount LOOP
      wanted := wanted + one;
    END LOOP;
    IF ((money - paid_all) - (promised - freed_all) >= wanted) IS NOT TRUE
      OR (SELECT count(*) FROM unnest(keys, epochs) AS n(id, epoch) JOIN api_key AS k ON k.id = n.id AND k.id = ANY (keys)
        WHERE k.account_id = account AND k.revoked_at IS NULL AND COALESCE(k.expires_at > moment, true)
          AND k.budgets_epoch = n.epoch) <> cardinality(keys)
      -- Not asked by NOT EXISTS, for which a plan may read the whole table at once.
      OR (SELECT count(*) FROM request AS r WHERE r.account_id = account AND r.state = 'open' AND r.expires_at <= moment) > 0
    THEN
      RETURN NULL;
    END IF;
    IF claim IS NOT NULL THEN
      IF (SELECT count(*) FROM unnest(claim) AS n(claim) JOIN request AS r
        ON r.claim IS NOT NULL AND (r.claim, r.account_id) BETWEEN (n.claim, account) AND (n.claim, account)) > 0
      THEN
        RETURN NULL;
      END IF;
    END IF;
  END IF;

  UPDATE balance AS b SET posted = money - paid_all, held = promised - freed_all + wanted WHERE b.account_id = account;

  IF closes > 0 THEN
    UPDATE request AS r SET state = CASE WHEN n.settle THEN 'settled' ELSE 'released' END, status = n.status, closed_at = moment,
        settled = n.paid, absorbed = n.lost, resolved_model = n.resolved, provider = n.ended_by, closed = n.closed::jsonb,
        answer = jsonb_set(n.answer::jsonb, '{posted}', to_jsonb(n.money_after::text)),
        claim = CASE WHEN n.keep_claim THEN r.claim END
      FROM unnest(places, ended, settle, ended_status, paid, lost, resolved, ended_by, closed, answer, money_after, keep_claim)
        AS n(row, id, settle, status, paid, lost, resolved, ended_by, closed, answer, money_after, keep_claim)
      -- Neither is asked as an index has it, which then cannot serve.
      WHERE r.ctid = n.row AND r.id || '' = n.id AND r.state || '' = 'open';
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written <> closes THEN
      RAISE EXCEPTION 'a request of account % has changed while the account was locked', account;
    END IF;
    INSERT INTO transfer (debit, credit, amount, kind, request_id)
      SELECT account, 'house:revenue', n.paid, 'settle', n.id FROM unnest(ended, paid) AS n(id, paid) WHERE n.paid > 0;
  END IF;

  IF holds > 0 THEN
    INSERT INTO request (id, account_id, key_id, project_id, operation, model, state, status, expires_at, held, opened,
        idempotency_key, claim, fingerprint)
      SELECT n.id, account, n.key, n.project, n.operation, n.model, 'open', 'open',
        moment + n.ttl_ms * interval '1 millisecond', n.amount, n.opened::jsonb, n.idempotency_key, n.claim, n.fingerprint
      FROM unnest(begun, key, project, operation, model, amount, ttl_ms, opened, idempotency_key, claim, fingerprint)
        AS n(id, key, project, operation, model, amount, ttl_ms, opened, idempotency_key, claim, fingerprint);
    late_before := request_late_before(moment);
    IF late_before > ANY (begun) THEN
      INSERT INTO usage_pending (account_id, request_id) SELECT account, n.id FROM unnest(begun) AS n(id) WHERE n.id < late_before;
    END IF;
  END IF;
  RETURN paid || lost || freed || ARRAY[money, promised];
END $plain$`

/**
 * Requests that come late are noted by the ledger's statements that write them. With the trigger go two indexes that each request had
 * a row in and that can be done without: `request_open_account` has the open requests too, and nothing asks for what an account paid
 * but by its request.
 */
export const lateByStatement = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const definition of [requestLateBefore, ledgerHold, ledgerPlain, ledgerCommit]) yield* sql.unsafe(definition)
  yield* sql`DROP TRIGGER request_late ON request`
  yield* sql`DROP FUNCTION request_is_late`
  yield* sql`DROP INDEX request_open`
  yield* sql`DROP INDEX transfer_debit`
})
