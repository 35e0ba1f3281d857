import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** A row for each time that a job was finished; nothing keeps a job from having two. */
export const createFinished = (sql: SqlClient.SqlClient) =>
  Effect.andThen(
    sql`DROP TABLE IF EXISTS finished`,
    sql`CREATE TABLE finished (job text NOT NULL, worker text NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp())`
  )

export const finish = (sql: SqlClient.SqlClient, job: string, worker: string) =>
  sql`INSERT INTO finished (job, worker) VALUES (${job}, ${worker})`

/** Jobs whose last turn has been put away. */
export const completedCount = (sql: SqlClient.SqlClient) =>
  Effect.map(sql<{ count: bigint }>`SELECT count(*) AS count FROM job WHERE state = 'completed'`, ([row]) =>
    Number(row?.count ?? 0)
  )

/** What the workers did: how often, to how many jobs, and from the first to the last that was put away. */
export const finished = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ times: bigint; jobs: bigint; workers: bigint; seconds: number }>`
      SELECT count(*) AS times, count(DISTINCT job) AS jobs, count(DISTINCT worker) AS workers,
        extract(epoch FROM (SELECT max(updated_at) AT TIME ZONE 'UTC' FROM job) - min(at))::float8 AS seconds
      FROM finished`,
    ([row]) => ({
      times: Number(row?.times ?? 0),
      jobs: Number(row?.jobs ?? 0),
      workers: Number(row?.workers ?? 0),
      seconds: row?.seconds ?? 0
    })
  )

/** Leaves just so many jobs, there for whoever waits for them all at once. */
export const queueJobs = (sql: SqlClient.SqlClient, queue: string, count: number) =>
  Effect.andThen(
    sql`TRUNCATE job`,
    sql`INSERT INTO job (id, queue_name, element, state, visible_at, created_at, updated_at)
      SELECT 'job-' || n || '.0', ${queue}, to_json('job-' || n)::text, 'pending', now(), now(), now()
      FROM generate_series(1, ${count}) AS n`
  )
