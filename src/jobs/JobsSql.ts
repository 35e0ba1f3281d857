import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** The newest turn of a job: its element's id, and whether it waits for a worker. */
export interface Turn {
  readonly element: string
  readonly waiting: boolean
}

/**
 * The newest turn of a job, if it has any. One that waits is kept from all workers until the transaction ends, so that whoever
 * takes it sees what the transaction has written; it is brought forward to `delaySeconds` from now, unless it waits because it
 * failed.
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
