/** Two processes that only claim and finish jobs: whether each job runs once, and the rate. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { migrate } from "../../src/platform/database/Migrations.ts"
import { migrations } from "../../src/platform/database/MigrationsSql.ts"
import { connectionTo, createSeparateDatabase } from "./Database.ts"
import { createResults, queueJobs, readResults } from "./JobResultsSql.ts"
import { type Failures, rotate, type Samples } from "./Measure.ts"
import { node, runToEnd } from "./Processes.ts"
import { atLeast, perSecond, type Row } from "./Report.ts"
import type { Testbed } from "./Testbed.ts"

/** A separate database, because the testbed's gateways would claim the jobs. */
const DATABASE = "bench_jobs"
const WORKERS = ["first", "second"] as const

export const jobs = Effect.fnUntraced(function* (testbed: Testbed, samples: Samples, failures: Failures) {
  const { jobs: count, rounds } = testbed.options
  const databaseUrl = yield* createSeparateDatabase(testbed.databaseUrl, DATABASE)
  yield* Effect.provide(migrate(migrations), connectionTo(databaseUrl))
  const worker = (name: string) =>
    runToEnd({
      name: `the ${name} worker`,
      ...node("test/bench/jobsWorker.ts", name, String(count)),
      env: { DATABASE_URL: databaseUrl },
      cores: testbed.machine.pinning?.measured
    })
  const round = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* createResults(sql)
    yield* queueJobs(sql, "videos", count)
    yield* Effect.all(WORKERS.map(worker), { concurrency: "unbounded", discard: true })
    const done = yield* readResults(sql)
    const wrong = done.times !== count || done.jobs !== count || done.workers !== WORKERS.length
    failures.add("jobs", {
      completed: wrong ? 0 : count,
      failed: wrong ? count : 0,
      example: `${done.workers} workers finished ${done.jobs} of ${count} jobs in ${done.times} runs`
    })
    samples.add("jobs/s", done.jobs / done.seconds)
  })
  yield* rotate("jobs", rounds, [{ name: "two workers" }], () => round).pipe(Effect.provide(connectionTo(databaseUrl)))
  const rate = samples.median("jobs/s")
  const rows: ReadonlyArray<Row> = [
    {
      label: `Jobs finished by two processes, ${count}`,
      gateway: perSecond(rate),
      must: atLeast(rate, 1_000, "/s")
    }
  ]
  return rows
})
