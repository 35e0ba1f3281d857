import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { UsageBreakdownReport } from "../../../../schemas/management/Usage.ts"
import { UsageSeriesReport } from "../../../../schemas/management/UsageSeries.ts"
import { usageBreakdownOf } from "../../../../src/http/handlers/management/Usage.ts"
import { layerUrl } from "../../../support/Database.ts"
import { managing, refusal } from "../../../support/Management.ts"
import { get, json, post, startService } from "../../../support/Service.ts"

const decode = Schema.decodeUnknownSync(UsageBreakdownReport, { onExcessProperty: "error" })
const hello = { messages: [{ role: "user", content: "hello" }], max_tokens: 20 }

describe("GET /management/usage", () => {
  it.live("adds up to the charges of the answers, grouped by key and model, page by page", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey, managementKey } = yield* service.account(10)
      const other = yield* service.account(10)
      const ask = managing(service, managementKey)
      const usage = (query: string) => Effect.map(ask("GET", `/usage${query}`), ({ body }) => decode(body))
      const second = (yield* ask("POST", "/keys", { name: "second" })).body
      const url = `${service.api}/chat/completions`
      yield* post(url, other.inferenceKey, { ...hello, model: "gpt-4o" })
      let cost = 0
      for (const [key, model] of [
        [inferenceKey, "gpt-4o-mini"],
        [inferenceKey, "gpt-4o"],
        [second.key, "gpt-4o"]
      ]) {
        cost += (yield* Effect.flatMap(post(url, key!, { ...hello, model }), json)).cost_usd
      }
      const whole = yield* usage("?period=7d&group_by=key&group_by=model")
      assert.deepInclude(whole, { period: "7d", bucket_width: "1d", group_by: ["key", "model"], next_cursor: null })
      assert.deepInclude(whole.totals, { requests: 3 })
      assert.closeTo(whole.totals.cost_usd, cost, 1e-9)
      assert.closeTo(whole.balance_usd, 10 - cost, 1e-9)
      assert.strictEqual(whole.data.length, 3)
      assert.strictEqual(whole.data.filter(({ key_id }) => key_id === second.data.id).length, 1)
      assert.isTrue(whole.data.every((row) => !("provider" in row) && !("project_id" in row)))
      const first = yield* usage("?period=7d&group_by=key&group_by=model&limit=2")
      assert.deepStrictEqual([first.data, first.totals], [whole.data.slice(0, 2), whole.totals])
      const rest = yield* usage(`?period=7d&group_by=key&group_by=model&limit=2&cursor=${first.next_cursor}`)
      assert.deepStrictEqual([rest.data, rest.next_cursor], [whole.data.slice(2), null])

      const now = Math.floor(Date.now() / 1_000)
      const hours = yield* usage(`?start_time=${now - 3_600}&bucket_width=1h&group_by=project`)
      assert.deepInclude(hours, { period: null, bucket_width: "1h" })
      assert.isTrue(hours.data.every(({ project_id }) => project_id === null))
      assert.strictEqual((yield* usage("")).period, "30d")
      assert.deepStrictEqual((yield* usage("")).group_by, ["model", "provider"])
    }).pipe(Effect.scoped)
  )

  it.live("rejects unknown parameters", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, managementKey } = yield* service.account(1)
      const refused = (query: string, key = managementKey) =>
        Effect.map(managing(service, key)("GET", `/usage?${query}`), refusal)
      assert.deepStrictEqual(yield* refused("period=2d"), [400, "invalid_period", "period"])
      assert.deepStrictEqual((yield* refused("group_by=day"))[0], 400)
      assert.deepStrictEqual(yield* refused("start_time=10&end_time=5"), [400, "validation_error", "end_time"])
      assert.deepStrictEqual(yield* refused("cursor=x"), [400, "validation_error", "cursor"])
      const narrow = yield* service.keys.create({
        accountId: account.id,
        kind: "management",
        name: "narrow",
        scopes: ["keys:write"],
        actor: { type: "operator", id: "test" }
      })
      assert.deepStrictEqual(yield* refused("", narrow.key), [403, "insufficient_scope", "usage:read"])
    }).pipe(Effect.scoped)
  )
})

const decodeSeries = Schema.decodeUnknownSync(UsageSeriesReport, { onExcessProperty: "error" })

