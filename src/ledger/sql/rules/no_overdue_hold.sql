-- Whether no hold of the account is overdue. NOT EXISTS would allow a plan that reads the whole table at once.
(SELECT count(*) FROM request AS r WHERE r.account_id = account AND
  -- include: rules/overdue.sql
) = 0
