import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ledgerCommit } from "../LedgerCommitSql.ts"

/**
 * The id below which a request that is written now is late: the first id of a request that could have arrived one grace period ago. The
 * statement that writes requests compares with it, once for all of them. Before, a trigger decoded the time from each id, which took a
 * fifth of the database's time for a group of holds. An id's ten digits of time are milliseconds in Crockford's base 32. Ids are
 * compared byte by byte, in the order in which they are generated.
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
 * Takes a single hold the way `ledger_commit` would, in two statements, or three with a claim, and without any JSON but the request's
 * own. The fixed cost of a group is most of the cost of one operation. Returns NULL, with nothing changed, in every case that is not
 * plain: an existing claim, less money than the hold might take, an inactive key or other budgets, an overdue hold of the account.
 * Fails with a unique violation when the request already exists, or when its claim is made at the same instant. `ledger_commit` decides
 * all of these.
 * The function looks for an existing claim before it writes. A client that waits for an answer under an idempotency key asks again and
 * again, and each time would be a transaction that is rolled back and leaves dead rows behind. The claim is looked up as a row between
 * itself and itself: that fits only the index on claims, with both of its columns, and any number of accounts may use the same key.
 * The balance is locked first, which waits for the current holder of the account's lock. The statement that reads the key begins after
 * that, so it sees a revocation that has committed meanwhile.
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
 * The ledger's statement for most groups under load: closes and holds of one account, none of which depends on the ones before it. It
 * does what `ledger_commit` would do, first the closes and then the holds. First it reads everything that could be an obstacle, and
 * returns NULL with nothing written if it finds one: a close of a request that is not open or counts towards a budget, less money than
 * all holds might take, an inactive key or other budgets, an overdue hold of the account, an existing claim. An existing request makes
 * it fail with a unique violation. `ledger_commit` decides all of these and is the only place with such rules.
 * The parameters are one array per member of the operations, not one document per operation. The result is what each close settled,
 * then what each absorbed, then what each released of its hold, and last the account's earlier money, posted and held.
 * The account's balance is locked first, so everything read afterwards is current: all code that changes an open request takes that
 * lock. If some code did not, and the request ended or moved between the two steps, the whole statement fails and none of it stands. So
 * no payment is made for a request that the statement does not end, or in the name of another.
 * PostgreSQL makes a plan once per connection, perhaps when a table is tiny and any of its indexes looks as good as another. So a
 * request is read by its id and its account, which limits the read of either index that starts with one of them. A row to be closed is
 * written where it was found, by its physical place (ctid), which leaves the plan no choice.
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
 * The ledger's statements that write late requests now record them, in place of a trigger. This migration also drops two indexes with a
 * row per request that nothing needs: `request_open_account` contains the open requests too, and every query for what an account paid
 * names a request.
 */
export const lateByStatement = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const definition of [requestLateBefore, ledgerHold, ledgerPlain, ledgerCommit]) yield* sql.unsafe(definition)
  yield* sql`DROP TRIGGER request_late ON request`
  yield* sql`DROP FUNCTION request_is_late`
  yield* sql`DROP INDEX request_open`
  yield* sql`DROP INDEX transfer_debit`
})
