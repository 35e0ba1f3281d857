-- What the account pays of that, which is never more than the hold. The operator absorbs the rest.
LEAST(
  -- include: rules/due.sql
  , r.held)
