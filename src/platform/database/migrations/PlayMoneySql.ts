import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ledgerCommit } from "../LedgerCommitSql.ts"

/** The same as before for a request that is paid with real money. One that is paid with play money is left to `ledger_commit`. */
const ledgerClose = `
CREATE OR REPLACE FUNCTION ledger_close(account text, request text, settle boolean, cost bigint, status text, resolved_model text,
  provider text, closed jsonb, keep_claim boolean, answer jsonb)
RETURNS bigint[]
LANGUAGE plpgsql
AS $close$
DECLARE
  money bigint;
  promised bigint;
  freed bigint;
  so_far bigint;
  due bigint;
  paid bigint;
BEGIN
  -- What is asked of the request beside its id must not choose the index.
  UPDATE balance AS b SET held = b.held - r.held,
      posted = b.posted - CASE WHEN settle THEN LEAST(COALESCE(cost, r.progress), r.held) ELSE 0 END
    FROM request AS r
    WHERE b.account_id = account AND b.held >= r.held
      AND r.id = request AND r.account_id || '' = account AND r.state || '' = 'open' AND r.budgets = '{}' AND r.play IS NULL
    RETURNING b.posted, b.held, r.held, r.progress INTO money, promised, freed, so_far;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  due := CASE WHEN settle THEN COALESCE(cost, so_far) ELSE 0 END;
  paid := LEAST(due, freed);
  UPDATE request AS r SET state = CASE WHEN settle THEN 'settled' ELSE 'released' END, status = ledger_close.status,
      closed_at = clock_timestamp(), settled = paid, absorbed = due - paid, resolved_model = ledger_close.resolved_model,
      provider = ledger_close.provider, closed = ledger_close.closed,
      answer = jsonb_set(ledger_close.answer, '{posted}', to_jsonb(money::text)), claim = CASE WHEN keep_claim THEN r.claim END
    WHERE r.id = request AND r.state || '' = 'open' AND r.held = freed AND r.progress = so_far;
  IF NOT FOUND THEN
    UPDATE balance AS b SET held = b.held + freed, posted = b.posted + paid WHERE b.account_id = account;
    RETURN NULL;
  END IF;
  IF paid > 0 THEN
    INSERT INTO transfer (debit, credit, amount, kind, request_id) VALUES (account, 'house:revenue', paid, 'settle', request);
  END IF;
  RETURN ARRAY[paid, due - paid, money, promised];
END $close$`

/**
 * The same as before for groups in which every close is of a request that is paid with real money. Other groups are left to
 * `ledger_commit`.
 */
