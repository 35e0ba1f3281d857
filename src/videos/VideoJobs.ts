import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import {
  endJob,
  forgetEnded,
  saveProgress,
  hasCapacity,
  insertJob,
  jobById,
  jobOfRequest,
  jobsOf,
  joinLine,
  lockProvider,
  type NewVideoJob,
  noteSubmission,
  releaseLease,
  renewLease,
  type ProviderLimits,
  unattendedJobs,
  takeLease,
  unfinishedOf,
  type VideoEnd,
  type VideoProgress,
  type VideoPage,
  type VideoRow
} from "./VideoJobsSql.ts"

/** How many abandoned jobs one call returns at most. */
const UNATTENDED_BATCH = 100

/** How many ended jobs one call deletes at most. */
const FORGOTTEN_BATCH = 1_000

/** A job and the caller's lease on it. Each lease raises the `lease_number` of the row. */
type Lease = Pick<VideoRow, "id" | "lease_number">

/**
 * The rows of video jobs. A worker takes a lease on a job, and only one lease is valid at a time. Every write names its lease, so a
 * worker that has lost its lease writes nothing. Call methods that fail with `SqlError` within a transaction.
 */
export class VideoJobs extends Context.Service<
  VideoJobs,
  {
    readonly insert: (job: NewVideoJob) => Effect.Effect<VideoRow, SqlError.SqlError>
    readonly find: (id: string) => Effect.Effect<VideoRow | undefined, Unavailable>
    /** One page of an account's jobs, in the order of their submission. */
    readonly list: (accountId: string, page: VideoPage) => Effect.Effect<ReadonlyArray<VideoRow>, Unavailable>
    readonly ofRequest: (requestId: string) => Effect.Effect<VideoRow | undefined, Unavailable>
    /**
     * Takes a lease on a job for `forMs`. Returns undefined when the job has ended, another worker has a lease, or the job was polled
     * less than `idleMs` ago.
     */
    readonly take: (
      id: string,
      how: { readonly forMs: number; readonly idleMs: number }
    ) => Effect.Effect<VideoRow | undefined, Unavailable>
    /** Renews a lease for `forMs` from now. Returns false when the lease is no longer valid. */
    readonly renew: (lease: Lease, forMs: number) => Effect.Effect<boolean, Unavailable>
    /** Releases a lease that was not used. */
    readonly release: (lease: Lease) => Effect.Effect<void, Unavailable>
    /**
     * Records, before the job goes to a provider, that it is about to, and renews the lease. If the outcome is lost, the record
     * remains. Returns `full` when the provider, across all nodes, has no capacity for this job and those that have waited longer; the
     * job then waits in line. Returns `lease_lost` when the lease is no longer valid.
     */
    readonly submitting: (
      lease: Lease & Pick<VideoRow, "account_id" | "submissions">,
      provider: string,
      limits: ProviderLimits,
      forMs: number
    ) => Effect.Effect<"noted" | "full" | "lease_lost", Unavailable>
    /** Ends a lease and lets the job continue. Returns undefined and writes nothing when the lease is no longer valid. */
    readonly saveProgress: (lease: Lease, progress: VideoProgress) => Effect.Effect<VideoRow | undefined, Unavailable>
    /** Ends the job. Returns undefined and writes nothing when the lease is no longer valid. */
    readonly end: (lease: Lease, end: VideoEnd) => Effect.Effect<VideoRow | undefined, SqlError.SqlError>
    /** Returns some jobs without a worker that are past their deadline or have been due for longer than `graceMs`. */
    readonly unattended: (graceMs: number) => Effect.Effect<ReadonlyArray<string>, Unavailable>
    /** Counts the unfinished jobs of an account. The count is exact in a transaction that has charged the account. */
    readonly unfinished: (accountId: string) => Effect.Effect<number, SqlError.SqlError>
    /** Deletes some of the jobs that ended longer ago than this. */
    readonly forget: (olderThanMs: number) => Effect.Effect<void, Unavailable>
  }
>()("tollgate/videos/VideoJobs") {
  static readonly layer = Layer.effect(
    VideoJobs,
    Effect.map(SqlClient.SqlClient, (sql) =>
      VideoJobs.of({
        insert: (job) =>
          Effect.flatMap(insertJob(sql, job), (row) =>
            row === undefined
              ? Effect.die(new Error("the database did not return an inserted row"))
              : Effect.succeed(row)
          ),
        find: (id) => storeErrors(jobById(sql, id)),
        list: (accountId, page) => storeErrors(jobsOf(sql, accountId, page)),
        ofRequest: (requestId) => storeErrors(jobOfRequest(sql, requestId)),
        take: (id, how) => storeErrors(takeLease(sql, id, how)),
        renew: ({ id, lease_number: leaseNumber }, forMs) => storeErrors(renewLease(sql, id, leaseNumber, forMs)),
        release: ({ id, lease_number: leaseNumber }) => storeErrors(Effect.asVoid(releaseLease(sql, id, leaseNumber))),
        submitting: (lease, provider, limits, forMs) =>
          storeErrors(
            sql.withTransaction(
              Effect.gen(function* () {
                yield* lockProvider(sql, provider)
                if (yield* hasCapacity(sql, lease, provider, limits)) {
                  return (yield* noteSubmission(sql, lease, provider, forMs))
                    ? ("noted" as const)
                    : ("lease_lost" as const)
                }
                yield* joinLine(sql, lease, provider)
                return "full" as const
              })
            )
          ),
        saveProgress: (lease, progress) => storeErrors(saveProgress(sql, lease, progress)),
        end: (lease, end) => endJob(sql, lease, end),
        unattended: (graceMs) => storeErrors(unattendedJobs(sql, graceMs, UNATTENDED_BATCH)),
        unfinished: (accountId) => unfinishedOf(sql, accountId),
        forget: (olderThanMs) => storeErrors(Effect.asVoid(forgetEnded(sql, olderThanMs, FORGOTTEN_BATCH)))
      })
    )
  )
}
