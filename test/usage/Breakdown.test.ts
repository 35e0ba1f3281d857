import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Breakdown, type BreakdownQuestion } from "../../src/usage/Breakdown.ts"
import type { BreakdownRow, Dimension } from "../../src/usage/BreakdownSql.ts"
import { UsageReads } from "../../src/usage/UsageReads.ts"
import { addKey, close, type Customer, customer, hold, run } from "../ledger/Fixture.ts"
import { layer as database } from "../support/Database.ts"

const usage = { input: 5, cached: 3, cacheWrite: 2, output: 7, reasoning: 4 }

const rooms = Breakdown.layer.pipe(Layer.provide(UsageReads.layerOf()), Layer.provideMerge(database))

/** A request with this time and cost. */
const spent = (sql: SqlClient.SqlClient, owner: Customer, at: string, cost: bigint, model: string) =>
  Effect.gen(function* () {
    const opened = hold(owner, cost)
    yield* run(sql, opened)
    yield* run(sql, close(opened, cost, { resolvedModel: model, closed: { usage } }))
    yield* sql`UPDATE request SET created_at = ${at}::timestamptz WHERE id = ${opened.requestId}`
  })

const times = ["2026-03-04T10:59:59.999Z", "2026-03-04T11:00:00Z", "2026-03-05T00:00:00Z"]
const models = ["m/a", "m/b"]

/** Two keys, two models and three times: requests of 1, 2, 4 … nano-USD, so that a sum says which are in it. */
const history = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const owner = yield* customer(sql, 1_000_000n)
  const second = { ...owner, keyId: yield* addKey(sql, owner.accountId) }
  const made: Array<{ key: string; model: string; at: string; cost: bigint }> = []
  for (const who of [owner, second]) {
    for (const model of models) {
      for (const at of times) {
        const cost = 1n << BigInt(made.length)
        yield* spent(sql, who, at, cost, model)
        made.push({ key: who.keyId, model, at, cost })
      }
    }
  }
  const other = yield* customer(sql, 1_000_000n)
  yield* spent(sql, other, times[0]!, 999_999n, "m/a")
  return { accountId: owner.accountId, made }
})

const from = Date.parse("2026-03-04T00:00:00Z")
const until = Date.parse("2026-03-06T00:00:00Z")

const questionOf = (accountId: string, more: Partial<BreakdownQuestion> = {}): BreakdownQuestion => ({
  accountId,
  period: undefined,
  startMs: from,
  endMs: until,
  width: "1d",
  by: [],
  limit: 100,
  cursor: undefined,
  ...more
})

const walk = (question: BreakdownQuestion) =>
  Effect.gen(function* () {
    const breakdown = yield* Breakdown
    const rows: Array<BreakdownRow> = []
    let cursor: string | null | undefined
    while (cursor !== null) {
      const page = yield* breakdown.page({ ...question, cursor })
      assert.isAtMost(page.rows.length, question.limit)
      rows.push(...page.rows)
      cursor = page.next
    }
    return rows
  })

const widthMs = { "1h": 3_600_000, "1d": 86_400_000 }

