import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * The ids of requests that were answered with what an earlier request under the same idempotency key got. They have no receipt of
 * their own, so each names the request whose receipt explains the answer.
 */
export const replays = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE replay (
    id text PRIMARY KEY,
    account_id text NOT NULL REFERENCES account (id),
    request_id text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
  )`
  yield* sql`CREATE INDEX replay_created ON replay (created_at)`
})
