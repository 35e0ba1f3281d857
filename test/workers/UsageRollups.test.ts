import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Unavailable } from "../../src/platform/database/Sql.ts"
import { Rollups } from "../../src/usage/Rollups.ts"
import { layer as rollingUp } from "../../src/workers/UsageRollups.ts"
import { close, customer, hold, run } from "../ledger/Fixture.ts"
import { layer as database } from "../support/Database.ts"

/** Requests as a version that knew no rollups has left them. */
const history = (sql: SqlClient.SqlClient, count: number) =>
  Effect.gen(function* () {
    const owner = yield* customer(sql, 1_000n)
    for (let made = 0; made < count; made++) {
      const opened = hold(owner, 5n)
      yield* run(sql, opened)
      yield* run(sql, close(opened, 3n))
    }
    // None of them came late, and none is too new.
    yield* sql`CREATE OR REPLACE FUNCTION usage_grace_ms() RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 0::bigint'`
  })

describe("usage", () => {
  it.live("from before the start is rolled up by any number of workers", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* history(sql, 30)
      const worker = rollingUp("1 millis").pipe(Layer.provide(Rollups.layerOf(4)))
      yield* Layer.build(Layer.mergeAll(Layer.fresh(worker), Layer.fresh(worker)))
      const [rolled] = yield* Effect.repeat(
        sql<{ requests: bigint; cost: bigint }>`SELECT sum(requests)::bigint AS requests, sum(cost)::bigint AS cost
          FROM usage_rollup WHERE width = 'hour'`,
        { until: ([sums]) => sums?.requests === 30n }
      )
      assert.strictEqual(rolled?.cost, 90n)
      assert.lengthOf(yield* sql`SELECT FROM usage_pending`, 0)
    }).pipe(Effect.scoped, Effect.provide(database))
  )

  it.live("continues after a failed round", () =>
    Effect.gen(function* () {
      const fourth = yield* Deferred.make<void>()
      let tries = 0
      const step = Effect.suspend(() => {
        tries++
        if (tries === 1) return Effect.die(new Error("a bug"))
        if (tries === 2) return Effect.fail(new Unavailable({ store: "database" }))
        // A full step is followed by another one at once.
        if (tries === 3) return Effect.succeed({ rows: 5, full: true })
        return Effect.as(Deferred.succeed(fourth, undefined), { rows: 0, full: false })
      })
      yield* Layer.build(rollingUp("1 millis").pipe(Layer.provide(Layer.succeed(Rollups, Rollups.of({ step })))))
      yield* Deferred.await(fourth)
      assert.isAtLeast(tries, 4)
    }).pipe(Effect.scoped)
  )
})
