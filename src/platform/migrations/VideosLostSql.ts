import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** How often a provider knew nothing of a job, apart from all else that went wrong with it. */
export const videosLost = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE video_job ADD COLUMN lost integer NOT NULL DEFAULT 0 CHECK (lost >= 0)`
})
