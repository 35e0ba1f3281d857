import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/** The newest turn of a job: its element's ID, and whether it waits for a worker. */
export interface Turn {
  readonly element: string
  readonly waiting: boolean
}

/**
 * Returns the newest turn of a job, if it has one. A waiting turn stays locked until the transaction ends, so a worker that takes
 * it sees what the transaction wrote. It moves forward to `delaySeconds` from now, unless it waits because it failed.
 */
export const newestTurn = (sql: SqlClient.SqlClient, queue: string, id: string, delaySeconds: number) =>
  Effect.map(
    sql<Turn>`
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
    (rows): Turn | undefined => rows[0]
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
