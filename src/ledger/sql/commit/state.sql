-- The variables of the function: its state while it decides a group, and the rows that it will write.
op record;
overdue jsonb;
moment timestamptz;
late_before text COLLATE "C";
-- the ids, keys, claims and references in the operations of the group
all_accounts text[];
all_taking text[];
all_requests text[];
all_keys text[];
all_claims text[];
all_references text[];
-- the current account: its balance and its held amount (promised), for each kind of money
account text;
real_money bigint;
real_promised bigint;
play_money bigint;
play_promised bigint;
-- the current operation: whether it moves simulated money, the wanted, the needed and the available amount, and its changes
plays boolean;
wanted bigint;
need bigint;
room bigint;
spend bigint;
hold bigint;
-- the budgets of the group so far: id and period, scope, the amount left, and the changes
budget_ref text;
i int;
scope text;
left_over bigint;
short_of bigint;
budget_refs text[];
budget_scope text[];
budget_left bigint[];
budget_spend bigint[];
budget_hold bigint[];
-- the rows to write
accounts text[];
account_money bigint[];
account_promised bigint[];
play_accounts text[];
play_posted bigint[];
play_held bigint[];
held_ord int[];
held_amount bigint[];
held_plays boolean[];
closed_ord int[];
closed_id text[];
closed_settled bigint[];
closed_absorbed bigint[];
closed_money bigint[];
extended_ord int[];
extended_id text[];
extended_by bigint[];
moved_ord int[];
moved_spend bigint[];
moved_house text[];
moved_comes boolean[];
