-- The facts that the receipt of an expired hold shows.
jsonb_build_object('error', jsonb_build_object('_tag', 'HoldExpired'))
