import { type Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { statfs } from "node:fs/promises"
import { backlogOf, type QueueBacklog } from "../jobs/JobsSql.ts"
import { countOverdue } from "../ledger/OverdueSql.ts"
import { repeatForever } from "../platform/RepeatForever.ts"
import { DataDirectory } from "../platform/database/DataDirectory.ts"
import { storeErrors } from "../platform/database/Sql.ts"
import { Metrics } from "../platform/telemetry/Metrics.ts"
import { type OutboxBacklog, outboxBacklog } from "../webhooks/OutboxSql.ts"

/** How long past its expiry a hold may stay open before it counts. Sweeps run several times within this time. */
const GRACE_MS = 60_000

/** Workers renew their locks several times within this time. A job with an older lock has no worker. */
const ABANDONED_MS = 120_000

/** The maximum count of waiting jobs per queue, so that a long queue does not make the query slow. */
const MAX_JOBS = 10_000

const QUEUES = ["videos", "batches"] as const

const registerQueues = (metrics: Metrics, of: (queue: string) => QueueBacklog | undefined): void => {
  for (const queue of QUEUES) {
    const labels = { "svc.queue": queue }
    metrics.gauge(
      "svc.jobs.waiting",
      "Jobs of all nodes that are due and have no worker, at most 10,000",
      "{job}",
      () => Number(of(queue)?.waiting ?? 0n),
      labels
    )
    metrics.gauge(
      "svc.jobs.oldest.age",
      "How long the oldest due job of a queue has waited for a worker",
      "s",
      () => of(queue)?.age ?? 0,
      labels
    )
  }
}

const registerWebhooks = (metrics: Metrics, of: () => OutboxBacklog): void => {
  metrics.gauge(
    "svc.webhooks.waiting",
    "Deliveries of all nodes that are due, at most 1,000 an endpoint",
    "{delivery}",
    () => Number(of().waiting)
  )
  metrics.gauge("svc.webhooks.oldest.age", "How long the oldest due delivery has waited", "s", () => of().age)
  metrics.gauge(
    "svc.webhooks.endpoints.failing",
    "Endpoints with pending deliveries whose last attempt failed",
    "{endpoint}",
    () => Number(of().failing)
  )
}

/**
 * Periodically measures the backlogs in the database and the free disk space of the data directory, for the metrics. Figures of the
 * database are the same on every node. They keep their last value while the database is unavailable; `svc.ready` is 0 then.
 */
export const layer = (interval: Duration.Input) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const metrics = yield* Metrics
      const { path } = yield* DataDirectory
      let overdue = 0
      let queues: ReadonlyMap<string, QueueBacklog> = new Map()
      let outbox: OutboxBacklog = { waiting: 0n, age: 0, failing: 0n }
      let disk = { free: 0, size: 0 }
      metrics.gauge(
        "svc.ledger.holds.overdue",
        "Holds and charges of all nodes that stand over a minute past their expiry",
        "{hold}",
        () => overdue
      )
      registerQueues(metrics, (queue) => queues.get(queue))
      registerWebhooks(metrics, () => outbox)
      metrics.gauge("svc.data_dir.free", "Free on the disk of the data directory", "By", () => disk.free)
      metrics.gauge("svc.data_dir.size", "Size of the disk of the data directory", "By", () => disk.size)
      const look = Effect.gen(function* () {
        const { bavail, blocks, bsize } = yield* Effect.promise(() => statfs(path))
        disk = { free: bavail * bsize, size: blocks * bsize }
        overdue = yield* countOverdue(sql, GRACE_MS)
        const found = yield* backlogOf(sql, QUEUES, { abandonedMs: ABANDONED_MS, most: MAX_JOBS })
        queues = new Map(found.map((one) => [one.queue, one]))
        outbox = yield* outboxBacklog(sql)
      })
      yield* repeatForever(storeErrors(look), {
        every: interval,
        warning: "the gateway cannot read what waits in the database"
      })
    })
  )
