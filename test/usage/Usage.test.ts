import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { UsageReads } from "../../src/usage/UsageReads.ts"
import { Usage } from "../../src/usage/Usage.ts"
import { addKey, close, type Customer, customer, hold, refund, run } from "../ledger/Fixture.ts"
import { layer as database } from "../support/Database.ts"

const usage = { input: 5, cached: 3, cacheWrite: 2, output: 7, reasoning: 4 }

/** A request with this time and cost. */
const spent = (sql: SqlClient.SqlClient, owner: Customer, at: string, cost: bigint, model = "m/a") =>
  Effect.gen(function* () {
    const opened = hold(owner, cost)
    yield* run(sql, opened)
    yield* run(sql, close(opened, cost, { resolvedModel: model, closed: { usage } }))
    yield* sql`UPDATE request SET created_at = ${at}::timestamptz WHERE id = ${opened.requestId}`
    return opened
  })

const now = Date.parse("2026-03-05T10:20:30Z")

/** The service's clock stands at that time; the database's runs on. */
const atNow = <A, E, R>(body: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Clock.Clock, (clock) =>
    Effect.provideService(
      body,
      Clock.Clock,
      Object.assign(Object.create(clock) as Clock.Clock, {
        currentTimeMillisUnsafe: () => now,
        currentTimeMillis: Effect.succeed(now)
      })
    )
  )

const rooms = Usage.layer.pipe(Layer.provide(UsageReads.layerOf()), Layer.provideMerge(database))

describe("usage of an account", () => {
  it.live("covers the hours or days of the period, including the current one", () =>
    Effect.gen(function* () {
      const [sql, service] = [yield* SqlClient.SqlClient, yield* Usage]
      const owner = yield* customer(sql, 1_000n)
      const other = yield* customer(sql, 1_000n)
      yield* spent(sql, other, "2026-03-05T10:00:00Z", 99n)
      for (const [at, cost] of [
        ["2026-03-05T10:00:00Z", 1n],
        ["2026-03-05T09:59:59.999Z", 2n],
        ["2026-03-04T11:00:00Z", 4n],
        ["2026-03-04T10:59:59.999Z", 8n],
        ["2026-02-27T00:00:00Z", 16n],
        ["2026-02-26T23:59:59.999Z", 32n],
        ["2026-02-04T00:00:00Z", 64n],
        ["2026-02-03T23:59:59.999Z", 128n]
      ] as const) {
        yield* spent(sql, owner, at, cost)
      }
      const costs = (period: "1d" | "7d" | "30d") =>
        Effect.map(service.ofAccount(owner.accountId, period), (used) => ({
          from: new Date(used.fromMs).toISOString(),
          until: new Date(used.untilMs).toISOString(),
          costs: used.rows.map(({ cost, start }) => [start.toISOString().slice(0, 13), cost])
        }))
      assert.deepStrictEqual(yield* costs("1d"), {
        from: "2026-03-04T11:00:00.000Z",
        until: "2026-03-05T11:00:00.000Z",
        costs: [
          ["2026-03-04T11", 4n],
          ["2026-03-05T09", 2n],
          ["2026-03-05T10", 1n]
        ]
      })
      assert.deepStrictEqual(yield* costs("7d"), {
        from: "2026-02-27T00:00:00.000Z",
        until: "2026-03-06T00:00:00.000Z",
        costs: [
          ["2026-02-27T00", 16n],
          ["2026-03-04T00", 12n],
          ["2026-03-05T00", 3n]
        ]
      })
      const month = yield* costs("30d")
      assert.deepStrictEqual(
        [month.from, ...month.costs],
        [
          "2026-02-04T00:00:00.000Z",
          ["2026-02-04T00", 64n],
          ["2026-02-26T00", 32n],
          ["2026-02-27T00", 16n],
          ["2026-03-04T00", 12n],
          ["2026-03-05T00", 3n]
        ]
      )
    }).pipe(Effect.provide(rooms), atNow)
  )

  it.live("is sorted, and counts tokens, failures and refunds", () =>
    Effect.gen(function* () {
      const [sql, service] = [yield* SqlClient.SqlClient, yield* Usage]
      const owner = yield* customer(sql, 1_000n)
      const at = "2026-03-05T10:00:00Z"
      yield* spent(sql, owner, at, 10n, "m/b")
      const given = yield* spent(sql, owner, at, 10n, "m/a")
      yield* spent(sql, owner, at, 10n, "m/a")
      yield* run(sql, refund(given, 4n))
      const failed = hold(owner, 5n, { model: "asked" })
      yield* run(sql, failed)
      yield* run(sql, close(failed, undefined, { resolvedModel: null, provider: null, closed: {} }))
      yield* run(sql, hold(owner, 5n, { model: "open" }))
      yield* sql`UPDATE request SET created_at = ${at}::timestamptz`
      const { rows } = yield* service.ofAccount(owner.accountId, "1d")
      const none = { prompt: 0n, cached: 0n, cache_write: 0n, completion: 0n, reasoning: 0n, cost: 0n }
      const two = { prompt: 20n, cached: 6n, cache_write: 4n, completion: 14n, reasoning: 8n, cost: 16n }
      const one = { prompt: 10n, cached: 3n, cache_write: 2n, completion: 7n, reasoning: 4n, cost: 10n }
      assert.deepStrictEqual(
        rows.map(({ start: _start, ...rest }) => rest),
        [
          { model: "asked", provider: null, requests: 1n, ...none },
          { model: "m/a", provider: "test", requests: 2n, ...two },
          { model: "m/b", provider: "test", requests: 1n, ...one }
        ]
      )
    }).pipe(Effect.provide(rooms), atNow)
  )

  it.live("is exact beyond the precision of a double", () =>
    Effect.gen(function* () {
      const [sql, service] = [yield* SqlClient.SqlClient, yield* Usage]
      const odd = 2n ** 53n + 1n
      const owner = yield* customer(sql, 4n * odd)
      for (const _ of [1, 2, 3]) yield* spent(sql, owner, "2026-03-05T10:00:00Z", odd)
      const tokens = `{"input": ${odd}, "cached": ${odd}, "cacheWrite": ${odd}, "output": ${odd}, "reasoning": ${odd}}`
      yield* sql`UPDATE request SET closed = ${`{"usage": ${tokens}}`}::text::jsonb`
      for (const period of ["1d", "30d"] as const) {
        const { rows } = yield* service.ofAccount(owner.accountId, period)
        const thrice = 3n * odd
        assert.deepStrictEqual(
          rows.map(({ model: _model, provider: _provider, start: _start, ...figures }) => figures),
          [
            {
              requests: 3n,
              prompt: 3n * thrice,
              cached: thrice,
              cache_write: thrice,
              completion: thrice,
              reasoning: thrice,
              cost: thrice
            }
          ]
        )
      }
      const spend = yield* service.ofKey(owner)
      assert.strictEqual(spend?.spend.ever, 3n * odd)
    }).pipe(Effect.provide(rooms), atNow)
  )
})

