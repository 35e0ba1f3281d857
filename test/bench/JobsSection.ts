/** Jobs claimed and finished by two processes that do nothing else: each once, and how many a second. */
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { migrate } from "../../src/platform/database/Migrations.ts"
import { migrations } from "../../src/platform/database/MigrationsSql.ts"
import { connect } from "../../src/platform/database/Sql.ts"
import { createFinished, finished, queueJobs } from "./FinishedSql.ts"
import { type Faults, rotate, type Samples } from "./Measure.ts"
import { node, output } from "./Processes.ts"
import { createDatabase } from "./ReceiptsSql.ts"
import { atLeast, perSecond, type Row } from "./Report.ts"
import type { Stage } from "./Stage.ts"

/** One of its own: gateways of the stage's would take part. */
const DATABASE = "bench_jobs"
const WORKERS = ["first", "second"] as const

const onDatabase = (url: string) =>
  Layer.effect(SqlClient.SqlClient, connect({ url: Redacted.make(url), poolSize: 1, called: "The bench's database" }))

export const jobs = Effect.fnUntraced(function* (stage: Stage, samples: Samples, faults: Faults) {
  const { jobs: count, rounds } = stage.options
  const inDatabase = <A, E>(
    url: string,
    work: (sql: SqlClient.SqlClient) => Effect.Effect<A, E, SqlClient.SqlClient>
  ) => Effect.provide(Effect.flatMap(SqlClient.SqlClient, work), onDatabase(url))
  yield* inDatabase(stage.databaseUrl, (sql) => createDatabase(sql, DATABASE))
  const url = new URL(stage.databaseUrl)
  url.pathname = `/${DATABASE}`
  const databaseUrl = url.href
  yield* inDatabase(databaseUrl, () => migrate(migrations))
  const worker = (name: string) =>
    output({
      name: `the ${name} worker`,
      ...node("test/bench/jobsWorker.ts", name, String(count)),
      env: { DATABASE_URL: databaseUrl },
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
  yield* rotate("jobs", rounds, [{ name: "two workers" }], () => round).pipe(Effect.provide(onDatabase(databaseUrl)))
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
