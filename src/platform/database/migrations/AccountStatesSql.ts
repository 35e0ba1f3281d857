import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Adds the state of an account, the operator's reason for it, and the time of the last change. */
export const accountStates = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE account
    ADD COLUMN state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'suspended', 'closed')),
    ADD COLUMN state_reason text,
    ADD COLUMN state_changed_at timestamptz`
})
