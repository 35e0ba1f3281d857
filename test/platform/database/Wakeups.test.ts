import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { wakeupsOf } from "../../../src/platform/database/Wakeups.ts"
import { freshDatabase, layerUrl } from "../../support/Database.ts"
import { eventually } from "../../support/Eventually.ts"

const hearing = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  eventually(
    Effect.sync(() => Duration.toMillis(wakeupsOf(sql).waitAtMost("1 second"))),
    (ms) => ms > 1_000
  )
)

describe("database notifications", () => {
  it.live(
    "wake the nodes that wait for such work, and all nodes after a lost connection, during which nodes poll",
    () =>
      Effect.gen(function* () {
        const url = yield* freshDatabase()
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const wakeups = wakeupsOf(sql)
          assert.strictEqual(Duration.toMillis(wakeups.waitAtMost("1 second")), 1_000)
          const woken = { budgets: 0, jobs: 0 }
          yield* wakeups.on("budgets", () => void woken.budgets++)
          yield* wakeups.on("jobs", () => void woken.jobs++)
          yield* hearing
          const before = { ...woken }
          yield* sql`INSERT INTO budget_crossing (budget_id, period_start, threshold_percent, limit_nano, spent)
          VALUES ('b', now(), 80, 1, 1)`
          yield* eventually(
            Effect.sync(() => woken.budgets),
            (count) => count > before.budgets
          )
          assert.strictEqual(woken.jobs, before.jobs)
          yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND query LIKE 'LISTEN%'`
          yield* eventually(
            Effect.sync(() => Duration.toMillis(wakeups.waitAtMost("1 second"))),
            (ms) => ms === 1_000
          )
          yield* hearing
          assert.isAbove(woken.jobs, before.jobs)
        }).pipe(Effect.provide(layerUrl(url)))
      }).pipe(Effect.scoped)
  )
})
