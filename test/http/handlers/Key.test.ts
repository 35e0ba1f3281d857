import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { KeyReport } from "../../../schemas/account/Key.ts"
import { keyReportOf } from "../../../src/http/handlers/Key.ts"
import { layerUrl } from "../../support/Database.ts"
import { get, json, post, startService } from "../../support/Service.ts"

const report = Schema.decodeUnknownSync(KeyReport, { onExcessProperty: "error" })
const chat = { model: "gpt-4o-mini", messages: [{ role: "user", content: "hello" }] }

describe("GET /key", () => {
  it.live("shows the limits and the spending of the calling key", () =>
    Effect.gen(function* () {
      const { account, api, balance, databaseUrl } = yield* startService({ RATE_LIMIT_SCALE: "10" })
      const opened = yield* account(10)
      const key = opened.inferenceKey
      const asked = Effect.map(Effect.flatMap(get(`${api}/key`, key), json), report)
      const before = yield* asked
      assert.deepStrictEqual(
        [
          before.kind,
          before.prefix,
          before.last4,
          before.last_used_at,
          before.expires_at,
          before.budget ?? before.project_budget
        ],
        ["inference", key.slice(0, 11), key.slice(-4), null, null, null]
      )
      assert.deepStrictEqual(before.spend_usd, { today: 0, this_week: 0, this_month: 0, all_time: 0 })
      assert.deepStrictEqual(before.rate_limits.default, { requests: 600, window_seconds: 60 })
      assert.deepStrictEqual(before.rate_limits.images, { requests: 300, window_seconds: 60 })
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const budgetId = "0123456789abcdef01234567"
        yield* sql`INSERT INTO budget (id, account_id, scope, limit_nano, period)
          VALUES (${budgetId}, ${opened.account.id}, 'key', 5000000000, 'monthly')`
        yield* sql`UPDATE api_key SET budget_id = ${budgetId}, expires_at = now() + interval '1 day' WHERE id = ${before.id}`
      }).pipe(Effect.provide(layerUrl(databaseUrl)))
      const answer = yield* Effect.flatMap(post(`${api}/chat/completions`, key, chat), json)
      const after = yield* asked
      const { all_time, this_month, this_week, today } = after.spend_usd
      for (const spend of [all_time, this_month, this_week, today]) assert.closeTo(spend, answer.cost_usd, 1e-9)
      assert.isAtMost(Math.abs((after.last_used_at ?? 0) - Date.now() / 1000), 60)
      assert.isAbove(after.expires_at ?? 0, Date.now() / 1000)
      assert.strictEqual(after.balance_usd, Number((yield* balance(opened.account.id)).posted) / 1e9)
      assert.notInclude(JSON.stringify(after), key)
      assert.strictEqual(after.budget?.period, "monthly")
      assert.strictEqual(after.budget?.budget_cents, 500)
    }).pipe(Effect.scoped)
  )

  it("shows the project's budget beside the key's own", () => {
    const at = new Date(0)
    const facts = {
      id: "0123456789abcdef01234567",
      kind: "inference",
      name: "laptop",
      prefix: "svc_sk_abcd",
      last4: "wxyz",
      project_id: null,
      created_at: at,
      expires_at: null,
      posted: 1_500_000_000n
    } as const
    const spend = { today: 0n, week: 0n, month: 0n, ever: 1n, used_at: null }
    const caller = { limitScale: 0.5, budgets: [{ id: "b", scope: "project", period: "daily" }] } as const
    const state = { period: "daily", budgetCents: 5, spentCents: 1, remainingCents: 2.5 } as const
    const reported = report(keyReportOf({ facts, spend }, caller, new Map([["b", state]]), 2))
    const shown = { period: "daily", budget_cents: 5, spent_cents: 1, remaining_cents: 2.5 }
    assert.deepStrictEqual([reported.budget, reported.project_budget], [null, shown])
    assert.deepStrictEqual(
      [reported.rate_limits.video.requests, reported.balance_usd, reported.limit_scale],
      [2, 1.5, 0.5]
    )
    assert.isNull(keyReportOf({ facts, spend }, caller, new Map(), 2).project_budget)
  })
})