describe("a usage breakdown", () => {
  it.live("sums the requests of each bucket and group, whatever its page size", () =>
    Effect.gen(function* () {
      const { accountId, made } = yield* history
      const breakdown = yield* Breakdown
      const groupings: ReadonlyArray<ReadonlyArray<Dimension>> = [[], ["key"], ["model"], ["key", "model"], ["project"]]
      for (const width of ["1h", "1d"] as const) {
        for (const by of groupings) {
          const sums = new Map<string, bigint>()
          for (const { at, cost, key, model } of made) {
            const start = Math.floor(Date.parse(at) / widthMs[width]) * widthMs[width]
            const name = [start, by.includes("key") ? key : "", by.includes("model") ? model : ""].join(" ")
            sums.set(name, (sums.get(name) ?? 0n) + cost)
          }
          for (const limit of [1, 2, 100]) {
            const rows = yield* walk(questionOf(accountId, { width, by, limit }))
            const found = rows.map((row) => [[row.start.getTime(), row.key, row.model].join(" "), row.cost] as const)
            assert.deepStrictEqual(
              found,
              [...sums].toSorted(([one], [another]) => (one < another ? -1 : 1)),
              `${width} ${by.join()} ${limit}`
            )
          }
          const { totals } = yield* breakdown.page(questionOf(accountId, { width, by, limit: 1 }))
          const count = BigInt(made.length)
          assert.deepInclude(totals, { requests: count, prompt: 10n * count, completion: 7n * count, cost: 4095n })
        }
      }
    }).pipe(Effect.provide(rooms))
  )

  it.live("has whole buckets, from the start's bucket to the end's", () =>
    Effect.gen(function* () {
      const { accountId } = yield* history
      const breakdown = yield* Breakdown
      const asked = (startMs: string, endMs: string) =>
        Effect.map(
          breakdown.page(
            questionOf(accountId, { startMs: Date.parse(startMs), endMs: Date.parse(endMs), width: "1h", by: ["key"] })
          ),
          ({ fromMs, rows, untilMs }) => [
            new Date(fromMs).toISOString().slice(11, 16),
            new Date(untilMs).toISOString().slice(11, 16),
            rows.length
          ]
        )
      assert.deepStrictEqual(yield* asked("2026-03-04T10:30:00Z", "2026-03-04T11:00:00Z"), ["10:00", "11:00", 2])
      assert.deepStrictEqual(yield* asked("2026-03-04T10:30:00Z", "2026-03-04T11:00:01Z"), ["10:00", "12:00", 4])
      assert.deepStrictEqual(yield* asked("2026-03-04T12:00:00Z", "2026-03-04T13:00:00Z"), ["12:00", "13:00", 0])
      const empty = yield* breakdown.page(questionOf(accountId, { startMs: 0, endMs: 3_600_000, width: "1h" }))
      assert.deepInclude(empty.totals, { requests: 0n, cost: 0n })
    }).pipe(Effect.provide(rooms))
  )

  it.live("covers one range on all pages, even when a bucket ends between two of them", () =>
    Effect.gen(function* () {
      const { accountId, made } = yield* history
      const breakdown = yield* Breakdown
      const at = <A, E, R>(time: string, work: Effect.Effect<A, E, R>) =>
        Effect.updateService(work, Clock.Clock, (clock): Clock.Clock =>
          Object.assign(Object.create(clock), { currentTimeMillis: Effect.succeed(Date.parse(time)) })
        )
      const spans = [
        { period: "1d", width: "1h", before: "2026-03-05T09:59:59.500Z", after: "2026-03-05T10:00:00.500Z" },
        { period: "7d", width: "1d", before: "2026-03-10T23:59:59.500Z", after: "2026-03-11T00:00:00.500Z" }
      ] as const
      for (const { after, before, ...span } of spans) {
        const question = questionOf(accountId, { ...span, startMs: undefined, endMs: undefined, by: ["key", "model"] })
        const first = yield* at(before, breakdown.page({ ...question, limit: 1 }))
        assert.strictEqual(first.totals.requests, BigInt(made.length))
        const rest = yield* at(after, breakdown.page({ ...question, cursor: first.next! }))
        const { fromMs, totals, untilMs } = first
        assert.deepInclude(rest, { fromMs, untilMs, next: null, totals })
        const total = [...first.rows, ...rest.rows].reduce((sum, { requests }) => sum + requests, 0n)
        assert.strictEqual(total, totals.requests)
      }
    }).pipe(Effect.provide(rooms))
  )

  it.live("is refused for an invalid or too long range, or a foreign cursor", () =>
    Effect.gen(function* () {
      const { accountId } = yield* history
      const breakdown = yield* Breakdown
      const refused = (more: Partial<BreakdownQuestion>) =>
        Effect.map(Effect.flip(breakdown.page(questionOf(accountId, more))), (error) =>
          error._tag === "Failure" && error.reason._tag === "ValidationError"
            ? error.reason.problems[0].field
            : error._tag
        )
      assert.strictEqual(yield* refused({ period: "7d" }), "period")
      assert.strictEqual(yield* refused({ startMs: undefined }), "end_time")
      assert.strictEqual(yield* refused({ startMs: until, endMs: from }), "end_time")
      assert.strictEqual(yield* refused({ startMs: from, endMs: from }), "end_time")
      assert.strictEqual(yield* refused({ startMs: Date.now() + 86_400_000, endMs: undefined }), "start_time")
      assert.strictEqual(yield* refused({ endMs: from + 745 * 3_600_000, width: "1h" }), "start_time")
      assert.strictEqual(yield* refused({ endMs: from + 367 * 86_400_000 }), "start_time")
      for (const wrong of ["x", "e30", Buffer.from('[1,1,"","","\\u0000",""]').toString("base64url")]) {
        assert.strictEqual(yield* refused({ cursor: wrong }), "cursor", wrong)
      }
      yield* breakdown.page(questionOf(accountId, { endMs: from + 744 * 3_600_000, width: "1h" }))
    }).pipe(Effect.provide(rooms))
  )
})
