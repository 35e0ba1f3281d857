-- What the end `o` of the request `r` costs: its cost, or the recorded progress where it names none; nothing when it releases the hold.
CASE WHEN o.settle THEN COALESCE(o.cost, r.progress) ELSE 0 END
