import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { VideoError, VideoState, VideoOptions } from "../domain/Video.ts"
import { limitTo, storableText } from "../platform/database/Sql.ts"

export interface VideoRow {
  readonly id: string
  readonly request_id: string
  readonly account_id: string
  readonly model: string
  readonly state: VideoState
  readonly prompt: string
  readonly parameters: VideoOptions
  /** The candidate providers and prices, in the planner's serialized form. */
  readonly plan: unknown
  readonly steering: string | null
  readonly charged: bigint
  /** The final cost; null until the job ends. */
  readonly cost: bigint | null
  readonly refunded: boolean
  readonly provider: string | null
  readonly ticket: string | null
  /** The providers that were asked to take the job, in the form of a receipt. */
  readonly attempts: ReadonlyArray<unknown>
  readonly submissions: number
  readonly polls: number
  readonly faults: number
  readonly lost: number
  readonly progress: number
  /** The number of the newest lease, in the column `turn`. A write that names an older one changes nothing. */
  readonly lease_number: bigint
  readonly file_id: string | null
  readonly error_code: VideoError["code"] | null
  readonly error_message: string | null
  readonly created_at: Date
  readonly completed_at: Date | null
  /** Whether the job's deadline has passed. */
  readonly overdue: boolean
}

export interface NewVideoJob extends Pick<
  VideoRow,
  "id" | "prompt" | "parameters" | "model" | "plan" | "steering" | "charged"
> {
  readonly requestId: string
  readonly accountId: string
  readonly keyId: string
  readonly deadlineMs: number
}

/** The state of a job that continues. */
export interface VideoProgress extends Pick<
  VideoRow,
  "state" | "progress" | "submissions" | "polls" | "faults" | "lost" | "provider" | "ticket" | "attempts"
> {
  readonly waitMs: number
}

/** The final state of a job. */
export interface VideoEnd extends Pick<
  VideoRow,
  "state" | "progress" | "refunded" | "file_id" | "error_code" | "error_message" | "parameters"
> {
  readonly cost: bigint
}

/** How many jobs a provider may have at once, in total and per account. */
export interface ProviderLimits {
  readonly limit: number
  readonly perAccount: number
}

type Sql = SqlClient.SqlClient

const columns = (sql: Sql) =>
  sql.literal(`id, request_id, account_id, model, state, prompt, parameters, plan, steering, charged, cost, refunded, provider, ticket,
    attempts, submissions, polls, faults, lost, progress, turn AS lease_number, file_id, error_code, error_message, created_at,
    completed_at, deadline_at <= clock_timestamp() AS overdue`)

const first = <A>(rows: ReadonlyArray<A>): A | undefined => rows[0]

/** A moment relative to the database clock. */
const inMs = (sql: Sql, ms: number) => sql`clock_timestamp() + ${BigInt(Math.ceil(ms))} * interval '1 millisecond'`

export const insertJob = (sql: Sql, job: NewVideoJob): Effect.Effect<VideoRow | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<VideoRow>`INSERT INTO video_job
      (id, request_id, account_id, key_id, model, prompt, parameters, plan, steering, charged, deadline_at)
      VALUES (${job.id}, ${job.requestId}, ${job.accountId}, ${job.keyId}, ${job.model}, ${JSON.stringify(job.prompt)}::json,
        ${JSON.stringify(job.parameters)}::json, ${JSON.stringify(job.plan)}::json, ${job.steering}, ${job.charged},
        ${inMs(sql, job.deadlineMs)})
      RETURNING ${columns(sql)}`,
    first
  )

export const jobById = (sql: Sql, id: string): Effect.Effect<VideoRow | undefined, SqlError.SqlError> =>
  Effect.map(sql<VideoRow>`SELECT ${columns(sql)} FROM video_job WHERE id = ${id}`, first)

/** One page of an account's jobs. */
export interface VideoPage {
  readonly limit: number
  readonly after: string | null
  readonly order: "asc" | "desc"
}

