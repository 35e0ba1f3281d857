import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { newRequestId, firstRequestIdAt } from "../../src/platform/Ids.ts"
import { UsageReads } from "../../src/usage/UsageReads.ts"
import { Rollups } from "../../src/usage/Rollups.ts"
import { type SeriesQuestion, UsageSeries } from "../../src/usage/Series.ts"
import { addKey, close, type Customer, customer, hold, run } from "../ledger/Fixture.ts"
import { layer as database } from "../support/Database.ts"
import { rollUpAll } from "../support/Receipts.ts"

const rooms = Layer.mergeAll(UsageSeries.layer, Rollups.layer).pipe(
  Layer.provide(UsageReads.layerOf()),
  Layer.provideMerge(database)
)

interface Made {
  readonly at: string
  readonly model: string
  readonly cost: bigint | undefined
  readonly ms?: number
  readonly operation?: string
}

/** A request with this time, which its id and its row both have. */
const made = (sql: SqlClient.SqlClient, owner: Customer, { at, cost, model, ms, operation }: Made) =>
  Effect.gen(function* () {
    const requestId = firstRequestIdAt(Date.parse(at)).slice(0, 14) + newRequestId().slice(14)
    const opened = hold(owner, cost ?? 1n, { requestId, model, operation: operation ?? "chat.completions" })
    yield* run(sql, opened)
    const usage = { input: 5, cached: 3, cacheWrite: 2, output: 7, reasoning: 4 }
    const closed = cost === undefined ? { error: { _tag: "ServerError" } } : { usage, totalMs: ms }
    yield* run(sql, close(opened, cost, { resolvedModel: model, closed }))
    yield* sql`UPDATE request SET created_at = ${at}::timestamptz WHERE id = ${requestId}`
  })

const history: ReadonlyArray<Made> = [
  { at: "2026-03-04T10:59:10Z", model: "m/a", cost: 1n, ms: 100 },
  { at: "2026-03-04T10:59:50Z", model: "m/a", cost: undefined },
  { at: "2026-03-04T11:00:00Z", model: "m/b", cost: 20n, ms: 300.5 },
  { at: "2026-03-05T00:00:00Z", model: "m/b", cost: 400n, ms: 500.5 },
  { at: "2026-03-09T00:00:00Z", model: "m/c", cost: 3n, operation: "embeddings" }
]

const asked = (accountId: string, more: Partial<SeriesQuestion> = {}): SeriesQuestion => ({
  accountId,
  period: undefined,
  interval: "day",
  by: "model",
  rank: "cost",
  top: 8,
  filters: {},
  startMs: Date.parse("2026-03-04T00:00:00Z"),
  endMs: Date.parse("2026-03-10T00:00:00Z"),
  ...more
})

/** Every question is answered before and after the requests are rolled up. */
const stages = ["requests alone", "rollups"] as const

const withHistory = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const owner = yield* customer(sql, 1_000_000n)
  for (const one of history) yield* made(sql, owner, one)
  const second = { ...owner, keyId: yield* addKey(sql, owner.accountId) }
  yield* made(sql, second, { at: "2026-03-05T01:00:00Z", model: "m/a", cost: 5_000n, ms: 1 })
  const other = yield* customer(sql, 1_000_000n)
  yield* made(sql, other, { at: "2026-03-05T01:00:00Z", model: "m/a", cost: 70_000n })
  return { accountId: owner.accountId, owner, second, rollUp: rollUpAll }
})

