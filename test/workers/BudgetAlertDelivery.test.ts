import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { BudgetAlerts } from "../../src/webhooks/BudgetAlerts.ts"
import { layer as worker } from "../../src/workers/BudgetAlertDelivery.ts"
import { addBudget, close, customer, hold, onDay, run } from "../ledger/Fixture.ts"
import { layer as database } from "../support/Database.ts"
import { webhookRooms } from "../support/WebhookRooms.ts"
import { eventually } from "../support/Eventually.ts"

describe("the worker of budget alerts", () => {
  it.live("publishes on any node, continues after a failure, and writes nothing while no crossing is unreported", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const alerts = yield* BudgetAlerts
      let looks = 0
      const failing = BudgetAlerts.of({
        publish: Effect.suspend(() => (++looks === 1 ? Effect.die(new Error("a bad look")) : alerts.publish)),
        rest: alerts.rest
      })
      yield* Layer.build(worker.pipe(Layer.provide(Layer.succeed(BudgetAlerts, failing))))
      yield* eventually(
        Effect.sync(() => looks),
        (count) => count > 1
      )
      const [idle] = yield* sql.withTransaction(
        Effect.andThen(alerts.publish, sql`SELECT pg_current_xact_id_if_assigned() IS NULL AS unwritten`)
      )
      assert.deepStrictEqual(idle, { unwritten: true })

      const owner = yield* customer(sql, 1_000n)
      const opened = hold(owner, 90n, { budgets: [onDay(yield* addBudget(sql, owner, "key", 100n))] })
      yield* run(sql, opened)
      yield* run(sql, close(opened, 90n))
      yield* eventually(sql`SELECT id FROM webhook_event WHERE type = 'budget.threshold'`, (rows) => rows.length === 1)
    }).pipe(
      Effect.provide(BudgetAlerts.layer.pipe(Layer.provideMerge(webhookRooms()), Layer.provideMerge(database))),
      Effect.scoped
    )
  )
})
