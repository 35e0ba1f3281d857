/** Jobs claimed and finished by two processes that do nothing else: each once, and how many a second. */
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { connect } from "../../src/platform/Sql.ts"
import { createFinished, finished, queueJobs } from "./FinishedSql.ts"
import { type Faults, rotate, type Samples } from "./Measure.ts"
import { node, output } from "./Processes.ts"
import { atLeast, perSecond, type Row } from "./Report.ts"
import type { Stage } from "./Stage.ts"

const WORKERS = ["first", "second"] as const

const onDatabase = (url: string) =>
  Layer.effect(SqlClient.SqlClient, connect({ url: Redacted.make(url), poolSize: 1, called: "The bench's database" }))

export const jobs = Effect.fnUntraced(function* (stage: Stage, samples: Samples, faults: Faults) {
  const { jobs: count, rounds } = stage.options
  const worker = (name: string) =>
    output({
      name: `the ${name} worker`,
      ...node("test/bench/jobsWorker.ts", name, String(count)),
      env: { DATABASE_URL: stage.databaseUrl },
      cores: stage.machine.pinning?.measured
    })
  const round = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* createFinished(sql)
    yield* queueJobs(sql, "videos", count)
    yield* Effect.all(WORKERS.map(worker), { concurrency: "unbounded", discard: true })
    const done = yield* finished(sql)
    const wrong = done.times !== count || done.jobs !== count || done.workers !== WORKERS.length
    faults.add("jobs", {
      completed: wrong ? 0 : count,
      failed: wrong ? count : 0,
      example: `${done.jobs} of ${count} were finished ${done.times} times by ${done.workers} workers`
    })
    samples.add("jobs/s", done.jobs / done.seconds)
  })
  yield* rotate("jobs", rounds, [{ name: "two workers" }], () => round).pipe(
    Effect.provide(onDatabase(stage.databaseUrl))
  )
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
