import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * The ledger's statement for nearly every group: closes and holds of one account, none of which depends on the ones before it. It does
 * and returns what `ledger_commit` would, first the closes and then the holds, each under its index in both together, at a part of the
 * cost. In every case that is not plain it leaves the group to `ledger_commit`, the only place with such rules, before it has written
 * anything: a close of a request that is not open or counts towards a budget, an existing hold, a key or a claim that is an obstacle,
 * less money than all holds might take, an overdue hold of the account.
 * PostgreSQL makes a plan once per connection, perhaps when a table is tiny and any of its indexes looks as good as another. So a
 * request is read by its id and its account, which limits the read of either index that starts with one of them. For values that are in
 * no index, it is read by the id alone, with which only one index starts, so that no plan walks through another index. Where the index
 * on accounts would read all rows of an account, the account is written in a form that the index cannot serve. A row to be closed is
 * written where it was found, by its physical place (ctid), which leaves the plan no choice.
 * The account's balance is locked first, so everything read afterwards is current: all code that changes an open request takes that
 * lock. If some code did not, and the request ended or moved between the two steps, the whole statement fails and none of it stands. So
 * no payment is made for a request that the statement does not end.
 */
const ledgerCommitPlain = `
CREATE OR REPLACE FUNCTION ledger_commit_plain(account text, closes jsonb, holds jsonb)
RETURNS TABLE (place int, verdict text, detail text, result bigint, beside bigint, money bigint, promised bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $plain$
#variable_conflict use_column
DECLARE
  ending CONSTANT int := jsonb_array_length(closes);
  moment timestamptz;
  money_before bigint;
  promised_before bigint;
BEGIN
  SELECT posted, held INTO money_before, promised_before FROM balance WHERE account_id = account FOR UPDATE;
  moment := clock_timestamp();

  IF ending > 0 THEN
    RETURN QUERY WITH op AS MATERIALIZED (
      SELECT ord, said, r.row, r.id, LEAST(r.due, r.held) AS settled, GREATEST(r.due - r.held, 0) AS absorbed,
        money_before - total(LEAST(r.due, r.held)) OVER so_far AS money, promised_before - total(r.held) OVER so_far AS promised
      FROM jsonb_array_elements(closes) WITH ORDINALITY AS o(said, ord)
      -- A subquery that is kept as it is: what is asked of the row beside its id and account must not choose the index.
      CROSS JOIN LATERAL (
        SELECT ctid AS row, id, state, budgets, held,
          CASE WHEN (said ->> 'settle')::boolean THEN COALESCE((said ->> 'cost')::bigint, progress) ELSE 0 END AS due
        FROM request WHERE id = said ->> 'request_id' AND account_id = account OFFSET 0
      ) AS r
      WHERE said ->> 'account_id' = account AND NOT (said ->> 'only_if_expired')::boolean
        AND r.state = 'open' AND r.budgets = '{}'
      WINDOW so_far AS (ORDER BY ord ROWS UNBOUNDED PRECEDING)
    ), every AS MATERIALIZED (
      SELECT min(money) AS money, min(promised) AS promised FROM op
      HAVING count(*) = ending AND (holds = '[]' OR (
        SELECT count(*) FROM request WHERE account_id = account AND state = 'open' AND expires_at <= moment) = 0)
    ), paid AS (
      UPDATE balance b SET posted = every.money, held = every.promised FROM every WHERE b.account_id = account RETURNING 1
    ), ended AS (
      UPDATE request r SET state = CASE WHEN (said ->> 'settle')::boolean THEN 'settled' ELSE 'released' END,
          status = said ->> 'status', closed_at = moment, settled = op.settled, absorbed = op.absorbed,
          resolved_model = said ->> 'resolved_model', provider = said ->> 'provider', closed = said -> 'closed',
          answer = jsonb_set(said -> 'answer', '{posted}', to_jsonb(op.money::text)),
          claim = CASE WHEN (said ->> 'keep_claim')::boolean THEN r.claim END
        -- Not asked as the index on open requests has it, which then cannot serve.
        FROM op CROSS JOIN paid WHERE r.ctid = op.row AND r.state || '' = 'open' RETURNING op.ord
    ), moved AS (
      INSERT INTO transfer (debit, credit, amount, kind, request_id)
        SELECT account, 'house:revenue', op.settled, 'settle', op.id FROM op CROSS JOIN paid WHERE op.settled > 0
    )
    SELECT COALESCE(ended.ord, ledger_unwritten(op.id))::int - 1, 'closed', NULL::text, op.settled, op.absorbed, op.money, op.promised
      FROM op CROSS JOIN paid LEFT JOIN ended ON ended.ord = op.ord;
    IF NOT FOUND THEN
      RETURN QUERY SELECT * FROM ledger_commit(closes || holds);
      RETURN;
    END IF;
  END IF;

  IF holds <> '[]' THEN
    RETURN QUERY WITH op AS MATERIALIZED (
      SELECT ord, said, GREATEST((said ->> 'at_least')::bigint, (said ->> 'up_to')::bigint) AS amount,
        said ->> 'account_id' = account AND NOT COALESCE((said ->> 'charge')::boolean, false) AND said -> 'budgets' = '[]'
          AND (SELECT k.account_id = account AND k.revoked_at IS NULL AND COALESCE(k.expires_at > moment, true)
            AND k.budgets_epoch = (said ->> 'budgets_epoch')::int FROM api_key k WHERE k.id = said ->> 'key_id')
          AND (NOT said ? 'claim'
            OR (SELECT r.id FROM request r WHERE r.account_id || '' = account AND r.claim = said ->> 'claim') IS NULL) AS plain
      FROM jsonb_array_elements(holds) WITH ORDINALITY AS o(said, ord)
    ), every AS MATERIALIZED (
      SELECT total(amount) AS held FROM op HAVING bool_and(plain IS TRUE)
        -- Not asked by NOT EXISTS, for which a plan may read the whole table at once.
        AND (SELECT state FROM request WHERE id = ANY (array_agg(op.said ->> 'request_id')) LIMIT 1) IS NULL
        AND (SELECT count(*) FROM request WHERE account_id = account AND state = 'open' AND expires_at <= moment) = 0
    ), promised AS (
      UPDATE balance b SET held = b.held + every.held FROM every WHERE b.account_id = account AND b.posted - b.held >= every.held
      RETURNING b.posted, b.held - every.held AS held
    ), begun AS (
      INSERT INTO request (id, account_id, key_id, project_id, operation, model, state, status, expires_at, held, opened,
          idempotency_key, claim, fingerprint)
        SELECT said ->> 'request_id', account, said ->> 'key_id', said ->> 'project_id', said ->> 'operation', said ->> 'model',
          'open', 'open', moment + (said ->> 'ttl_ms')::bigint * interval '1 millisecond', amount, said -> 'opened',
          said ->> 'idempotency_key', said ->> 'claim', said ->> 'fingerprint'
        FROM op CROSS JOIN promised
    )
    SELECT op.ord::int - 1 + ending, 'granted', NULL::text, op.amount, 0::bigint, promised.posted,
      promised.held + total(op.amount) OVER (ORDER BY op.ord ROWS UNBOUNDED PRECEDING) FROM op CROSS JOIN promised;
    IF NOT FOUND THEN
      RETURN QUERY SELECT place + ending, verdict, detail, result, beside, money, promised FROM ledger_commit(holds);
    END IF;
  END IF;
END $plain$`

/** Makes the statement fail. */
const ledgerUnwritten = `
CREATE FUNCTION ledger_unwritten(request text) RETURNS bigint LANGUAGE plpgsql AS $unwritten$
BEGIN
  RAISE EXCEPTION 'request % has changed while its account was locked', request;
END $unwritten$`

/** Replaces the statement with one that fails when a request that it paid for was not written. */
export const plainGroupsChecked = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(ledgerUnwritten)
  yield* sql.unsafe(ledgerCommitPlain)
})
