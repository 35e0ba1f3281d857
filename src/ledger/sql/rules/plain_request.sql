-- Whether `r` counts towards no budget and is paid with real money. Others are judged.
r.budgets = '{}' AND r.play IS NULL
