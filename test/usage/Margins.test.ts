import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { marginBasisPoints, type MarginQuestion, Margins } from "../../src/usage/Margins.ts"
import type { MarginRow } from "../../src/usage/MarginsSql.ts"
import { marginsEqualRequests } from "../../src/usage/UsageBooksSql.ts"
import { Rollups } from "../../src/usage/Rollups.ts"
import { close, type Customer, customer, hold, run } from "../ledger/Fixture.ts"
import { layer as database } from "../support/Database.ts"

const rooms = Layer.mergeAll(Margins.layer, Rollups.layer).pipe(Layer.provideMerge(database))

/** A request with this time, price and provider's cost. */
const earned = (
  sql: SqlClient.SqlClient,
  owner: Customer,
  at: string,
  [cost, providerCost]: readonly [bigint, number?],
  model = "m/a"
) =>
  Effect.gen(function* () {
    const opened = hold(owner, cost)
    yield* run(sql, opened)
    yield* run(sql, close(opened, cost, { resolvedModel: model, closed: { usage: {}, providerCost } }))
    yield* sql`UPDATE request SET created_at = ${at}::timestamptz WHERE id = ${opened.requestId}`
    return opened
  })

const question = (more: Partial<MarginQuestion> = {}): MarginQuestion => ({
  by: [],
  from: "2026-03-04",
  to: "2026-03-05",
  accountId: undefined,
  play: false,
  limit: 100,
  cursor: undefined,
  ...more
})

const plain = ({ absorbed, provider_cost, requests, revenue, uncosted }: MarginRow) => [
  requests,
  revenue,
  provider_cost,
  uncosted,
  absorbed
]