describe("series of usage", () => {
  it.live("divide the figures of each bucket by group, most expensive first, whether rolled up or not", () =>
    Effect.gen(function* () {
      const { accountId, rollUp, second } = yield* withHistory
      const series = yield* UsageSeries
      for (const stage of stages) {
        if (stage === "rollups") yield* rollUp
        const whole = yield* series.read(asked(accountId))
        const costs = whole.series.map(({ buckets, group }) => [group, buckets.map(({ cost }) => Number(cost))])
        assert.deepStrictEqual(
          costs,
          [
            ["m/a", [1, 5_000, 0, 0, 0, 0]],
            ["m/b", [20, 400, 0, 0, 0, 0]],
            ["m/c", [0, 0, 0, 0, 0, 3]]
          ],
          stage
        )
        assert.deepInclude(whole.totals, { requests: 6n, failed: 1n, cost: 5_424n, prompt: 50n, completion: 35n })
        assert.deepInclude(whole.series[1]!.totals, { latency_us: 801_000n, timed: 2n })

        const failed = yield* series.read(asked(accountId, { by: "status", rank: "requests" }))
        assert.deepStrictEqual(
          failed.series.map(({ group, totals }) => [group, totals.requests]),
          [
            ["succeeded", 5n],
            ["failed", 1n]
          ]
        )
        const other = yield* series.read(asked(accountId, { by: "key", filters: { key: second.keyId } }))
        assert.deepStrictEqual([other.series.length, other.totals.cost], [1, 5_000n])
        const embedded = yield* series.read(asked(accountId, { by: undefined, filters: { operation: "embeddings" } }))
        assert.deepStrictEqual([embedded.series[0]?.group, embedded.totals.cost], [null, 3n])
        const slow = yield* series.read(asked(accountId, { rank: "latency" }))
        assert.deepStrictEqual(
          slow.series.map(({ group }) => group),
          ["m/b", "m/a", "m/c"]
        )
      }
    }).pipe(Effect.provide(rooms))
  )

  it.live("sum all groups beyond the largest ones in one series", () =>
    Effect.gen(function* () {
      const { accountId, rollUp } = yield* withHistory
      const series = yield* UsageSeries
      for (const stage of stages) {
        if (stage === "rollups") yield* rollUp
        const { groups, series: found, totals } = yield* series.read(asked(accountId, { top: 1 }))
        assert.deepStrictEqual(
          found.map(({ group, isRest, totals }) => [group, isRest, totals.cost]),
          [
            ["m/a", false, 5_001n],
            [null, true, 423n]
          ],
          stage
        )
        assert.deepStrictEqual([groups, totals.cost], [3, 5_424n])
      }
    }).pipe(Effect.provide(rooms))
  )

  it.live("have buckets of minutes, hours, days and weeks that begin on Mondays", () =>
    Effect.gen(function* () {
      const { accountId, rollUp } = yield* withHistory
      const series = yield* UsageSeries
      yield* rollUp
      const read = (interval: SeriesQuestion["interval"], start: string, end: string) =>
        Effect.map(
          series.read(
            asked(accountId, { interval, by: undefined, startMs: Date.parse(start), endMs: Date.parse(end) })
          ),
          (found) => [
            found.interval,
            ...found.startsMs.flatMap((ms, at) => {
              const requests = found.series[0]?.buckets[at]?.requests ?? 0n
              return requests === 0n ? [] : [`${new Date(ms).toISOString().slice(0, 16)} ${requests}`]
            })
          ]
        )
      assert.deepStrictEqual(yield* read(undefined, "2026-03-04T10:59:30Z", "2026-03-04T11:30:00Z"), [
        "minute",
        "2026-03-04T10:59 2",
        "2026-03-04T11:00 1"
      ])
      assert.deepStrictEqual(yield* read(undefined, "2026-03-04T00:00:00Z", "2026-03-06T00:00:00Z"), [
        "hour",
        "2026-03-04T10:00 2",
        "2026-03-04T11:00 1",
        "2026-03-05T00:00 1",
        "2026-03-05T01:00 1"
      ])
      assert.deepStrictEqual(yield* read("week", "2026-03-04T00:00:00Z", "2026-03-10T00:00:00Z"), [
        "week",
        "2026-03-02T00:00 5",
        "2026-03-09T00:00 1"
      ])
    }).pipe(Effect.provide(rooms))
  )

  it.live("are refused for an invalid range or too many buckets", () =>
    Effect.gen(function* () {
      const { accountId } = yield* withHistory
      const series = yield* UsageSeries
      const refused = (more: Partial<SeriesQuestion>) =>
        Effect.map(Effect.flip(series.read(asked(accountId, more))), (error) =>
          error._tag === "Failure" ? JSON.stringify(error.reason) : error._tag
        )
      assert.include(yield* refused({ interval: "minute" }), "at most 360 buckets")
      assert.include(yield* refused({ period: "7d" }), "must not be combined")
      assert.include(yield* refused({ endMs: Date.parse("2026-03-04T00:00:00Z") }), "must be after")
      assert.include(yield* refused({ startMs: Date.now() + 60_000, endMs: undefined }), "in the past")
    }).pipe(Effect.provide(rooms))
  )
})
