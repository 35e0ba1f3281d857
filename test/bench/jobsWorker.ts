/**
 * A process that loads nothing but the queues: works on videos until so many of them are done by all workers together. Its
 * arguments: a name for what it finished, and how many. The database is that of DATABASE_URL.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Fiber, Layer, Logger, Redacted, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { Jobs } from "../../src/jobs/Jobs.ts"
import { connect, layerOf } from "../../src/platform/database/Sql.ts"
import { completedCount, finish } from "./FinishedSql.ts"

const CONCURRENCY = 32
/** As many as the service has unless told. */
const CONNECTIONS = 10

const [name = "", jobs = ""] = process.argv.slice(2)

const main = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { work } = yield* Jobs
  const working = yield* Effect.forkChild(
    work("videos", CONCURRENCY, (id) => Effect.as(finish(sql, id, name), "done" as const))
  )
  yield* completedCount(sql).pipe(
    Effect.repeat({ schedule: Schedule.spaced("200 millis"), until: (count) => count >= Number(jobs) })
  )
  yield* Fiber.interrupt(working)
})

const database = layerOf(
  connect({
    url: Redacted.make(process.env["DATABASE_URL"] ?? ""),
    poolSize: CONNECTIONS,
    called: "The database of the bench"
  })
)
const queues = Jobs.layerFrom({
  lease: "30 seconds",
  pollInterval: "500 millis",
  idlePollInterval: "2 seconds",
  grace: "20 seconds"
})

NodeRuntime.runMain(main.pipe(Effect.provide([queues.pipe(Layer.provideMerge(database)), Logger.layer([])])))
