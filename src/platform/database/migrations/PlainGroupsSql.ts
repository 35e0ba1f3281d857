import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The first version of the statement for plain groups. `PlainGroupsCheckedSql.ts` has the current one. */
const ledgerCommitPlain = `
CREATE FUNCTION ledger_commit_plain(account text, closes jsonb, holds jsonb)
RETURNS TABLE (place int, verdict text, detail text, result bigint, beside bigint, money bigint, promised bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $plain$
#variable_conflict use_column
DECLARE
  moment timestamptz;
BEGIN
  PERFORM 1 FROM balance WHERE account_id = account FOR UPDATE;
  moment := clock_timestamp();

  IF closes <> '[]' THEN
    RETURN QUERY WITH op AS MATERIALIZED (
      SELECT ord, said, r.id, r.held, LEAST(r.due, r.held) AS settled, GREATEST(r.due - r.held, 0) AS absorbed,
        sum(LEAST(r.due, r.held)) OVER so_far AS all_settled, sum(r.held) OVER so_far AS all_held
      FROM jsonb_array_elements(closes) WITH ORDINALITY AS o(said, ord)
      -- A subquery that is kept as it is: what is asked of the row beside its id and account must not choose the index.
      CROSS JOIN LATERAL (
        SELECT id, state, budgets, held,
          CASE WHEN (said ->> 'settle')::boolean THEN COALESCE((said ->> 'cost')::bigint, progress) ELSE 0 END AS due
        FROM request WHERE id = said ->> 'request_id' AND account_id = account OFFSET 0
      ) AS r
      WHERE said ->> 'account_id' = account AND NOT (said ->> 'only_if_expired')::boolean
        AND r.state = 'open' AND r.budgets = '{}'
      WINDOW so_far AS (ORDER BY ord ROWS UNBOUNDED PRECEDING)
    ), every AS MATERIALIZED (
      SELECT max(all_settled)::bigint AS settled, max(all_held)::bigint AS held FROM op
      HAVING count(*) = jsonb_array_length(closes) AND (holds = '[]' OR (
        SELECT count(*) FROM request WHERE account_id = account AND state = 'open' AND expires_at <= moment) = 0)
    ), paid AS (
      UPDATE balance b SET posted = b.posted - every.settled, held = b.held - every.held FROM every WHERE b.account_id = account
      RETURNING b.posted + every.settled AS posted, b.held + every.held AS held
    ), ended AS (
      UPDATE request r SET state = CASE WHEN (said ->> 'settle')::boolean THEN 'settled' ELSE 'released' END,
          status = said ->> 'status', closed_at = moment, settled = op.settled, absorbed = op.absorbed,
          resolved_model = said ->> 'resolved_model', provider = said ->> 'provider', closed = said -> 'closed',
          answer = jsonb_set(said -> 'answer', '{posted}', to_jsonb((paid.posted - op.all_settled)::text)),
          claim = CASE WHEN (said ->> 'keep_claim')::boolean THEN r.claim END
        -- Not by equality, which a plan could serve by merging with all requests.
        FROM op CROSS JOIN paid WHERE r.id BETWEEN op.id AND op.id AND r.account_id = account
    ), moved AS (
      INSERT INTO transfer (debit, credit, amount, kind, request_id)
        SELECT account, 'house:revenue', op.settled, 'settle', op.id FROM op CROSS JOIN paid WHERE op.settled > 0
    )
    SELECT op.ord::int - 1, 'closed', NULL::text, op.settled, op.absorbed, paid.posted - op.all_settled::bigint,
      paid.held - op.all_held::bigint FROM op CROSS JOIN paid;
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
          -- Not asked by NOT EXISTS, for which a plan may read the whole table at once.
          AND (SELECT r.state FROM request r WHERE r.id = said ->> 'request_id' AND r.account_id = account) IS NULL
          AND (NOT said ? 'claim'
            OR (SELECT r.id FROM request r WHERE r.account_id || '' = account AND r.claim = said ->> 'claim') IS NULL) AS plain
      FROM jsonb_array_elements(holds) WITH ORDINALITY AS o(said, ord)
    ), every AS MATERIALIZED (
      SELECT sum(amount) AS held FROM op HAVING bool_and(plain IS TRUE) AND (
        SELECT count(*) FROM request WHERE account_id = account AND state = 'open' AND expires_at <= moment) = 0
    ), promised AS (
      UPDATE balance b SET held = (b.held + every.held)::bigint FROM every WHERE b.account_id = account AND b.posted - b.held >= every.held
      RETURNING b.posted, (b.held - every.held)::bigint AS held
    ), begun AS (
      INSERT INTO request (id, account_id, key_id, project_id, operation, model, state, status, expires_at, held, opened,
          idempotency_key, claim, fingerprint)
        SELECT said ->> 'request_id', account, said ->> 'key_id', said ->> 'project_id', said ->> 'operation', said ->> 'model',
          'open', 'open', moment + (said ->> 'ttl_ms')::bigint * interval '1 millisecond', amount, said -> 'opened',
          said ->> 'idempotency_key', said ->> 'claim', said ->> 'fingerprint'
        FROM op CROSS JOIN promised
    )
    SELECT op.ord::int - 1 + jsonb_array_length(closes), 'granted', NULL::text, op.amount, 0::bigint, promised.posted,
      promised.held + (sum(op.amount) OVER (ORDER BY op.ord ROWS UNBOUNDED PRECEDING))::bigint FROM op CROSS JOIN promised;
    IF NOT FOUND THEN
      RETURN QUERY SELECT place + jsonb_array_length(closes), verdict, detail, result, beside, money, promised FROM ledger_commit(holds);
    END IF;
  END IF;
END $plain$`

/** Adds a cheap statement for the most common kind of group. */
export const plainGroups = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(ledgerCommitPlain)
})
