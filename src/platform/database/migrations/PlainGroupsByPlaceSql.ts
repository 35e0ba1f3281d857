import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * The statement for plain groups when it first closed requests by their physical place (ctid). `PlainGroupsCheckedSql.ts` has the
 * current one.
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
        FROM op CROSS JOIN paid WHERE r.ctid = op.row
    ), moved AS (
      INSERT INTO transfer (debit, credit, amount, kind, request_id)
        SELECT account, 'house:revenue', op.settled, 'settle', op.id FROM op CROSS JOIN paid WHERE op.settled > 0
    )
    SELECT op.ord::int - 1, 'closed', NULL::text, op.settled, op.absorbed, op.money, op.promised FROM op CROSS JOIN paid;
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

/**
 * Replaces the statement with a cheaper one, which is equally cheap on a connection that planned while the table was empty.
 */
export const plainGroupsByPlace = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(ledgerCommitPlain)
})