/** The jobs of an account, which are in the order of their ids. */
export const jobsOf = (
  sql: Sql,
  accountId: string,
  { after, limit, order }: VideoPage
): Effect.Effect<ReadonlyArray<VideoRow>, SqlError.SqlError> => {
  const [direction, beyond] = order === "asc" ? (["ASC", ">"] as const) : (["DESC", "<"] as const)
  const from = after === null ? sql.literal("") : sql`AND id ${sql.literal(beyond)} ${after}`
  return sql<VideoRow>`SELECT ${columns(sql)} FROM video_job
    WHERE account_id = ${accountId} ${from} ORDER BY id ${sql.literal(direction)} ${limitTo(sql, limit)}`
}

export const jobOfRequest = (sql: Sql, requestId: string): Effect.Effect<VideoRow | undefined, SqlError.SqlError> =>
  Effect.map(sql<VideoRow>`SELECT ${columns(sql)} FROM video_job WHERE request_id = ${requestId}`, first)

/** Takes a lease on an unfinished job, unless another worker has one or polled the job less than `idleMs` ago. */
export const takeLease = (
  sql: Sql,
  id: string,
  { forMs, idleMs }: { readonly forMs: number; readonly idleMs: number }
): Effect.Effect<VideoRow | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<VideoRow>`UPDATE video_job SET turn = turn + 1, busy_until = ${inMs(sql, forMs)}
      WHERE id = ${id} AND completed_at IS NULL AND (busy_until IS NULL OR busy_until <= clock_timestamp())
        AND (polled_at IS NULL OR polled_at <= clock_timestamp() - ${BigInt(idleMs)} * interval '1 millisecond')
      RETURNING ${columns(sql)}`,
    first
  )

/** Renews a lease. Returns whether the lease is still valid. */
export const renewLease = (
  sql: Sql,
  id: string,
  leaseNumber: bigint,
  forMs: number
): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql`UPDATE video_job SET busy_until = ${inMs(sql, forMs)}
      WHERE id = ${id} AND turn = ${leaseNumber} AND completed_at IS NULL RETURNING id`,
    (rows) => rows.length > 0
  )

/** Releases a lease that was not used. */
export const releaseLease = (sql: Sql, id: string, leaseNumber: bigint) =>
  sql`UPDATE video_job SET busy_until = NULL WHERE id = ${id} AND turn = ${leaseNumber} AND completed_at IS NULL`

/** Prevents other transactions from counting a provider's jobs until this one ends. */
export const lockProvider = (sql: Sql, provider: string) =>
  sql`SELECT pg_advisory_xact_lock(hashtextextended('video at ' || ${provider}, 0))`

/** A job that waits for a provider keeps its place in the queue for this long after it should have come back. */
const LATE_IN_LINE = "30 seconds"

/**
 * Reports whether a provider has capacity for a job and for the jobs ahead of it in its queue. An account's jobs ahead count only up to
 * the number that the account may still start there.
 */
export const hasCapacity = (
  sql: Sql,
  { account_id, id }: Pick<VideoRow, "id" | "account_id">,
  provider: string,
  { limit, perAccount }: ProviderLimits
): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql<{ free: boolean }>`
      WITH present AS (
        SELECT account_id, count(*) AS jobs FROM video_job
        WHERE COALESCE(provider, asking) = ${provider} AND completed_at IS NULL AND id <> ${id}
          AND (state = 'processing' OR busy_until > clock_timestamp())
        GROUP BY account_id
      ), line AS (
        SELECT other.account_id, count(*) AS jobs FROM video_job AS other, video_job AS own
        WHERE own.id = ${id} AND other.waits_for = ${provider} AND other.completed_at IS NULL
          AND (other.created_at, other.id) < (own.created_at, own.id)
          AND other.next_poll_at > clock_timestamp() - ${LATE_IN_LINE}::interval
        GROUP BY other.account_id
      ), ahead AS (
        SELECT LEAST(line.jobs, GREATEST(0, ${BigInt(perAccount)} - COALESCE(present.jobs, 0))) AS jobs
        FROM line LEFT JOIN present USING (account_id)
      )
      SELECT COALESCE((SELECT sum(jobs) FROM present), 0) + COALESCE((SELECT sum(jobs) FROM ahead), 0) < ${BigInt(limit)}
        AND COALESCE((SELECT jobs FROM present WHERE account_id = ${account_id}), 0) < ${BigInt(perAccount)} AS free`,
    (rows) => rows[0]?.free === true
  )

