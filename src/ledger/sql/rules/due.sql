-- The cost of the request `r` at its end `o`: the end's cost, or the recorded progress if it has none. Zero when it releases the hold.
CASE WHEN o.settle THEN COALESCE(o.cost, r.progress) ELSE 0 END
