-- The part of the cost that the account pays, which is never more than the hold. The operator absorbs the rest.
LEAST(
  -- include: rules/due.sql
  , r.held)
