import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Logger, Metric, Scope } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { SqlClient } from "effect/sql"
import { makeMetrics, Metrics } from "../../src/platform/telemetry/Metrics.ts"
import { layer as ledgerProofs } from "../../src/workers/LedgerProofs.ts"
import { customer } from "../ledger/Fixture.ts"
import { layer as database } from "../support/Database.ts"
import { eventually } from "../support/Eventually.ts"

/** A node that verifies, what it says, and what it measures. */
const node = (interval: Duration.Duration) =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const metrics = makeMetrics()
    const said: Array<string> = []
    yield* Layer.build(ledgerProofs(interval, Duration.zero)).pipe(
      Effect.provideService(Metrics, metrics),
      Effect.provide(Logger.layer([Logger.map(Logger.formatLogFmt, (text) => void said.push(text))])),
      Scope.provide(scope)
    )
    const measured = (name: string) => {
      const text = PrometheusMetrics.formatUnsafe(Context.make(Metric.MetricRegistry, metrics.registry))
      return Number(new RegExp(`^svc_ledger_verify_${name} (\\S+)$`, "m").exec(text)?.[1])
    }
    return { said, measured }
  })

const verified = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ at: Date; whole_at: Date }>`SELECT at, whole_at FROM ledger_verification WHERE at IS NOT NULL`
)

describe("background verification of the books", () => {
  it.live("reads everything once and then from the checkpoint on, on one node at a time, and measures on all", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* customer(sql, 100n)
      yield* sql`UPDATE ledger_verification SET begun_at = now()`
      const nodes = [yield* node(Duration.millis(100)), yield* node(Duration.millis(100))]
      yield* eventually(verified, (rows) => rows.length === 1 && rows[0]!.at > rows[0]!.whole_at)
      for (const { measured, said } of nodes) {
        yield* eventually(
          Effect.sync(() => measured("duration")),
          (duration) => duration > 0
        )
        assert.isBelow(measured("age"), 60)
        const age = measured("age")
        assert.isAtLeast(measured("whole_age"), age)
        assert.strictEqual(measured("failed"), 0)
        assert.deepStrictEqual(said, [])
      }
      yield* sql`UPDATE balance SET posted = posted + 1 WHERE account_id = ${accountId}`
      const told = nodes.map(({ measured }) =>
        eventually(
          Effect.sync(() => measured("failed")),
          (failed) => failed === 1
        )
      )
      yield* Effect.all(told, { concurrency: 2 })
      const lines = nodes.flatMap(({ said }) => said)
      assert.match(
        lines[0]!,
        /level=ERROR.*the books have errors: balances_equal_transfers \(1 of 1 accounts; for one, account/
      )
    }).pipe(Effect.provide(database), Effect.scoped)
  )

  it.live("is left to the admin command with an interval of zero", () =>
    Effect.gen(function* () {
      const { measured } = yield* node(Duration.zero)
      yield* Effect.sleep("200 millis")
      assert.lengthOf(yield* verified, 0)
      assert.strictEqual(measured("failed"), 0)
    }).pipe(Effect.provide(database), Effect.scoped)
  )
})
