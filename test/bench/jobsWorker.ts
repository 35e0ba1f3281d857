/**
 * A process that only works on jobs, until all workers together have completed a number of them. Its arguments are the worker's name and
 * that number; DATABASE_URL names the database.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Fiber, Layer, Logger, Redacted, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { Jobs } from "../../src/jobs/Jobs.ts"
import { connect, layerOf } from "../../src/platform/database/Sql.ts"
import { completedJobs, recordResult } from "./JobResultsSql.ts"

const CONCURRENCY = 32
/** The service's default. */
const CONNECTIONS = 10

const [name = "", jobs = ""] = process.argv.slice(2)

const main = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { work } = yield* Jobs
  const working = yield* Effect.forkChild(
    work("videos", CONCURRENCY, (id) => Effect.as(recordResult(sql, id, name), "done" as const))
  )
  yield* completedJobs(sql).pipe(
    Effect.repeat({ schedule: Schedule.spaced("200 millis"), until: (count) => count >= Number(jobs) })
  )
  yield* Fiber.interrupt(working)
})

const database = layerOf(
  connect({
    url: Redacted.make(process.env["DATABASE_URL"] ?? ""),
    poolSize: CONNECTIONS,
    called: "The bench's database"
  })
)
const queues = Jobs.layerFrom({
  lease: "30 seconds",
  pollInterval: "500 millis",
  idlePollInterval: "2 seconds",
  grace: "20 seconds"
})

NodeRuntime.runMain(main.pipe(Effect.provide([queues.pipe(Layer.provideMerge(database)), Logger.layer([])])))
