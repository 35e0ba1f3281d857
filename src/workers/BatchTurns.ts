/** Whose turn it is: one process at a time works on a batch, and none works on one account's batches alone. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { type BatchRow, leaseBatch, releaseBatch, renewBatch } from "../inference/BatchesSql.ts"
import type { Outcome } from "../jobs/Jobs.ts"
import { newResourceId } from "../platform/Ids.ts"
import { storeErrors, type Unavailable } from "../platform/Sql.ts"

/** How long a batch waits for a process that says nothing, and how often one that lives says something. */
const LEASE_MS = 30_000
const RENEWAL = "10 seconds"

/** When one that others are at is looked at again. */
const later: Outcome = { again: "1 second" }

/** Gives each account so many turns at a time on a node. */
export const makeTurns = (most: number) => {
  const taken = new Map<string, number>()
  return <E>(accountId: string, turn: Effect.Effect<Outcome, E>): Effect.Effect<Outcome, E> =>
    Effect.suspend(() => {
      const before = taken.get(accountId) ?? 0
      if (before >= most) return Effect.succeed(later)
      taken.set(accountId, before + 1)
      const over = Effect.sync(() => {
        const left = taken.get(accountId)! - 1
        if (left === 0) taken.delete(accountId)
        else taken.set(accountId, left)
      })
      return Effect.ensuring(turn, over)
    })
}

/**
 * Does a step of a batch that nobody else does one of at the same time, in any process, with the batch as it stands then. It is
 * for the step to look, before it begins what costs money, whether the batch is still its own.
 */
export const leased = (
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
