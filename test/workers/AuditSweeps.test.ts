import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Exit, Layer, Logger, Metric, Scope } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/account/Accounts.ts"
import { Audit } from "../../src/account/Audit.ts"
import { makeMetrics, Metrics } from "../../src/platform/telemetry/Metrics.ts"
import { newRequestId } from "../../src/platform/Ids.ts"
import { layer as auditSweeps } from "../../src/workers/AuditSweeps.ts"
import { layer as database } from "../support/Database.ts"
import { eventually } from "../support/Eventually.ts"

const actor = { type: "operator", id: "test" } as const
const rooms = Accounts.layer.pipe(Layer.provideMerge(Audit.layer), Layer.provideMerge(database))

/** A line that was opened so long ago. */
const opened = Effect.fnUntraced(function* (accountId: string, age: string) {
  const sql = yield* SqlClient.SqlClient
  const audit = yield* Audit
  const entry = yield* audit.open({
    accountId,
    type: "key.revoked",
    actor,
    resource: { type: "key", id: "k" },
    requestId: newRequestId()
  })
  yield* sql`UPDATE audit_open SET opened_at = now() - ${age}::interval WHERE event_id = ${entry.id}`
  return entry
})

/** A node that sweeps, what it says, and what it measures. */
const node = Effect.gen(function* () {
  const audit = yield* Audit
  const scope = yield* Effect.scope
  const metrics = makeMetrics()
  const said: Array<string> = []
  let sweeps = 0
  const counted = Layer.succeed(Audit, {
    ...audit,
    pending: (...of) => Effect.tap(audit.pending(...of), () => Effect.sync(() => void sweeps++))
  })
  yield* Layer.build(auditSweeps(Duration.millis(1))).pipe(
    Effect.provide(counted),
    Effect.provideService(Metrics, metrics),
    Effect.provide(Logger.layer([Logger.map(Logger.formatLogFmt, (text) => void said.push(text))])),
    Scope.provide(scope)
  )
  return {
    said,
    pending: () => {
      const text = PrometheusMetrics.formatUnsafe(Context.make(Metric.MetricRegistry, metrics.registry))
      return Number(/^svc_audit_pending (\d+)$/m.exec(text)?.[1])
    },
    /** Two more, of which the second began after this. */
    swept: Effect.suspend(() => {
      const from = sweeps
      return eventually(
        Effect.sync(() => sweeps),
        (now) => now >= from + 2
      )
    })
  }
})

describe("sweeps of the audit log", () => {
  it.live("name each line that has been pending for over a minute, once, and count them", () =>
    Effect.gen(function* () {
      const { create } = yield* Accounts
      const audit = yield* Audit
      const { id } = yield* create("sweeps@example.com", actor)
      const old = yield* opened(id, "61 seconds")
      const young = yield* opened(id, "30 seconds")
      const { pending, said, swept } = yield* node
      yield* swept
      yield* swept
      assert.strictEqual(said.length, 1)
      assert.include(said[0], `key.revoked ${old.id} (${old.requestId})`)
      assert.notInclude(said[0], young.requestId)
      assert.strictEqual(pending(), 1)
      const older = yield* opened(id, "2 hours")
      yield* swept
      assert.strictEqual(said.length, 2)
      assert.include(said[1], older.requestId)
      assert.notInclude(said[1], old.requestId)
      assert.strictEqual(pending(), 2)
      yield* audit.complete(old, undefined)
      yield* audit.complete(older, "not_found")
      yield* swept
      assert.deepStrictEqual([said.length, pending()], [2, 0])
      const other = yield* node
      yield* other.swept
      assert.deepStrictEqual([other.said.length, other.pending()], [0, 0])
    }).pipe(Effect.provide(rooms), Effect.scoped)
  )

  it.live("name only as many as fit, and the others in the next", () =>
    Effect.gen(function* () {
      const { create } = yield* Accounts
      const { id } = yield* create("sweeps@example.com", actor)
      const entries = yield* Effect.forEach(Array.from({ length: 130 }), () => opened(id, "2 minutes"))
      const { pending, said, swept } = yield* node
      yield* Effect.andThen(swept, swept)
      assert.deepStrictEqual([said.length, pending()], [2, 130])
      const named = entries.map(({ requestId }) => said.filter((text) => text.includes(`(${requestId})`)).length)
      assert.deepStrictEqual(
        named,
        Array.from({ length: 130 }, () => 1)
      )
    }).pipe(Effect.provide(rooms), Effect.scoped)
  )

  it.live("continue after a failed one", () =>
    Effect.gen(function* () {
      let tries = 0
      const broken = Layer.effect(
        Audit,
        Effect.map(Audit, (real) => ({
          ...real,
          pending: () => {
            tries++
            return Effect.die(new Error("a bug"))
          }
        }))
      ).pipe(Layer.provide(Audit.layer), Layer.provide(database))
      const exit = yield* Layer.build(auditSweeps(Duration.millis(1)).pipe(Layer.provide(broken))).pipe(
        Effect.provide(Logger.layer([])),
        Effect.exit
      )
      assert.isTrue(Exit.isSuccess(exit))
      yield* eventually(
        Effect.sync(() => tries),
        (made) => made >= 3
      )
    }).pipe(Effect.scoped)
  )
})
