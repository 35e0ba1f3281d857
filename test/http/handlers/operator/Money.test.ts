import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { refusal } from "../../../support/Management.ts"
import { json, post } from "../../../support/Service.ts"
import { operatorScene } from "./scene.ts"

describe("/operator/report", () => {
  it.live("reports what requests earned and cost, page by page, with the totals of all", () =>
    Effect.gen(function* () {
      const { account, chat, operate, service } = yield* operatorScene()
      const { body } = yield* chat
      const other = yield* service.account(1)
      const asked = { model: "text-embedding-3-small", input: "a cat" }
      const vector = yield* Effect.flatMap(post(`${service.api}/embeddings`, other.inferenceKey, asked), json)
      const sum = body.cost_usd + vector.cost_usd
      const { body: first } = yield* operate("GET", "/report?by[]=account&by[]=model&limit=1")
      assert.deepInclude(first.data[0], {
        account_id: account.id,
        email: account.email,
        model: "gpt-4o-mini",
        day: null,
        provider: null,
        requests: 1,
        revenue_usd: body.cost_usd,
        uncosted_requests: 0
      })
      assert.strictEqual(first.totals.requests, 2)
      assert.closeTo(first.totals.revenue_usd, sum, 1e-12)
      const { body: next } = yield* operate(
        "GET",
        `/report?by[]=account&by[]=model&limit=1&cursor=${first.next_cursor}`
      )
      assert.deepInclude(next.data[0], { account_id: other.account.id, model: "text-embedding-3-small" })
      assert.deepStrictEqual([next.next_cursor, next.totals], [null, first.totals])
      const { body: one } = yield* operate("GET", `/report?account_id=${account.id}`)
      assert.deepStrictEqual(
        [one.data.length, one.totals.requests, one.to],
        [1, 1, new Date().toISOString().slice(0, 10)]
      )
      assert.strictEqual((yield* operate("GET", "/report?paid_with=simulated")).body.totals.requests, 0)
      const bad = yield* operate("GET", "/report?from=2026-02-30")
      assert.deepStrictEqual(refusal(bad), [400, "validation_error", "from"])
      const late = yield* operate("GET", "/report?from=2026-02-02&to=2026-02-01")
      assert.deepStrictEqual(refusal(late), [400, "validation_error", "from"])
    }).pipe(Effect.scoped)
  )
})

describe("/operator/top-ups", () => {
  it.live("lists top-ups that need an operator, and no others", () =>
    Effect.gen(function* () {
      const { account, operate, service } = yield* operatorScene()
      const ids = [1, 2, 3].map((digit) => String(digit).repeat(24))
      for (const id of ids) {
        yield* service.sql`INSERT INTO top_up (id, account_id, amount_cents, processor, return_url, ask_at, attention)
          VALUES (${id}, ${account.id}, 2500, 'simulated', 'http://127.0.0.1:1', now(),
            ${id === ids[1] ? null : "the amount differs"}::text)`
      }
      const { body: first } = yield* operate("GET", "/top-ups?limit=1")
      assert.deepInclude(first.data[0], {
        id: ids[2],
        account_id: account.id,
        email: account.email,
        amount_usd: 25,
        status: "open",
        attention: "the amount differs"
      })
      const { body: next } = yield* operate("GET", `/top-ups?limit=1&cursor=${first.next_cursor}`)
      assert.deepStrictEqual([next.data[0].id, next.next_cursor], [ids[0], null])
    }).pipe(Effect.scoped)
  )
})