const ledgerPlain = `
CREATE OR REPLACE FUNCTION ledger_plain(account text, ended text[], settle boolean[], cost bigint[], ended_status text[], resolved text[],
  ended_by text[], closed text[], keep_claim boolean[], answer text[], begun text[], key text[], project text[], operation text[],
  model text[], amount bigint[], ttl_ms bigint[], opened text[], idempotency_key text[], claim text[], fingerprint text[],
  keys text[], epochs int[])
RETURNS bigint[]
LANGUAGE plpgsql
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
            SELECT ctid AS row, state, budgets, play, held, CASE WHEN n.settle THEN COALESCE(n.cost, progress) ELSE 0 END AS due
            FROM request WHERE id = n.id AND account_id = account OFFSET 0
          ) AS r
          WHERE r.state = 'open' AND r.budgets = '{}' AND r.play IS NULL
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
 * The same as before, with two additions. A request gets back the kind of money that it was charged. One that was paid with play money
 * reports both kinds as the account's money.
 */
const ledgerConclude = `
CREATE OR REPLACE FUNCTION ledger_conclude(conclusion jsonb) RETURNS TABLE (concluded boolean, cost bigint, money bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $conclude$
#variable_conflict use_column
DECLARE
  account CONSTANT text := conclusion ->> 'account_id';
  request_id CONSTANT text := conclusion ->> 'request_id';
  only_if_expired CONSTANT boolean := (conclusion ->> 'only_if_expired')::boolean;
  own record;
  back bigint := (conclusion ->> 'refund')::bigint;
  verdict text;
BEGIN
  SELECT posted INTO money FROM balance WHERE account_id = account FOR UPDATE;
  SELECT r.settled, r.refunded, r.absorbed, r.expired, r.play, r.closed IS NULL AS standing, r.expires_at <= clock_timestamp() AS overdue
    INTO own FROM request r WHERE r.id = request_id AND r.account_id = account AND r.state = 'settled';
  IF own.play THEN
    money := money + (SELECT p.posted FROM play_balance p WHERE p.account_id = account);
  END IF;
  cost := COALESCE(own.settled - own.refunded, 0);
  concluded := COALESCE(own.standing AND (own.overdue OR NOT only_if_expired), false);
  IF concluded THEN
    back := LEAST(back, cost);
    IF back > 0 THEN
      SELECT c.verdict INTO verdict FROM ledger_commit(jsonb_build_array(jsonb_build_object('kind', 'refund',
        'account_id', account, 'request_id', request_id, 'amount', back, 'reference', 'conclude ' || request_id))) AS c;
      IF verdict <> 'moved' THEN RAISE EXCEPTION 'the refund of request % was %', request_id, verdict; END IF;
      cost := cost - back;
      money := money + back;
    END IF;
    UPDATE request r SET status = conclusion ->> 'status', closed_at = clock_timestamp(), expired = only_if_expired,
        resolved_model = conclusion ->> 'resolved_model', provider = conclusion ->> 'provider', closed = conclusion -> 'closed',
        answer = jsonb_set(conclusion -> 'answer', '{posted}', to_jsonb(money::text)),
        claim = CASE WHEN (conclusion ->> 'keep_claim')::boolean THEN r.claim END
      WHERE r.id = request_id;
  ELSIF own.expired AND own.absorbed = 0 AND own.refunded > back THEN
    UPDATE request r SET absorbed = own.refunded - back WHERE r.id = request_id;
  END IF;
  RETURN NEXT;
END $conclude$`

/**
 * The same as before, with two additions. A carved hold is paid with the same kind of money as its source. A request that may only be
 * paid with real money takes nothing out of a hold of play money: it becomes an ordinary hold.
 */
const ledgerCarve = `
CREATE OR REPLACE FUNCTION ledger_carve(parent text, child jsonb)
RETURNS TABLE (place int, verdict text, detail text, result bigint, beside bigint, money bigint, promised bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $carve$
#variable_conflict use_column
DECLARE
  account CONSTANT text := child ->> 'account_id';
  needed CONSTANT bigint := (child ->> 'at_least')::bigint;
  wanted CONSTANT bigint := CASE WHEN (child ->> 'charge')::boolean THEN needed ELSE GREATEST(needed, (child ->> 'up_to')::bigint) END;
  own record;
  given bigint;
BEGIN
  PERFORM 1 FROM balance WHERE account_id = account FOR UPDATE;
  SELECT r.held - r.progress AS room, r.budgets, r.play INTO own FROM request r
    WHERE r.id = parent AND r.account_id = account AND r.state = 'open' AND r.expires_at > clock_timestamp()
      AND (r.play IS NULL OR child ->> 'paid_by' IS NOT NULL)
      AND NOT EXISTS (SELECT FROM request c WHERE c.id = child ->> 'request_id')
      AND (r.held - r.progress >= needed OR ledger_budgets(r.budgets) IS NOT DISTINCT FROM
        ledger_budgets(ARRAY(SELECT jsonb_array_elements_text(child -> 'budgets'))));
  IF FOUND THEN
    given := LEAST(wanted, own.room);
    BEGIN
      IF own.play THEN
        UPDATE play_balance SET held = held - given WHERE account_id = account;
      ELSE
        UPDATE balance SET held = held - given WHERE account_id = account;
      END IF;
      UPDATE budget_period SET held = held - given
        WHERE budget_id = ANY (SELECT split_part(b, ':', 1) FROM unnest(own.budgets) AS b)
          AND budget_id || ':' || period_start = ANY (own.budgets);
      UPDATE request SET held = held - given WHERE id = parent;
      RETURN QUERY SELECT * FROM ledger_commit(jsonb_build_array(
        child || jsonb_build_object('budgets', own.budgets, 'up_to', GREATEST(needed, given),
          'paid_by', CASE WHEN own.play THEN 'play' END))) AS c WHERE c.verdict = 'granted';
      IF FOUND THEN RETURN; END IF;
      RAISE EXCEPTION SQLSTATE 'TG001';
    EXCEPTION WHEN SQLSTATE 'TG001' THEN NULL;
    END;
  END IF;
  RETURN QUERY SELECT * FROM ledger_commit(jsonb_build_array(child));
END $carve$`

/**
 * Adds play money, which has separate balances that only accounts with play money have. `play` of a request is true when play money
 * pays for it and null when real money does, so a service without a sandbox writes nothing for it. Rows of play money are written
 * behind the lock of the account's balance only, which takes the place of a foreign key. An adjustment is an operator's correction of a
 * balance, in either direction.
 */
export const playMoney = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE play_balance (
    account_id text PRIMARY KEY,
    posted bigint NOT NULL DEFAULT 0,
    held bigint NOT NULL DEFAULT 0,
    CONSTRAINT play_balance_in_order CHECK (posted >= held AND held >= 0)
  ) WITH (fillfactor = 50)`
  yield* sql`ALTER TABLE request ADD COLUMN play boolean`
  yield* sql`ALTER DOMAIN transfer_kind DROP CONSTRAINT transfer_kind_known`
  yield* sql`ALTER DOMAIN transfer_kind ADD CONSTRAINT transfer_kind_known
    CHECK (VALUE IN ('settle', 'charge', 'refund', 'credit', 'adjust'))`
  for (const definition of [ledgerCommit, ledgerClose, ledgerPlain, ledgerConclude, ledgerCarve]) {
    yield* sql.unsafe(definition)
  }
})
