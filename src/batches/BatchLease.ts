import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { type BatchRow, leaseBatch, releaseBatch, renewBatch } from "./BatchesSql.ts"
import type { Outcome } from "../jobs/Jobs.ts"
import { newResourceId } from "../platform/Ids.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"

/** How long a silent process keeps a batch, and how often a living one renews its lease. */
const LEASE_MS = 30_000
const RENEWAL = "10 seconds"

/** The outcome of a step that has to wait for other work: look again soon. */
export const later: Outcome = { again: "1 second" }

/**
 * Runs a step of a batch under a lease, so that no other process works on it, and passes it the current row. Before the step starts
 * work that costs money, it must check that it still holds the batch.
 */
export const withLease = (
  sql: SqlClient.SqlClient,
  id: string,
  step: (batch: BatchRow) => Effect.Effect<Outcome, Unavailable>
): Effect.Effect<Outcome, Unavailable> => {
  const lease = { id, worker: newResourceId(), ms: LEASE_MS }
  const renewing = Effect.forever(
    Effect.andThen(Effect.sleep(RENEWAL), Effect.ignore(storeErrors(renewBatch(sql, lease))))
  )
  return Effect.acquireUseRelease(
    storeErrors(leaseBatch(sql, lease)),
    (batch) => (batch === undefined ? Effect.succeed(later) : Effect.raceFirst(step(batch), renewing)),
    (batch) => (batch === undefined ? Effect.void : Effect.ignore(storeErrors(releaseBatch(sql, lease))))
  )
}
