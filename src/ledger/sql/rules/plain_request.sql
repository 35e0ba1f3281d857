-- Whether `r` counts towards no budget and is paid with real money. `ledger_commit` decides all others.
r.budgets = '{}' AND r.play IS NULL
