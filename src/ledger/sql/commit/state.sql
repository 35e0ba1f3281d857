-- What the function knows while it decides a group, and what it will write.
op record;
overdue jsonb;
moment timestamptz;
late_before text COLLATE "C";
-- what the operations of the group name
all_accounts text[];
all_taking text[];
all_requests text[];
all_keys text[];
all_claims text[];
all_references text[];
-- the account at hand: what it has and how much of that is held, of either kind of money
account text;
real_money bigint;
real_promised bigint;
play_money bigint;
play_promised bigint;
-- the operation at hand: whether it moves simulated money, what it needs, what there is, and what it changes
plays boolean;
wanted bigint;
need bigint;
room bigint;
spend bigint;
hold bigint;
-- the budgets of the group so far: id and period, scope, what is left in them, and what they change by
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
-- what is to be written
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
