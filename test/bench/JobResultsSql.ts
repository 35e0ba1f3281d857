import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** A table with a row for each time that a worker finishes a job. A job that runs twice has two rows. */
export const createResults = (sql: SqlClient.SqlClient) =>
  Effect.andThen(
    sql`DROP TABLE IF EXISTS job_result`,
    sql`CREATE TABLE job_result (job text NOT NULL, worker text NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp())`
  )

export const recordResult = (sql: SqlClient.SqlClient, job: string, worker: string) =>
  sql`INSERT INTO job_result (job, worker) VALUES (${job}, ${worker})`

/** The number of completed jobs. */
export const completedJobs = (sql: SqlClient.SqlClient) =>
  Effect.map(sql<{ count: bigint }>`SELECT count(*) AS count FROM job WHERE state = 'completed'`, ([row]) =>
    Number(row?.count ?? 0)
  )

/** The workers' results: rows, distinct jobs and workers, and the seconds from the first result to the last completed job. */
export const readResults = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ times: bigint; jobs: bigint; workers: bigint; seconds: number }>`
      SELECT count(*) AS times, count(DISTINCT job) AS jobs, count(DISTINCT worker) AS workers,
        extract(epoch FROM (SELECT max(updated_at) AT TIME ZONE 'UTC' FROM job) - min(at))::float8 AS seconds
      FROM job_result`,
    ([row]) => ({
      times: Number(row?.times ?? 0),
      jobs: Number(row?.jobs ?? 0),
      workers: Number(row?.workers ?? 0),
      seconds: row?.seconds ?? 0
    })
  )

/** Replaces all jobs by this many pending ones. */
export const queueJobs = (sql: SqlClient.SqlClient, queue: string, count: number) =>
  Effect.andThen(
    sql`TRUNCATE job`,
    sql`INSERT INTO job (id, queue_name, element, state, visible_at, created_at, updated_at)
      SELECT 'job-' || n || '.0', ${queue}, to_json('job-' || n)::text, 'pending', now(), now(), now()
      FROM generate_series(1, ${count}) AS n`
  )
