import { assert, describe, layer } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { newResourceId } from "../../src/platform/Ids.ts"
import { BudgetAlerts } from "../../src/webhooks/BudgetAlerts.ts"
import { Webhooks } from "../../src/webhooks/Webhooks.ts"
import { addBudget, close, customer, hold, onDay, refund, run } from "../ledger/Fixture.ts"
import { layer as database } from "../support/Database.ts"
import { webhookRooms } from "../support/WebhookRooms.ts"

/** A key with a budget of 100, and the events about it. */
const scene = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { publish } = yield* BudgetAlerts
  const owner = yield* customer(sql, 10_000n)
  const budgetId = yield* addBudget(sql, owner, "key", 100n)
  yield* sql`UPDATE budget SET owner_id = ${owner.keyId} WHERE id = ${budgetId}`
  yield* sql`UPDATE api_key SET budget_id = ${budgetId}, name = 'laptop' WHERE id = ${owner.keyId}`
  const spend = (amount: bigint, day = "2026-01-02", cost = amount) =>
    Effect.gen(function* () {
      const opened = hold(owner, amount, { budgets: [onDay(budgetId, day)], budgetsEpoch: 1 })
      assert.strictEqual((yield* run(sql, opened))._tag, "Granted")
      yield* run(sql, close(opened, cost))
      return opened
    })
  const told = Effect.map(
    sql<{
      body: string
    }>`SELECT body FROM webhook_event WHERE account_id = ${owner.accountId} ORDER BY created_at, body`,
    (rows) => rows.map(({ body }) => JSON.parse(body).data)
  )
  const thresholds = Effect.map(told, (all) =>
    all.map(({ period_start, threshold_percent }) => `${period_start} ${threshold_percent}`).toSorted()
  )
  const all: typeof publish = Effect.flatMap(publish, (count) => (count === 0 ? Effect.succeed(0) : all))
  return { sql, owner, budgetId, spend, publish: all, told, thresholds }
})

describe("BudgetAlerts", () => {
  layer(BudgetAlerts.layer.pipe(Layer.provideMerge(webhookRooms()), Layer.provideMerge(database)), {
    excludeTestServices: true
  })((it) => {
    it.effect("report each threshold once per period, by amounts spent and not by amounts held", () =>
      Effect.gen(function* () {
        const { owner, spend, sql, publish, thresholds, told } = yield* scene
        yield* spend(79n)
        yield* spend(20n, "2026-01-02", 0n)
        yield* publish
        assert.deepStrictEqual(yield* told, [])
        const last = yield* spend(1n)
        yield* publish
        assert.deepStrictEqual(yield* told, [
          {
            object: "budget_threshold",
            scope: "key",
            key_id: owner.keyId,
            name: "laptop",
            threshold_percent: 80,
            budget_cents: 0.00001,
            spent_cents: 0.000008,
            period: "daily",
            period_start: "2026-01-02"
          }
        ])
        // Above it and below it again.
        yield* run(sql, refund(last, 1n))
        yield* spend(1n)
        yield* spend(19n)
        yield* publish
        assert.deepStrictEqual(yield* thresholds, ["2026-01-02 80"])
        yield* spend(1n)
        yield* publish
        assert.deepStrictEqual(yield* thresholds, ["2026-01-02 100", "2026-01-02 80"])
        // Both at once, in another period.
        yield* spend(100n, "2026-01-03")
        yield* publish
        assert.deepStrictEqual((yield* thresholds).slice(2), ["2026-01-03 100", "2026-01-03 80"])
      })
    )

    it.effect("report a lowered limit at the next spend, to the current owner of the budget", () =>
      Effect.gen(function* () {
        const { budgetId, owner, spend, sql, publish, told } = yield* scene
        yield* spend(50n)
        const running = hold(owner, 10n, { budgets: [onDay(budgetId)], budgetsEpoch: 1 })
        yield* run(sql, running)
        yield* sql`UPDATE budget SET limit_nano = 55 WHERE id = ${budgetId}`
        yield* publish
        assert.deepStrictEqual(yield* told, [])
        yield* run(sql, close(running, 5n))
        const rotated = newResourceId()
        yield* sql`INSERT INTO api_key (id, account_id, kind, name, hash, prefix, last4, budget_id)
          VALUES (${rotated}, ${owner.accountId}, 'inference', 'deps', sha256(${rotated}::bytea), 'svc_sk_', 'test', ${budgetId})`
        yield* publish
        const all = yield* told
        assert.deepStrictEqual(
          all.map(({ key_id, name, threshold_percent }) => [key_id, name, threshold_percent]).toSorted(),
          [
            [rotated, "deps", 100],
            [rotated, "deps", 80]
          ]
        )
        // The budget has no owner by the time it is reported.
        yield* sql`UPDATE api_key SET budget_id = NULL WHERE account_id = ${owner.accountId}`
        yield* sql`UPDATE budget SET limit_nano = 1000 WHERE id = ${budgetId}`
        const later = hold(owner, 900n, { budgets: [onDay(budgetId, "2026-01-09")], budgetsEpoch: 2 })
        yield* run(sql, later)
        yield* run(sql, close(later, 900n))
        yield* publish
        assert.deepInclude((yield* told).at(-1), { key_id: owner.keyId, name: "laptop" })
      })
    )

    it.effect("report once, however many nodes report at the same time and whichever of them fail", () =>
      Effect.gen(function* () {
        const { budgetId, sql, thresholds } = yield* scene
        const { publish } = yield* BudgetAlerts
        const days = Array.from(
          { length: 240 },
          (_, index) => `20${20 + (index % 60)}-01-0${1 + Math.floor(index / 60)}`
        )
        yield* sql`INSERT INTO budget_period (budget_id, period_start, spent)
          SELECT ${budgetId}, day::date, 80 FROM unnest(${days}::text[]) AS day`
        const webhooks = yield* Webhooks
        let publishing = 0
        const dying = Layer.fresh(BudgetAlerts.layer).pipe(
          Layer.provide(
            Layer.succeed(
              Webhooks,
              Webhooks.of({
                ...webhooks,
                publish: (event) => (++publishing % 7 === 0 ? Effect.die(new Error("killed")) : webhooks.publish(event))
              })
            )
          )
        )
        const killed = yield* Layer.build(dying)
        const others = Effect.exit(Effect.flatMap(BudgetAlerts, (other) => other.publish).pipe(Effect.provide(killed)))
        // A node that has all crossings to itself is sure to die; nodes that publish together with others may find none left.
        assert.isTrue(Exit.isFailure(yield* others), "nothing was lost")
        yield* Effect.forEach(
          Array.from({ length: 12 }, (_, index) => index),
          (index): Effect.Effect<Exit.Exit<number, unknown>> => (index % 2 === 0 ? others : Effect.exit(publish)),
          { concurrency: 6 }
        )
        while ((yield* publish) > 0);
        assert.deepStrictEqual(yield* thresholds, days.map((day) => `${day} 80`).toSorted())
        const [row] = yield* sql<{
          untold: bigint
        }>`SELECT count(*) AS untold FROM budget_crossing WHERE told_at IS NULL`
        assert.strictEqual(row?.untold, 0n)
        const [notifications] = yield* sql<{
          count: bigint
        }>`SELECT count(DISTINCT n.data ->> 'period_start') AS count FROM notice n
          JOIN budget b ON b.account_id = n.account_id WHERE b.id = ${budgetId} AND n.kind = 'budget_alert' HAVING count(*) = 240`
        assert.strictEqual(notifications?.count, 240n, "and the owner is notified of each once")
      })
    )
  })
})
