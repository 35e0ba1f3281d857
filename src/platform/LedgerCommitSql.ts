/**
 * The ledger's one statement as a function of the database: it carries out a group of operations and answers each by its place.
 *
 * Operations are taken account by account, in order of id so that nodes cannot deadlock, behind the lock of the account's balance
 * row; whatever changes money of that account or its requests, budgets included, does so behind this lock. Each statement in here
 * sees what was committed before it, so what is read behind the lock is the latest: a key revoked or a claim laid while the lock
 * was waited for is seen. Within an account, what gives money back comes first; holds and extensions follow in order of arrival,
 * each judged by what those before it left.
 *
 * Plans are made once per connection and must not be made for the size that a table happens to have then: rows are found by
 * index alone, and conditions that could lead to a wider index stand outside the queries.
 */
export const ledgerCommit = `
CREATE FUNCTION ledger_commit(operations jsonb)
RETURNS TABLE (place int, verdict text, detail text, result bigint, beside bigint, posted_after bigint, held_after bigint)
LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $ledger$
#variable_conflict use_column
DECLARE
  op record;
  row record;
  account text;
  known boolean;
  touched boolean := false;
  money bigint;
  promised bigint;
  keys text[];
  key_active boolean;
  need bigint;
  room bigint;
  budget_room bigint;
  stop text;
  due bigint;
  overdue jsonb;
BEGIN
  FOR op IN
    SELECT * FROM jsonb_to_recordset(operations) AS o(ord int, kind text, account_id text, request_id text, key_id text,
      project_id text, operation text, model text, at_least bigint, up_to bigint, ttl_ms bigint, budgets text[], opened jsonb,
      idempotency_key text, claim text, fingerprint text, charge boolean, held bigint, more bigint, progress bigint,
      settle boolean, cost bigint, only_if_expired boolean, status text, keep_claim boolean, resolved_model text, provider text,
      closed jsonb, answer jsonb, source text, amount bigint, reference text)
    ORDER BY o.account_id, o.kind IN ('hold', 'extend'), o.ord
  LOOP
    IF account IS DISTINCT FROM op.account_id THEN
      IF touched THEN
        UPDATE balance SET posted = money, held = promised WHERE account_id = account;
      END IF;
      account := op.account_id;
      touched := false;
      keys := '{}';
      SELECT posted, held INTO money, promised FROM balance WHERE account_id = account FOR UPDATE;
      known := FOUND;
    END IF;
    place := op.ord;
    verdict := 'gone';
    detail := NULL;
    result := 0;
    beside := 0;
    need := NULL;
    key_active := true;

    IF NOT known THEN
      IF op.kind = 'hold' THEN verdict := 'refused'; END IF;
      RETURN NEXT;
      CONTINUE;
    END IF;

    IF op.kind = 'hold' THEN
      need := op.at_least;
      key_active := op.key_id = ANY (keys);
      IF NOT key_active THEN
        SELECT account_id = account AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp())
          INTO key_active FROM api_key WHERE id = op.key_id;
        IF key_active THEN keys := keys || op.key_id; END IF;
      END IF;
    ELSIF op.kind = 'extend' THEN
      SELECT account_id, state, held, budgets INTO row FROM request WHERE id = op.request_id;
      IF row.state = 'open' AND row.account_id = account THEN
        need := GREATEST(op.held + op.more - row.held, 0);
        op.budgets := row.budgets;
      END IF;
    END IF;

    -- Room is what is left of the balance and of every budget. When it is short, overdue holds are ended to make some.
    WHILE need IS NOT NULL LOOP
      room := money - promised;
      stop := NULL;
      IF op.budgets <> '{}' THEN
        SELECT min(left_over), min(scope) FILTER (WHERE left_over < need) INTO budget_room, stop FROM (
          SELECT g.scope, CASE WHEN g.account_id = account
            THEN g.limit_nano - COALESCE(p.spent + p.held, 0) ELSE 0 END AS left_over
          FROM unnest(op.budgets) AS u(budget)
          JOIN budget g ON g.id = split_part(u.budget, ':', 1)
          LEFT JOIN budget_period p ON p.budget_id = g.id AND p.period_start = split_part(u.budget, ':', 2)::date
        ) AS b;
        stop := CASE WHEN room >= need THEN stop END;
        room := LEAST(room, budget_room);
      END IF;
      EXIT WHEN need = 0 OR room >= need OR key_active IS NOT TRUE;
      overdue := (
        SELECT jsonb_agg(ledger_expiry(o.id, account)) FROM (
          SELECT id FROM request WHERE account_id = account AND state = 'open' AND expires_at <= clock_timestamp()
          ORDER BY expires_at LIMIT 100
        ) AS o WHERE o.id <> op.request_id
      );
      EXIT WHEN overdue IS NULL;
      IF touched THEN
        UPDATE balance SET posted = money, held = promised WHERE account_id = account;
        touched := false;
      END IF;
      PERFORM ledger_commit(overdue);
      SELECT posted, held INTO money, promised FROM balance WHERE account_id = account;
    END LOOP;

    CASE op.kind
    WHEN 'hold' THEN
      verdict := 'refused';
      IF key_active AND (need = 0 OR room >= need) THEN
        result := CASE WHEN op.charge THEN need ELSE GREATEST(need, LEAST(op.up_to, room)) END;
        INSERT INTO request (id, account_id, key_id, project_id, operation, model, state, status, expires_at, closed_at, held,
            settled, budgets, opened, idempotency_key, claim, fingerprint)
          VALUES (op.request_id, account, op.key_id, op.project_id, op.operation, op.model,
            CASE WHEN op.charge THEN 'settled' ELSE 'open' END, CASE WHEN op.charge THEN 'succeeded' ELSE 'open' END,
            clock_timestamp() + op.ttl_ms * interval '1 millisecond', CASE WHEN op.charge THEN clock_timestamp() END,
            result, CASE WHEN op.charge THEN result ELSE 0 END, COALESCE(op.budgets, '{}'), op.opened,
            op.idempotency_key, op.claim, op.fingerprint)
          ON CONFLICT DO NOTHING;
        IF FOUND THEN
          verdict := 'granted';
          touched := true;
          IF op.charge THEN
            money := money - result;
            IF result > 0 THEN
              INSERT INTO transfer (debit, credit, amount, kind, request_id)
                VALUES (account, 'house:revenue', result, 'charge', op.request_id);
            END IF;
            PERFORM ledger_spend(op.budgets, result, 0);
          ELSE
            promised := promised + result;
            PERFORM ledger_spend(op.budgets, 0, result);
          END IF;
        END IF;
      END IF;
      -- It stands already, or another has its idempotency key: that is answered before any other refusal.
      IF verdict = 'refused' THEN
        SELECT held INTO result FROM request WHERE id = op.request_id;
        IF FOUND THEN
          verdict := 'granted';
        ELSE
          IF op.claim IS NOT NULL THEN
            SELECT id INTO detail FROM request WHERE account_id = account AND claim = op.claim;
          END IF;
          IF detail IS NOT NULL THEN
            verdict := 'claimed';
          ELSIF key_active IS NOT TRUE THEN
            verdict := 'key_inactive';
          ELSE
            detail := stop;
            result := money - promised;
            beside := money;
          END IF;
        END IF;
      END IF;

    WHEN 'extend' THEN
      IF need IS NOT NULL THEN
        verdict := 'refused';
        IF need = 0 OR room >= need THEN
          verdict := 'extended';
          UPDATE request SET held = held + need, progress = LEAST(GREATEST(progress, op.progress), held + need),
              expires_at = clock_timestamp() + op.ttl_ms * interval '1 millisecond'
            WHERE id = op.request_id;
          promised := promised + need;
          touched := true;
          PERFORM ledger_spend(op.budgets, 0, need);
        END IF;
      END IF;

    WHEN 'close' THEN
      SELECT account_id, state, held, settled, progress, absorbed, expired, budgets,
          expires_at <= clock_timestamp() AS overdue
        INTO row FROM request WHERE id = op.request_id;
      IF row.account_id = account THEN
        IF row.state = 'open' AND (row.overdue OR NOT op.only_if_expired) THEN
          verdict := 'closed';
          due := CASE WHEN op.settle THEN COALESCE(op.cost, row.progress) ELSE 0 END;
          result := LEAST(due, row.held);
          beside := due - result;
          money := money - result;
          promised := promised - row.held;
          touched := true;
          UPDATE request SET state = CASE WHEN op.settle THEN 'settled' ELSE 'released' END, status = op.status,
              closed_at = clock_timestamp(), settled = result, absorbed = beside, expired = op.only_if_expired,
              resolved_model = op.resolved_model, provider = op.provider, closed = op.closed,
              answer = jsonb_set(op.answer, '{posted}', to_jsonb(money::text)), claim = CASE WHEN op.keep_claim THEN claim END
            WHERE id = op.request_id;
          IF result > 0 THEN
            INSERT INTO transfer (debit, credit, amount, kind, request_id)
              VALUES (account, 'house:revenue', result, 'settle', op.request_id);
          END IF;
          PERFORM ledger_spend(row.budgets, result, -row.held);
        ELSIF row.state <> 'open' THEN
          result := row.settled;
          -- Its hold had expired: what it cost beyond what the expiry charged is the house's loss.
          IF row.expired AND row.absorbed = 0 AND op.settle AND op.cost > row.settled THEN
            UPDATE request SET absorbed = op.cost - row.settled WHERE id = op.request_id;
          END IF;
        END IF;
      END IF;

    WHEN 'credit' THEN
      INSERT INTO transfer (debit, credit, amount, kind, reference)
        VALUES ('house:' || op.source, account, op.amount, 'credit', op.reference) ON CONFLICT DO NOTHING;
      IF FOUND THEN
        verdict := 'moved';
        money := money + op.amount;
        touched := true;
      END IF;

    WHEN 'refund' THEN
      SELECT account_id, state, settled, refunded, budgets INTO row FROM request WHERE id = op.request_id;
      IF row.state = 'settled' AND row.account_id = account AND row.refunded + op.amount <= row.settled THEN
        INSERT INTO transfer (debit, credit, amount, kind, request_id, reference)
          VALUES ('house:revenue', account, op.amount, 'refund', op.request_id, op.reference) ON CONFLICT DO NOTHING;
        IF FOUND THEN
          verdict := 'moved';
          money := money + op.amount;
          touched := true;
          UPDATE request SET refunded = refunded + op.amount WHERE id = op.request_id;
          PERFORM ledger_spend(row.budgets, -op.amount, 0);
        END IF;
      END IF;
    END CASE;

    posted_after := money;
    held_after := promised;
    RETURN NEXT;
  END LOOP;
  IF touched THEN
    UPDATE balance SET posted = money, held = promised WHERE account_id = account;
  END IF;
END $ledger$`

