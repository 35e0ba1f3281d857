-- The ledger's one statement, as a function of the database. It carries out a group of operations, each an object of the array, and
-- returns each answer under the operation's index. No two operations of a group may share a request, an idempotency claim or a
-- reference.
-- Every change to an account's money, requests or budgets happens behind the lock of its balance row. The function takes these locks in
-- order of id, so nodes cannot deadlock. Each query in the function sees what was committed before the query began. So everything it
-- reads behind the locks is current: it sees a key that was revoked, or a claim that was made, while it waited for a lock, and needs no
-- further lock.
-- The function first ends overdue holds of the accounts in the group. Then a loop decides the operations account by account: first
-- those that give money back, then holds and extensions in order of arrival, each by what the earlier ones left. The loop writes
-- nothing. The writes follow at once for the whole group, so a refused operation leaves nothing behind.
-- An account may have two kinds of money, each with its own balance and holds: real money (`balance`), and simulated money that a sandbox
-- created (`play_balance`). One kind pays for the whole request. The hold decides which, and its row records it (`play`). A hold
-- without `paid_by` takes real money. `paid_by` "either" is for a request that only doubles can serve: the hold takes simulated money where
-- that covers the whole maximum, or where there is not enough real money. With `paid_by` "play" the hold takes simulated money. Charges go
-- to, and refunds come from, `house:play` or `house:revenue` accordingly.
-- A hold names the budgets that its caller counts towards, and the epoch of its key tells how old that knowledge is. If the key's row
-- has a later epoch, the function answers so and the node must read the budgets again.
-- PostgreSQL makes a plan once per connection. The plan must not depend on how small a table happens to be at that moment, when reading
-- the whole table may look cheapest. So every table is also restricted to a list of what the group names, through which an index finds
-- its rows in any plan.
CREATE OR REPLACE FUNCTION ledger_commit(operations jsonb)
RETURNS TABLE (op_index int, verdict text, detail text, result bigint, beside bigint, money bigint, promised bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
  -- include: commit/state.sql
BEGIN
  SELECT array_agg(DISTINCT o ->> 'account_id'), array_agg(DISTINCT o ->> 'account_id') FILTER (WHERE o ->> 'kind' IN ('hold', 'extend')),
      array_agg(o ->> 'request_id'), array_agg(DISTINCT o ->> 'key_id'), array_agg(o ->> 'claim'), array_agg(o ->> 'reference')
    INTO all_accounts, all_taking, all_requests, all_keys, all_claims, all_references FROM jsonb_array_elements(operations) AS o;
  PERFORM 1 FROM balance WHERE account_id = ANY (all_accounts) ORDER BY account_id FOR UPDATE;
  moment := clock_timestamp();

  LOOP
    SELECT jsonb_agg(ledger_expiry(late.id, late.account_id)) INTO overdue FROM (
      SELECT r.id, r.account_id FROM request r
      WHERE r.account_id = ANY (all_taking) AND (r.id = ANY (all_requests)) IS NOT TRUE AND
        -- include: rules/overdue.sql
      ORDER BY r.expires_at LIMIT 100
    ) AS late;
    EXIT WHEN overdue IS NULL;
    PERFORM ledger_commit(overdue);
  END LOOP;

  FOR op IN
    -- include: commit/operations.sql
  LOOP
    -- include: commit/start.sql
    -- include: commit/budgets.sql
    -- include: commit/judge.sql
    -- include: commit/tally.sql
    RETURN NEXT;
  END LOOP;
  IF real_money IS NOT NULL THEN
    accounts := accounts || account;
    account_money := account_money || real_money;
    account_promised := account_promised || real_promised;
  END IF;

  -- include: commit/write_balances.sql
  -- include: commit/write_requests.sql
  -- include: commit/write_transfers.sql
END $$;
