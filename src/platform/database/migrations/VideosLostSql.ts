import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Counts how often a provider did not know a job, separately from all other failures. */
export const videosLost = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE video_job ADD COLUMN lost integer NOT NULL DEFAULT 0 CHECK (lost >= 0)`
})
