/** The first version of the ledger's statement. The current one is in `platform/database/LedgerCommitSql.ts`. */
export const firstLedgerCommit = `
CREATE FUNCTION ledger_commit(operations jsonb)
RETURNS TABLE (place int, verdict text, detail text, result bigint, beside bigint, money bigint, promised bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $ledger$
#variable_conflict use_column
DECLARE
  op record;
  overdue jsonb;
  moment timestamptz;
  -- all that is named in the group
  all_accounts text[];
  all_taking text[];
  all_requests text[];
  all_keys text[];
  all_claims text[];
  all_references text[];
  -- the account at hand, and what the operation at hand needs, finds and does
  account text;
  need bigint;
  room bigint;
  spend bigint;
  hold bigint;
  -- budgets met so far: id and period, scope, what is left in them, and what they change by
  purse text;
  i int;
  scope text;
  left_over bigint;
  purses text[];
  purse_scope text[];
  purse_left bigint[];
  purse_spend bigint[];
  purse_hold bigint[];
  -- what is to be written
  accounts text[];
  account_money bigint[];
  account_promised bigint[];
  held_ord int[];
  held_amount bigint[];
  closed_ord int[];
  closed_id text[];
  closed_settled bigint[];
  closed_absorbed bigint[];
  closed_money bigint[];
  extended_ord int[];
  extended_id text[];
  extended_by bigint[];
  moved_ord int[];
  moved_amount bigint[];
BEGIN
  SELECT array_agg(DISTINCT o ->> 'account_id'), array_agg(DISTINCT o ->> 'account_id') FILTER (WHERE o ->> 'kind' IN ('hold', 'extend')),
      array_agg(o ->> 'request_id'), array_agg(DISTINCT o ->> 'key_id'), array_agg(o ->> 'claim'), array_agg(o ->> 'reference')
    INTO all_accounts, all_taking, all_requests, all_keys, all_claims, all_references FROM jsonb_array_elements(operations) AS o;
  PERFORM 1 FROM balance WHERE account_id = ANY (all_accounts) ORDER BY account_id FOR UPDATE;
  moment := clock_timestamp();

  LOOP
    SELECT jsonb_agg(ledger_expiry(late.id, late.account_id)) INTO overdue FROM (
      SELECT id, account_id FROM request
      WHERE account_id = ANY (all_taking) AND state = 'open' AND expires_at <= moment AND (id = ANY (all_requests)) IS NOT TRUE
      ORDER BY expires_at LIMIT 100
    ) AS late;
    EXIT WHEN overdue IS NULL;
    PERFORM ledger_commit(overdue);
  END LOOP;

  FOR op IN
    SELECT o.*, b.posted, b.held AS held_all, r.account_id AS owner, r.state, r.held AS held_now, r.progress, r.settled,
      r.refunded, r.absorbed, r.expired, r.expires_at <= moment AS overdue, holder.id AS claimed_by,
      t.id IS NOT NULL AS moved,
      CASE WHEN o.kind = 'hold' THEN o.budgets WHEN r.account_id = o.account_id THEN r.budgets END AS purses,
      k.account_id = o.account_id AND k.revoked_at IS NULL AND COALESCE(k.expires_at > moment, true) AS key_active
    FROM ROWS FROM (jsonb_to_recordset(operations) AS (kind text, account_id text, request_id text, key_id text, at_least bigint,
        up_to bigint, charge boolean, budgets text[], claim text, held bigint, more bigint, settle boolean, cost bigint,
        only_if_expired boolean, amount bigint, reference text)) WITH ORDINALITY
      AS o(kind, account_id, request_id, key_id, at_least, up_to, charge, budgets, claim, held, more, settle, cost, only_if_expired,
        amount, reference, ord)
    LEFT JOIN balance b ON b.account_id = o.account_id AND b.account_id = ANY (all_accounts)
    LEFT JOIN request r ON r.id = o.request_id AND r.id = ANY (all_requests)
    -- Written so that only the index on claims can serve it; the one on accounts would read all of an account's requests.
    LEFT JOIN request holder ON holder.account_id || '' = o.account_id AND holder.claim = o.claim AND holder.claim = ANY (all_claims)
    LEFT JOIN api_key k ON k.id = o.key_id AND k.id = ANY (all_keys)
    LEFT JOIN transfer t ON t.kind = o.kind AND t.reference = o.reference
      AND t.kind IN ('credit', 'refund') AND t.reference = ANY (all_references)
    ORDER BY o.account_id, o.kind IN ('hold', 'extend'), o.ord
  LOOP
    IF account IS DISTINCT FROM op.account_id THEN
      IF money IS NOT NULL THEN
        accounts := accounts || account;
        account_money := account_money || money;
        account_promised := account_promised || promised;
      END IF;
      account := op.account_id;
      money := op.posted;
      promised := op.held_all;
    END IF;
    place := op.ord - 1;
    verdict := 'gone';
    detail := NULL;
    result := 0;
    beside := 0;
    spend := 0;
    hold := 0;
    need := CASE op.kind WHEN 'hold' THEN op.at_least
      WHEN 'extend' THEN GREATEST(op.held + op.more - op.held_now, 0) ELSE 0 END;
    room := money - promised;
    scope := NULL;
    IF op.purses <> '{}' THEN
      FOREACH purse IN ARRAY op.purses LOOP
        i := array_position(purses, purse);
        IF i IS NULL THEN
          SELECT g.limit_nano - COALESCE(p.spent + p.held, 0), g.scope INTO left_over, scope FROM budget g
            LEFT JOIN budget_period p ON p.budget_id = split_part(purse, ':', 1) AND p.period_start = split_part(purse, ':', 2)::date
            WHERE g.id = split_part(purse, ':', 1) AND g.account_id = account;
          purses := purses || purse;
          purse_left := purse_left || COALESCE(left_over, 0);
          purse_scope := purse_scope || scope;
          purse_spend := purse_spend || 0::bigint;
          purse_hold := purse_hold || 0::bigint;
          i := cardinality(purses);
        END IF;
        IF purse_left[i] < need AND money - promised >= need THEN detail := LEAST(detail, purse_scope[i]); END IF;
        room := LEAST(room, purse_left[i]);
      END LOOP;
    END IF;

    IF op.kind = 'hold' THEN
      IF op.state IS NOT NULL THEN
        -- Its own row stands: a repeat of what was committed though nobody heard.
        verdict := 'granted';
        result := op.held_now;
      ELSIF op.key_active IS NOT TRUE THEN
        verdict := 'key_inactive';
      ELSIF op.claimed_by IS NOT NULL THEN
        verdict := 'claimed';
        detail := op.claimed_by;
      ELSIF money IS NULL OR need > 0 AND room < need THEN
        verdict := 'refused';
        result := money - promised;
        beside := money;
      ELSE
        verdict := 'granted';
        IF op.charge THEN
          result := need;
          spend := need;
        ELSE
          result := GREATEST(need, LEAST(op.up_to, room));
          hold := result;
        END IF;
        held_ord := held_ord || op.ord::int;
        held_amount := held_amount || result;
      END IF;

    ELSIF op.kind = 'credit' THEN
      IF money IS NOT NULL AND NOT op.moved THEN
        verdict := 'moved';
        spend := -op.amount;
      END IF;

    ELSIF op.owner IS DISTINCT FROM account THEN
      NULL;

    ELSIF op.kind = 'close' THEN
      result := op.settled;
      IF op.state = 'open' THEN
        IF op.overdue OR NOT op.only_if_expired THEN
          verdict := 'closed';
          beside := CASE WHEN op.settle THEN COALESCE(op.cost, op.progress) ELSE 0 END;
          result := LEAST(beside, op.held_now);
          beside := beside - result;
          spend := result;
          hold := -op.held_now;
          closed_ord := closed_ord || op.ord::int;
          closed_id := closed_id || op.request_id;
          closed_settled := closed_settled || result;
          closed_absorbed := closed_absorbed || beside;
          closed_money := closed_money || (money - result);
        END IF;
      ELSIF op.expired AND op.absorbed = 0 AND op.settle AND op.cost > op.settled THEN
        -- The hold had expired: what it cost beyond what the expiry charged is the house's loss.
        UPDATE request SET absorbed = op.cost - op.settled WHERE id = op.request_id;
      END IF;

    ELSIF op.kind = 'extend' AND op.state = 'open' THEN
      IF need > 0 AND room < need THEN
        verdict := 'refused';
      ELSE
        verdict := 'extended';
        hold := need;
        extended_ord := extended_ord || op.ord::int;
        extended_id := extended_id || op.request_id;
        extended_by := extended_by || need;
      END IF;

    ELSIF op.kind = 'refund' AND NOT op.moved AND op.state = 'settled' AND op.refunded + op.amount <= op.settled THEN
      verdict := 'moved';
      spend := -op.amount;
      UPDATE request SET refunded = refunded + op.amount WHERE id = op.request_id;
    END IF;

    IF spend <> 0 THEN
      money := money - spend;
      moved_ord := moved_ord || op.ord::int;
      moved_amount := moved_amount || COALESCE(op.amount, spend);
    END IF;
    promised := promised + hold;
    IF op.purses <> '{}' AND (spend <> 0 OR hold <> 0) THEN
      FOREACH purse IN ARRAY op.purses LOOP
        i := array_position(purses, purse);
        purse_left[i] := purse_left[i] - spend - hold;
        purse_spend[i] := purse_spend[i] + spend;
        purse_hold[i] := purse_hold[i] + hold;
      END LOOP;
    END IF;
    RETURN NEXT;
  END LOOP;
  IF money IS NOT NULL THEN
    accounts := accounts || account;
    account_money := account_money || money;
    account_promised := account_promised || promised;
  END IF;

  UPDATE balance b SET posted = n.money, held = n.promised
    FROM unnest(accounts, account_money, account_promised) AS n(account_id, money, promised)
    WHERE b.account_id = n.account_id AND b.account_id = ANY (accounts) AND (b.posted <> n.money OR b.held <> n.promised);

  IF held_ord IS NOT NULL THEN
    INSERT INTO request (id, account_id, key_id, project_id, operation, model, state, status, expires_at, closed_at, held, settled,
        budgets, opened, idempotency_key, claim, fingerprint)
      SELECT o.request_id, o.account_id, o.key_id, o.project_id, o.operation, o.model,
        CASE WHEN o.charge THEN 'settled' ELSE 'open' END, CASE WHEN o.charge THEN 'succeeded' ELSE 'open' END,
        moment + o.ttl_ms * interval '1 millisecond', CASE WHEN o.charge THEN moment END,
        n.amount, CASE WHEN o.charge THEN n.amount ELSE 0 END,
        COALESCE(o.budgets, '{}'), o.opened, o.idempotency_key, o.claim, o.fingerprint
      FROM unnest(held_ord, held_amount) AS n(ord, amount)
      CROSS JOIN LATERAL jsonb_to_record(operations -> (n.ord - 1)) AS o(request_id text, account_id text, key_id text,
        project_id text, operation text, model text, charge boolean, ttl_ms bigint, budgets text[], opened jsonb,
        idempotency_key text, claim text, fingerprint text);
  END IF;
  IF closed_ord IS NOT NULL THEN
    WITH n AS MATERIALIZED (
      SELECT u.*, o.* FROM unnest(closed_ord, closed_id, closed_settled, closed_absorbed, closed_money)
        AS u(ord, id, settled, absorbed, money)
      CROSS JOIN LATERAL jsonb_to_record(operations -> (u.ord - 1)) AS o(settle boolean, status text, only_if_expired boolean,
        resolved_model text, provider text, closed jsonb, answer jsonb, keep_claim boolean)
    )
    UPDATE request r SET state = CASE WHEN n.settle THEN 'settled' ELSE 'released' END, status = n.status, closed_at = moment,
        settled = n.settled, absorbed = n.absorbed, expired = n.only_if_expired, resolved_model = n.resolved_model,
        provider = n.provider, closed = n.closed, answer = jsonb_set(n.answer, '{posted}', to_jsonb(n.money::text)),
        claim = CASE WHEN n.keep_claim THEN r.claim END
      FROM n WHERE r.id = n.id AND r.id = ANY (closed_id);
  END IF;
  IF extended_ord IS NOT NULL THEN
    WITH n AS MATERIALIZED (
      SELECT u.*, o.* FROM unnest(extended_ord, extended_id, extended_by) AS u(ord, id, more)
      CROSS JOIN LATERAL jsonb_to_record(operations -> (u.ord - 1)) AS o(progress bigint, ttl_ms bigint)
    )
    UPDATE request r SET held = r.held + n.more, progress = LEAST(GREATEST(r.progress, n.progress), r.held + n.more),
        expires_at = moment + n.ttl_ms * interval '1 millisecond'
      FROM n WHERE r.id = n.id AND r.id = ANY (extended_id);
  END IF;
  IF moved_ord IS NOT NULL THEN
    INSERT INTO transfer (debit, credit, amount, kind, request_id, reference)
      SELECT CASE o.kind WHEN 'credit' THEN 'house:' || o.source WHEN 'refund' THEN 'house:revenue' ELSE o.account_id END,
        CASE WHEN o.kind IN ('credit', 'refund') THEN o.account_id ELSE 'house:revenue' END, n.amount,
        CASE o.kind WHEN 'hold' THEN 'charge' WHEN 'close' THEN 'settle' ELSE o.kind END, o.request_id, o.reference
      FROM unnest(moved_ord, moved_amount) AS n(ord, amount)
      CROSS JOIN LATERAL jsonb_to_record(operations -> (n.ord - 1)) AS o(kind text, account_id text, request_id text, source text,
        reference text);
  END IF;
  FOR i IN 1 .. COALESCE(cardinality(purses), 0) LOOP
    CONTINUE WHEN purse_spend[i] = 0 AND purse_hold[i] = 0;
    UPDATE budget_period SET spent = spent + purse_spend[i], held = held + purse_hold[i]
      WHERE budget_id = split_part(purses[i], ':', 1) AND period_start = split_part(purses[i], ':', 2)::date;
    IF NOT FOUND THEN
      INSERT INTO budget_period (budget_id, period_start, spent, held)
        VALUES (split_part(purses[i], ':', 1), split_part(purses[i], ':', 2)::date, purse_spend[i], purse_hold[i]);
    END IF;
  END LOOP;
END $ledger$`
