import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Adds projects, to which keys of the same account may belong. */
export const projects = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE project (
    id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
    account_id text NOT NULL REFERENCES account,
    name text NOT NULL,
    slug text NOT NULL CHECK (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
    budget_id text REFERENCES budget,
    routing json,
    data_policy text NOT NULL DEFAULT 'default' CHECK (data_policy IN ('default', 'no_training', 'zero_retention')),
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    archived_at timestamptz,
    UNIQUE (account_id, id),
    UNIQUE (account_id, slug)
  )`
  // No other index has this order, as with `api_key_of_kind`.
  yield* sql`CREATE INDEX project_account ON project (account_id, id COLLATE "C" DESC)`
  // The constraint keeps a key out of another account's project, whatever mistake a program makes.
  yield* sql`ALTER TABLE api_key ADD CONSTRAINT api_key_project_fkey
    FOREIGN KEY (account_id, project_id) REFERENCES project (account_id, id)`
  yield* sql`CREATE INDEX api_key_project ON api_key (project_id) WHERE project_id IS NOT NULL AND revoked_at IS NULL`
})
