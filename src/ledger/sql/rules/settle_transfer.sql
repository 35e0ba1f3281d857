-- Writes the transfers of settled holds, from the account to the operator.
INSERT INTO transfer (debit, credit, amount, kind, request_id) SELECT account, 'house:revenue', n.settled, 'settle', n.id