describe("usage of a key", () => {
  it.live("is the spending of the key alone today, this week, this month and in total, with its budget", () =>
    Effect.gen(function* () {
      const [sql, service] = [yield* SqlClient.SqlClient, yield* Usage]
      const owner = yield* customer(sql, 1_000n)
      const { accountId, keyId } = owner
      const other = { accountId, keyId: yield* addKey(sql, accountId) }
      // The fifth of March 2026 is a Thursday.
      for (const [at, cost] of [
        ["2026-03-05T00:00:00Z", 1n],
        ["2026-03-02T00:00:00Z", 2n],
        ["2026-03-01T00:00:00Z", 4n],
        ["2026-02-28T23:59:59Z", 8n]
      ] as const) {
        yield* spent(sql, owner, at, cost)
      }
      yield* spent(sql, other, "2026-03-05T10:00:00Z", 100n)
      yield* run(sql, hold(owner, 7n))
      yield* sql`UPDATE request SET created_at = '2026-03-05T10:01:02Z' WHERE state = 'open'`
      const found = yield* service.ofKey({ accountId, keyId })
      assert.deepStrictEqual(found?.spend, {
        today: 1n,
        week: 3n,
        month: 7n,
        ever: 15n,
        used_at: new Date("2026-03-05T10:01:02Z")
      })
      assert.strictEqual(found?.facts.posted, 885n)
      const idle = yield* service.ofKey({ accountId, keyId: yield* addKey(sql, accountId) })
      assert.deepStrictEqual(idle?.spend, { today: 0n, week: 0n, month: 0n, ever: 0n, used_at: null })
      assert.isUndefined(yield* service.ofKey({ accountId, keyId: "none" }))
    }).pipe(Effect.provide(rooms), atNow)
  )

  it.live("covers the requested keys, whatever other requests the account has", () =>
    Effect.gen(function* () {
      const [sql, service] = [yield* SqlClient.SqlClient, yield* Usage]
      const owner = yield* customer(sql, 1_000n)
      const { accountId, keyId } = owner
      const other = { accountId, keyId: yield* addKey(sql, accountId) }
      yield* spent(sql, owner, "2026-03-05T00:00:00Z", 1n)
      yield* spent(sql, other, "2026-03-05T00:00:00Z", 2n)
      // What is not taken apart cannot be wrong: of what there may be much before it is rolled up, only the cost is read.
      yield* sql`UPDATE request SET closed = '{"usage": {"input": "no number"}}'`
      const found = yield* service.ofKeys(accountId, [keyId])
      assert.deepStrictEqual(
        [...found.values()],
        [{ key_id: keyId, cost: 1n, used_at: new Date("2026-03-05T00:00:00Z") }]
      )
      // The newest first, of which each page has one.
      const of = { accountId, kind: "inference" } as const
      const pages = yield* Effect.forEach([null, other.keyId, keyId], (cursor) =>
        service.ofKeysPage(of, { cursor, limit: 1 })
      )
      assert.deepStrictEqual(
        pages.map((page) => [...page.keys()]),
        [[other.keyId], [keyId], []]
      )
      assert.strictEqual((yield* service.ofKey(other))?.spend.ever, 2n)
    }).pipe(Effect.provide(rooms), atNow)
  )
})