describe("Margins", () => {
  it.effect("sums the days of the range, both ends included, in UTC, before and after a rollup", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { report } = yield* Margins
      const owner = yield* customer(sql, 1_000_000n)
      yield* earned(sql, owner, "2026-03-03T23:59:59.999Z", [100n, 7])
      yield* earned(sql, owner, "2026-03-04T00:00:00Z", [200n, 20])
      yield* earned(sql, owner, "2026-03-05T23:59:59Z", [400n])
      yield* earned(sql, owner, "2026-03-06T00:00:00Z", [800n, 9])
      const play = yield* earned(sql, owner, "2026-03-04T12:00:00Z", [1_600n, 11])
      yield* sql`UPDATE request SET play = true WHERE id = ${play.requestId}`
      const asked = question({ by: ["day"], accountId: owner.accountId })
      const live = yield* report(asked)
      assert.deepStrictEqual(
        live.rows.map((row) => [row.day, ...plain(row)]),
        [
          ["2026-03-04", 1n, 200n, 20n, 0n, 0n],
          ["2026-03-05", 1n, 400n, 0n, 1n, 0n]
        ]
      )
      assert.deepStrictEqual(plain(live.totals), [2n, 600n, 20n, 1n, 0n])
      assert.strictEqual(marginBasisPoints(live.totals), 9_666)
      const rehearsed = yield* report({ ...asked, play: true })
      assert.deepStrictEqual(plain(rehearsed.totals), [1n, 1_600n, 11n, 0n, 0n])
      yield* sql`CREATE OR REPLACE FUNCTION usage_grace_ms() RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 0::bigint'`
      const [left] = [
        sql<{ left: bigint }>`SELECT count(*) AS left FROM request WHERE id >= (SELECT through FROM usage_rollup_state)`
      ]
      let rounds = 0
      while ((yield* left)[0]?.left !== 0n) {
        yield* (yield* Rollups).step
        assert.isBelow(++rounds, 10_000)
      }
      assert.deepStrictEqual(yield* report(asked), live)
      assert.deepStrictEqual(yield* report({ ...asked, play: true }), rehearsed)
    }).pipe(Effect.provide(rooms))
  )

  it.effect(
    "counts attempts that served no answer for their own provider and model, whichever version rolls them up",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { report } = yield* Margins
        const owner = yield* customer(sql, 1_000_000n)
        const attemptCosts = [
          { index: 0, provider: "slow", model: "m/a", nano: 30 },
          { index: 1, provider: "slow", model: "m/b", nano: 4, estimated: true }
        ]
        const served = hold(owner, 200n)
        const failed = hold(owner, 100n)
        for (const one of [served, failed]) yield* run(sql, one)
        const closed = { usage: {}, providerCost: 20, attemptCosts }
        yield* run(sql, close(served, 200n, { provider: "good", resolvedModel: "m/a", closed }))
        const [, second] = attemptCosts
        yield* run(
          sql,
          close(failed, undefined, { provider: null, resolvedModel: null, closed: { attemptCosts: [second] } })
        )
        const asked = question({
          by: ["model", "provider"],
          accountId: owner.accountId,
          from: "2026-01-01",
          to: "2035-12-31"
        })
        const live = yield* report(asked)
        const costs = live.rows.map((row) => [
          row.model,
          row.provider,
          row.revenue,
          row.provider_cost,
          row.attempt_cost
        ])
        assert.sameDeepMembers(costs, [
          [failed.model, "", 0n, 0n, 0n],
          ["m/a", "good", 200n, 20n, 0n],
          ["m/a", "slow", 0n, 0n, 30n],
          ["m/b", "slow", 0n, 0n, 8n]
        ])
        assert.strictEqual(marginBasisPoints(live.totals), Math.floor(((200 - 20 - 38) * 10_000) / 200))
        // What the rollup of the version before writes for these two requests.
        yield* sql`INSERT INTO margin_day (day, account_id, model, provider, play, requests, revenue, provider_cost, uncosted, absorbed)
        SELECT (created_at AT TIME ZONE 'UTC')::date, account_id, COALESCE(resolved_model, model), provider, false, 1, settled,
          COALESCE((closed ->> 'providerCost')::bigint, 0), 0, 0 FROM request WHERE account_id = ${owner.accountId}`
        yield* sql`UPDATE usage_rollup_state SET through = (SELECT max(id) || 'z' FROM request)`
        assert.deepStrictEqual(yield* report(asked), live)
        assert.deepInclude((yield* marginsEqualRequests(sql))[0], { failed: 0n })
        yield* (yield* Rollups).step
        assert.deepStrictEqual(yield* sql`SELECT FROM attempt_cost`, [])
        assert.deepStrictEqual(yield* report(asked), live)
        assert.deepInclude((yield* marginsEqualRequests(sql))[0], { failed: 0n })
        yield* sql`UPDATE margin_day SET attempt_cost = attempt_cost - 1 WHERE provider = 'slow' AND model = 'm/a'`
        assert.deepInclude((yield* marginsEqualRequests(sql))[0], { failed: 1n })
      }).pipe(Effect.provide(rooms))
  )

  it.effect("pages through groups in their order, with the totals of all on each page", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { report } = yield* Margins
      const owners = [yield* customer(sql, 1_000_000n), yield* customer(sql, 1_000_000n)]
      for (const owner of owners) {
        for (const model of ["m/b", "m/a"]) yield* earned(sql, owner, "2026-03-04T01:00:00Z", [10n, 1], model)
      }
      const found: Array<string> = []
      let cursor: string | undefined
      do {
        const page = yield* report(question({ by: ["account", "model"], limit: 1, cursor }))
        assert.deepStrictEqual(plain(page.totals), [4n, 40n, 4n, 0n, 0n])
        for (const row of page.rows) {
          assert.match(row.email ?? "", /@/)
          found.push(`${row.account} ${row.model}`)
        }
        cursor = page.next ?? undefined
      } while (cursor !== undefined)
      const expected = owners.flatMap(({ accountId }) => [`${accountId} m/a`, `${accountId} m/b`])
      assert.deepStrictEqual(found, expected.toSorted())
    }).pipe(Effect.provide(rooms))
  )

  it.effect("refuses impossible ranges and cursors", () =>
    Effect.gen(function* () {
      const { report } = yield* Margins
      const bad: ReadonlyArray<readonly [Partial<MarginQuestion>, string]> = [
        [{ from: "2026-03-05", to: "2026-03-04" }, "from"],
        [{ from: "2000-01-01", to: "2026-03-04" }, "from"],
        [{ cursor: "nonsense" }, "cursor"],
        [{ cursor: Buffer.from('["2026-03-04","","","","\\u0000"]').toString("base64url") }, "cursor"]
      ]
      for (const [more, field] of bad) {
        const error = yield* Effect.flip(report(question(more)))
        assert.deepInclude(error, { _tag: "Failure" })
        assert.include(JSON.stringify(error), field)
      }
    }).pipe(Effect.provide(rooms))
  )
})
