-- The columns that the end of a hold writes to its row.
state = CASE WHEN n.settle THEN 'settled' ELSE 'released' END, settled = n.settled, absorbed = n.absorbed,
-- include: rules/receipt.sql