describe("GET /management/usage/series", () => {
  it.live("divides the charges of the answers, and the failures, by model", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey, managementKey } = yield* service.account(10)
      const ask = managing(service, managementKey)
      const series = (query: string) =>
        Effect.map(ask("GET", `/usage/series${query}`), ({ body }) => decodeSeries(body))
      const url = `${service.api}/chat/completions`
      const cheap = yield* Effect.flatMap(post(url, inferenceKey, { ...hello, model: "gpt-4o-mini" }), json)
      const dear = yield* Effect.flatMap(post(url, inferenceKey, { ...hello, model: "gpt-4o" }), json)
      const broken = { ...hello, model: "gpt-4o", routing: { allow_fallbacks: false } }
      yield* post(url, inferenceKey, broken, { "x-svc-sandbox": "fault=malformed" })
      const report = yield* series("?period=1h&group_by=model")
      assert.deepInclude(report, { interval: "minute", group_by: "model", groups: 2 })
      assert.strictEqual(report.buckets.length, 60)
      assert.deepStrictEqual(
        report.data.map(({ group, totals }) => [group, totals.requests, totals.failed_requests, totals.cost_usd]),
        [
          ["gpt-4o", 2, 1, dear.cost_usd],
          ["gpt-4o-mini", 1, 0, cheap.cost_usd]
        ]
      )
      assert.isAbove(report.data[0]!.totals.latency_ms ?? 0, 0)
      assert.strictEqual(report.data[0]!.values.requests.length, 60)
      const failed = yield* series("?period=1d&status=failed&group_by=status&interval=hour")
      assert.deepInclude(failed, { interval: "hour", groups: 1 })
      assert.deepInclude(failed.totals, { requests: 1, failed_requests: 1 })
    }).pipe(Effect.scoped)
  )

  it.live("rejects unknown parameters and texts that cannot be stored", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { managementKey } = yield* service.account(1)
      const refused = (query: string) =>
        Effect.map(managing(service, managementKey)("GET", `/usage/series?${query}`), refusal)
      assert.deepStrictEqual((yield* refused("group_by=day"))[0], 400)
      assert.deepStrictEqual(yield* refused("provider=a%00"), [400, "validation_error", "provider"])
      assert.deepStrictEqual(yield* refused("period=30d&interval=minute"), [400, "validation_error", "start_time"])
    }).pipe(Effect.scoped)
  )
})

describe("reads of usage", () => {
  it.live("leave database connections to paid requests, however many reads run and however long they take", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const reading = yield* Effect.all([service.account(1), service.account(1), service.account(1)])
      const payer = yield* service.account(1)
      const outside = yield* Layer.build(layerUrl(service.databaseUrl, 1))
      const sql = Context.get(outside, SqlClient.SqlClient)
      const [begun, over] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      // No read can end before this does.
      const locked = yield* Effect.forkChild(
        sql`LOCK TABLE usage_rollup, model_usage`.pipe(
          Effect.andThen(Deferred.succeed(begun, undefined)),
          Effect.andThen(Deferred.await(over)),
          sql.withTransaction
        )
      )
      yield* Deferred.await(begun)
      const atWork = Effect.map(
        service.sql<{ n: number }>`SELECT count(*)::int AS n FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock' AND query ~ '^WITH (facts|live) AS'`,
        ([row]) => row!.n
      )
      const asked = yield* Effect.forkChild(
        Effect.forEach(
          reading.flatMap(({ inferenceKey, managementKey }) => [
            ...Array.from({ length: 10 }, () => get(`${service.api}/management/usage`, managementKey)),
            ...Array.from({ length: 10 }, () => get(`${service.api}/usage`, inferenceKey))
          ]),
          (read) => Effect.flatMap(read, (answer) => Effect.map(json(answer), (body) => ({ answer, body }))),
          { concurrency: "unbounded" }
        )
      )
      yield* Effect.timeout(Effect.repeat(atWork, { until: (n) => n >= 2 }), "20 seconds")
      const chat = yield* post(`${service.api}/chat/completions`, payer.inferenceKey, { ...hello, model: "gpt-4o" })
      assert.strictEqual(chat.status, 200)
      assert.isAtMost(yield* atWork, 2)
      const answers = yield* Fiber.join(asked)
      yield* Deferred.succeed(over, undefined)
      yield* Fiber.join(locked)
      const outcome = (status: number, code: string) =>
        answers.filter(({ answer, body }) => answer.status === status && body.error.code === code)
      const refused = [...outcome(429, "rate_limit_exceeded"), ...outcome(503, "overloaded")]
      const tooLong = outcome(503, "service_unavailable")
      assert.strictEqual(refused.length + tooLong.length, 60)
      assert.isAtLeast(tooLong.length, 2)
      for (const { answer } of refused) assert.strictEqual(answer.headers.get("retry-after"), "1")
    }).pipe(Effect.scoped)
  )
})

describe("a page of usage", () => {
  it("names only the requested dimensions", () => {
    const sums = { requests: 1n, prompt: 2n, cached: 0n, cache_write: 0n, completion: 3n, reasoning: 0n, cost: 4n }
    const row = { summary: false, start: new Date(0), project: "", key: "k", model: "m", provider: "", ...sums }
    const page = { fromMs: 0, untilMs: 3_600_000, width: "1h", bucketMs: 3_600_000, totals: row, rows: [row] } as const
    const shown = usageBreakdownOf({ ...page, next: null }, { balance: 5n, by: ["project", "provider"], period: "1d" })
    const { data } = decode(JSON.parse(JSON.stringify(shown)))
    assert.deepInclude(data[0], { project_id: null, provider: null, start_time: 0, end_time: 3_600, requests: 1 })
    assert.isFalse("key_id" in data[0]! || "model" in data[0]!)
  })
})
