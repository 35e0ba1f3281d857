-- `replaced_by` names the key that replaces a rotated one, which may work for a while beside it. The reference to the project keeps a
-- key out of another account's project, whatever mistake a program makes.
CREATE TABLE api_key (
  id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
  account_id text NOT NULL REFERENCES account,
  project_id text,
  kind text NOT NULL CHECK (kind IN ('inference', 'management')),
  name text NOT NULL,
  hash bytea NOT NULL CHECK (octet_length(hash) = 32),
  prefix text NOT NULL,
  last4 text NOT NULL,
  scopes text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  budget_id text REFERENCES budget,
  routing json,
  replaced_by text REFERENCES api_key,
  budgets_epoch integer NOT NULL DEFAULT 0,
  allowed_tools text[],
  CONSTRAINT api_key_project_fkey FOREIGN KEY (account_id, project_id) REFERENCES project (account_id, id)
);
COMMENT ON TABLE api_key IS 'API keys, of which only the hash, the prefix and the last four characters are stored';
CREATE UNIQUE INDEX api_key_hash ON api_key (hash);
-- No other index has this collation. So no plan can walk through all keys in the order of another index instead.
CREATE INDEX api_key_of_kind ON api_key (account_id, kind, id COLLATE "C" DESC);
-- Any number of keys may be revoked or expired. This index finds the working keys without reading the others.
CREATE INDEX api_key_working ON api_key (account_id, COALESCE(expires_at, 'infinity'::timestamptz))
  WHERE kind = 'inference' AND revoked_at IS NULL;
CREATE INDEX api_key_project ON api_key (project_id) WHERE project_id IS NOT NULL AND revoked_at IS NULL;
CREATE INDEX api_key_budget ON api_key (budget_id) WHERE budget_id IS NOT NULL;

-- Nodes cache for a while which budgets a key's holds count towards. The key's epoch tells the ledger whether a node's cache is
-- current. The epoch changes with the key's budget, its project, and its project's budget.
CREATE FUNCTION api_key_budgets_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  NEW.budgets_epoch := OLD.budgets_epoch + 1;
  RETURN NEW;
END $$;
CREATE TRIGGER api_key_budgets_change BEFORE UPDATE OF budget_id, project_id ON api_key FOR EACH ROW
  WHEN (NEW.budget_id IS DISTINCT FROM OLD.budget_id OR NEW.project_id IS DISTINCT FROM OLD.project_id)
  EXECUTE FUNCTION api_key_budgets_change();

CREATE FUNCTION project_budget_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE api_key SET budgets_epoch = budgets_epoch + 1 WHERE project_id = NEW.id AND revoked_at IS NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER project_budget_change AFTER UPDATE OF budget_id ON project FOR EACH ROW
  WHEN (NEW.budget_id IS DISTINCT FROM OLD.budget_id) EXECUTE FUNCTION project_budget_change();

-- Locks the project: if it gets another budget at the same instant, the change must include the key that is joining it, and the key
-- must get that budget.
CREATE FUNCTION api_key_comes_into_project() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  PERFORM 1 FROM project WHERE id = NEW.project_id FOR SHARE;
  RETURN NEW;
END $$;
CREATE TRIGGER api_key_made_in_project BEFORE INSERT ON api_key FOR EACH ROW
  WHEN (NEW.project_id IS NOT NULL) EXECUTE FUNCTION api_key_comes_into_project();
CREATE TRIGGER api_key_moved_into_project BEFORE UPDATE OF project_id ON api_key FOR EACH ROW
  WHEN (NEW.project_id IS NOT NULL AND NEW.project_id IS DISTINCT FROM OLD.project_id)
  EXECUTE FUNCTION api_key_comes_into_project();

-- A rotated key that still works has the budget, the project and the routing of the key that replaces it. Otherwise the two would have
-- two budgets, and the limits of the project would not apply to the old key. Keys between the two may have stopped earlier.
CREATE FUNCTION api_key_is_as_its_successor() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  WITH RECURSIVE successor AS (
    SELECT id, replaced_by FROM api_key WHERE account_id = NEW.account_id AND kind = 'inference' AND revoked_at IS NULL
      AND COALESCE(expires_at, 'infinity'::timestamptz) > now() AND replaced_by IS NOT NULL
    UNION ALL SELECT s.id, k.replaced_by FROM successor s JOIN api_key k ON k.id = s.replaced_by WHERE k.replaced_by IS NOT NULL
  ) UPDATE api_key k SET budget_id = NEW.budget_id, project_id = NEW.project_id, routing = NEW.routing
    FROM successor s WHERE k.id = s.id AND s.replaced_by = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER api_key_rotated AFTER UPDATE OF budget_id, project_id, routing ON api_key FOR EACH ROW
  WHEN (NEW.budget_id IS DISTINCT FROM OLD.budget_id OR NEW.project_id IS DISTINCT FROM OLD.project_id
    OR NEW.routing::text IS DISTINCT FROM OLD.routing::text)
  EXECUTE FUNCTION api_key_is_as_its_successor();