/** The operation that ends an overdue hold: its progress is settled, the rest released. */
export const ledgerExpiry = `
CREATE FUNCTION ledger_expiry(request_id text, account_id text) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $expiry$
  SELECT jsonb_build_object('kind', 'close', 'request_id', request_id, 'account_id', account_id, 'settle', true,
    'only_if_expired', true, 'status', 'failed', 'keep_claim', true,
    'closed', jsonb_build_object('error', jsonb_build_object('_tag', 'HoldExpired')))
$expiry$`

/** Counts in every budget of a request, each given as \`id:YYYY-MM-DD\`, making the rows of periods that begin. */
export const ledgerSpend = `
CREATE FUNCTION ledger_spend(budgets text[], more_spent bigint, more_held bigint) RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $spend$
#variable_conflict use_column
DECLARE
  one text;
BEGIN
  FOREACH one IN ARRAY COALESCE(budgets, '{}') LOOP
    UPDATE budget_period SET spent = spent + more_spent, held = held + more_held
      WHERE budget_id = split_part(one, ':', 1) AND period_start = split_part(one, ':', 2)::date;
    IF NOT FOUND THEN
      INSERT INTO budget_period (budget_id, period_start, spent, held)
        VALUES (split_part(one, ':', 1), split_part(one, ':', 2)::date, more_spent, more_held);
    END IF;
  END LOOP;
END $spend$`
