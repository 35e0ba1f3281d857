import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Logger, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { SqlClient } from "effect/sql"
import { tmpdir } from "node:os"
import { Accounts } from "../../src/account/Accounts.ts"
import { Audit } from "../../src/account/Audit.ts"
import { DataDirectory } from "../../src/platform/database/DataDirectory.ts"
import { newRequestId, newResourceId } from "../../src/platform/Ids.ts"
import { makeMetrics, Metrics } from "../../src/platform/telemetry/Metrics.ts"
import { layer as backlogs } from "../../src/workers/Backlogs.ts"
import { layer as database } from "../support/Database.ts"
import { eventually } from "../support/Eventually.ts"

const actor = { type: "operator", id: "test" } as const
const rooms = Accounts.layer.pipe(Layer.provideMerge(Audit.layer), Layer.provideMerge(database))

/** The metrics of a node that looks all the time. */
const node = Effect.gen(function* () {
  const metrics = makeMetrics()
  yield* Layer.build(backlogs(Duration.millis(5))).pipe(
    Effect.provideService(Metrics, metrics),
    Effect.provideService(DataDirectory, { path: tmpdir() }),
    Effect.provide(Logger.layer([]))
  )
  const context = Context.make(Metric.MetricRegistry, metrics.registry)
  const valueOf = (line: string) =>
    Number(PrometheusMetrics.formatUnsafe(context).split(`\n${line} `)[1]?.split("\n")[0])
  return {
    valueOf,
    until: (line: string, value: number) =>
      eventually(
        Effect.sync(() => valueOf(line)),
        (now) => now === value
      )
  }
})

const hold = (accountId: string, expired: string, state: "open" | "settled") =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (
      sql
    ) => sql`INSERT INTO request (id, account_id, key_id, operation, model, state, status, expires_at, closed_at, held, opened)
      VALUES (${newRequestId()}, ${accountId}, 'k', 'chat.completions', 'm', ${state}, 'open', now() - ${expired}::interval,
        ${state === "open" ? null : new Date()}, 5, '{}')`
  )

const job = (queue: string, due: string, acquired: string | null) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (
      sql
    ) => sql`INSERT INTO job (id, queue_name, element, state, attempts, visible_at, acquired_at, created_at, updated_at)
      VALUES (${newResourceId()}, ${queue}, '"x"', 'pending', 0, now() + ${due}::interval, now() - ${acquired}::interval, now(), now())`
  )

const endpoint = Effect.fnUntraced(function* (accountId: string, status: string, failing: string | null) {
  const sql = yield* SqlClient.SqlClient
  const id = newResourceId()
  yield* sql`INSERT INTO webhook_endpoint (id, account_id, url, events, status, secret, sealed_with, failing_since)
    VALUES (${id}, ${accountId}, 'https://example.com', '{}', ${status}, '\\x00', 'k', now() - ${failing}::interval)`
  return (due: string) =>
    Effect.gen(function* () {
      const event = newResourceId()
      yield* sql`INSERT INTO webhook_event (id, account_id, type, body, created_at) VALUES (${event}, ${accountId}, 't', '{}', now())`
      yield* sql`INSERT INTO webhook_delivery (id, endpoint_id, event_id, due_at)
        VALUES (${newResourceId()}, ${id}, ${event}, now() + ${due}::interval)`
    })
})

describe("backlogs", () => {
  it.live("count overdue holds and charges only after a sweep could have ended them", () =>
    Effect.gen(function* () {
      const { id } = yield* (yield* Accounts).create("ann@example.com", actor)
      yield* hold(id, "59 seconds", "open")
      yield* hold(id, "-1 hour", "open")
      const { until } = yield* node
      yield* until("svc_ledger_holds_overdue", 0)
      yield* hold(id, "2 minutes", "open")
      yield* hold(id, "2 minutes", "settled")
      yield* until("svc_ledger_holds_overdue", 2)
    }).pipe(Effect.scoped, Effect.provide(rooms))
  )

  it.live("count due jobs without a worker, by queue, with the age of the oldest", () =>
    Effect.gen(function* () {
      yield* job("videos", "-90 seconds", null)
      yield* job("videos", "-10 seconds", "3 minutes")
      yield* job("videos", "-100 seconds", "10 seconds")
      yield* job("videos", "1 hour", null)
      const { until, valueOf } = yield* node
      yield* until('svc_jobs_waiting{svc_queue="videos"}', 2)
      const age = valueOf('svc_jobs_oldest_age{svc_queue="videos"}')
      assert.isTrue(age >= 90 && age < 99, `${age}`)
      assert.strictEqual(valueOf('svc_jobs_waiting{svc_queue="batches"}'), 0)
      assert.strictEqual(valueOf('svc_jobs_oldest_age{svc_queue="batches"}'), 0)
    }).pipe(Effect.scoped, Effect.provide(rooms))
  )

  it.live("count due deliveries and failing endpoints, without those that are disabled", () =>
    Effect.gen(function* () {
      const { id } = yield* (yield* Accounts).create("ann@example.com", actor)
      const well = yield* endpoint(id, "enabled", null)
      const failing = yield* endpoint(id, "enabled", "1 hour")
      const disabled = yield* endpoint(id, "disabled", "1 hour")
      yield* Effect.all([
        well("-80 seconds"),
        well("-5 seconds"),
        well("1 hour"),
        failing("1 hour"),
        disabled("-1 day")
      ])
      const { until, valueOf } = yield* node
      yield* until("svc_webhooks_waiting", 2)
      const age = valueOf("svc_webhooks_oldest_age")
      assert.isTrue(age >= 80 && age < 89, `${age}`)
      assert.strictEqual(valueOf("svc_webhooks_endpoints_failing"), 1)
    }).pipe(Effect.scoped, Effect.provide(rooms))
  )

  it.live("report the disk of the data directory", () =>
    Effect.gen(function* () {
      const { valueOf } = yield* node
      yield* eventually(
        Effect.sync(() => valueOf("svc_data_dir_size")),
        (size) => size > 0
      )
      assert.isAtMost(valueOf("svc_data_dir_free"), valueOf("svc_data_dir_size"))
    }).pipe(Effect.scoped, Effect.provide(rooms))
  )
})
