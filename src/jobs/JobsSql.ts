import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/** The newest step of a job: its element's ID, and whether it waits for a worker. */
export interface NewestStep {
  readonly element: string
  readonly waiting: boolean
}

/**
 * Returns the newest step of a job, if it has one. A waiting step stays locked until the transaction ends, so a worker that takes
 * it sees what the transaction wrote. It moves forward to `delaySeconds` from now, unless it waits because it failed.
 */
export const newestStep = (sql: SqlClient.SqlClient, queue: string, id: string, delaySeconds: number) =>
  Effect.map(
    sql<NewestStep>`
      WITH newest AS (
        SELECT sequence, id FROM job WHERE queue_name = ${queue} AND element = ${JSON.stringify(id)}
        ORDER BY sequence DESC LIMIT 1
      ), kept AS (
        UPDATE job SET visible_at = CASE
          WHEN attempts = 0 THEN LEAST(visible_at, clock_timestamp()::timestamp + make_interval(secs => ${delaySeconds}))
          ELSE visible_at END
        FROM newest
        WHERE job.sequence = newest.sequence AND state = 'pending' AND acquired_at IS NULL
        RETURNING job.id
      )
      SELECT id AS element, EXISTS (SELECT FROM kept) AS waiting FROM newest`,
    (rows): NewestStep | undefined => rows[0]
  )

/** A job that a worker may take, now or when it becomes due. */
export interface WaitingJob<Queue extends string> {
  readonly queue: Queue
  readonly element: string
  readonly id: string
  readonly due: boolean
}

/**
 * Returns the job of each queue that is due first. It considers jobs without a worker, and jobs with a lock that has not
 * been renewed for the lease.
 */
export const firstWaiting = <Queue extends string>(
  sql: SqlClient.SqlClient,
  queues: ReadonlyArray<Queue>,
  leaseSeconds: number
): Effect.Effect<ReadonlyArray<WaitingJob<Queue>>, SqlError.SqlError> =>
  sql<
    WaitingJob<Queue>
  >`SELECT queue, first.id AS element, first.element::jsonb #>> '{}' AS id, first.visible_at <= now() AS due
    FROM unnest(${[...queues]}::text[]) AS queue CROSS JOIN LATERAL (
      SELECT id, element, visible_at FROM job WHERE queue_name = queue AND state = 'pending'
        AND (acquired_at IS NULL OR acquired_at < now() - make_interval(secs => ${leaseSeconds}))
      ORDER BY visible_at LIMIT 1
    ) AS first`

/** Returns for how many milliseconds a step was due before its worker took it. */
export const waitedMs = (
  sql: SqlClient.SqlClient,
  queue: string,
  element: string
): Effect.Effect<number | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<{ ms: number }>`SELECT (extract(epoch FROM acquired_at - visible_at) * 1000)::float8 AS ms FROM job
      WHERE id = ${element} AND queue_name = ${queue} AND acquired_at IS NOT NULL`,
    ([row]) => row?.ms
  )

/** The jobs of a queue that no worker has taken although they are due. */
export interface QueueBacklog {
  readonly queue: string
  /** At most `most`. */
  readonly waiting: bigint
  /** How long the oldest of them has been due, in seconds. Zero when there is none. */
  readonly age: number
}

/**
 * Returns the backlog of each queue on all nodes. A job with a lock that has not been renewed for so long waits as well: its worker is
 * gone. It counts at most `most` jobs of a queue, the oldest first, so that a long queue costs no more.
 */
export const backlogOf = (
  sql: SqlClient.SqlClient,
  queues: ReadonlyArray<string>,
  { abandonedMs, most }: { readonly abandonedMs: number; readonly most: number }
): Effect.Effect<ReadonlyArray<QueueBacklog>, SqlError.SqlError> =>
  sql<QueueBacklog>`SELECT queue, count(due.visible_at) AS waiting,
      COALESCE(extract(epoch FROM now()::timestamp - min(due.visible_at)), 0)::float8 AS age
    FROM unnest(${[...queues]}::text[]) AS queue LEFT JOIN LATERAL (
      SELECT visible_at FROM job WHERE queue_name = queue AND state = 'pending' AND visible_at <= now()
        AND (acquired_at IS NULL OR acquired_at < now() - ${BigInt(abandonedMs)} * interval '1 millisecond')
      ORDER BY visible_at LIMIT ${most}
    ) AS due ON true GROUP BY queue`
