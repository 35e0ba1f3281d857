-- What its receipt says.
jsonb_build_object('error', jsonb_build_object('_tag', 'HoldExpired'))