/** Puts a job into the queue of a provider. */
export const joinLine = (
  sql: Sql,
  { id, lease_number: leaseNumber }: Pick<VideoRow, "id" | "lease_number">,
  provider: string
) => sql`UPDATE video_job SET waits_for = ${provider} WHERE id = ${id} AND turn = ${leaseNumber} AND state = 'queued'`

/** Records that a job is about to be submitted and renews its lease. Returns whether the lease is still valid. */
export const noteSubmission = (
  sql: Sql,
  { id, lease_number: leaseNumber, submissions }: Pick<VideoRow, "id" | "lease_number" | "submissions">,
  provider: string,
  forMs: number
): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql`UPDATE video_job SET submissions = ${submissions}::int + 1, asking = ${provider}, waits_for = NULL,
        busy_until = ${inMs(sql, forMs)}
      WHERE id = ${id} AND turn = ${leaseNumber} AND state = 'queued' RETURNING id`,
    (rows) => rows.length > 0
  )

/** Ends a lease and lets the job continue. Returns undefined and changes nothing when another worker has a newer lease. */
export const saveProgress = (
  sql: Sql,
  { id, lease_number: leaseNumber }: Pick<VideoRow, "id" | "lease_number">,
  progress: VideoProgress
): Effect.Effect<VideoRow | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<VideoRow>`UPDATE video_job SET state = ${progress.state}, progress = ${progress.progress}::int,
        submissions = ${progress.submissions}::int, polls = ${progress.polls}::int, faults = ${progress.faults}::int,
        lost = ${progress.lost}::int, provider = ${progress.provider}, ticket = ${progress.ticket},
        attempts = ${JSON.stringify(progress.attempts)}::json,
        next_poll_at = ${inMs(sql, progress.waitMs)}, polled_at = clock_timestamp(), busy_until = NULL, asking = NULL
      WHERE id = ${id} AND turn = ${leaseNumber} AND completed_at IS NULL RETURNING ${columns(sql)}`,
    first
  )

/** Ends a job. Returns undefined and changes nothing when another worker has a newer lease or the job has already ended. */
export const endJob = (
  sql: Sql,
  { id, lease_number: leaseNumber }: Pick<VideoRow, "id" | "lease_number">,
  end: VideoEnd
): Effect.Effect<VideoRow | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<VideoRow>`UPDATE video_job SET state = ${end.state}, progress = ${end.progress}::int, cost = ${end.cost},
        refunded = ${end.refunded}, file_id = ${end.file_id}, error_code = ${end.error_code},
        error_message = ${end.error_message === null ? null : storableText(end.error_message)}, parameters = ${JSON.stringify(end.parameters)}::json, completed_at = clock_timestamp(), busy_until = NULL, asking = NULL
      WHERE id = ${id} AND turn = ${leaseNumber} AND completed_at IS NULL RETURNING ${columns(sql)}`,
    first
  )

/** Returns jobs that need work but have no worker: past their deadline, or due for longer than `graceMs`. */
export const unattendedJobs = (
  sql: Sql,
  graceMs: number,
  limit: number
): Effect.Effect<ReadonlyArray<string>, SqlError.SqlError> =>
  Effect.map(
    sql<{ id: string }>`SELECT id FROM video_job
    WHERE completed_at IS NULL AND (busy_until IS NULL OR busy_until <= clock_timestamp())
      AND (deadline_at <= clock_timestamp()
        OR next_poll_at <= clock_timestamp() - ${BigInt(graceMs)} * interval '1 millisecond')
    ORDER BY next_poll_at LIMIT ${limit}`,
    (rows) => rows.map(({ id }) => id)
  )

/** Counts the unfinished jobs of an account. */
export const unfinishedOf = (sql: Sql, accountId: string): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql<{ count: bigint }>`SELECT count(*) FROM video_job WHERE account_id = ${accountId} AND completed_at IS NULL`,
    (rows) => Number(rows[0]?.count ?? 0n)
  )

/** Deletes some jobs that ended longer ago than this, and skips those that another node has locked. */
export const forgetEnded = (sql: Sql, olderThanMs: number, limit: number) =>
  sql`DELETE FROM video_job WHERE id IN (
    SELECT id FROM video_job
    WHERE completed_at <= clock_timestamp() - ${BigInt(Math.ceil(olderThanMs))} * interval '1 millisecond'
    LIMIT ${limit}::int FOR UPDATE SKIP LOCKED
  )`
