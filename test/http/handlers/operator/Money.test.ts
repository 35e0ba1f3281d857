import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { refusal } from "../../../support/Management.ts"
import { json, post } from "../../../support/Service.ts"
import { attended } from "../../../support/Things.ts"
import { operatorScene } from "./scene.ts"

describe("/operator/report", () => {
  it.live("reports the revenue and cost of requests, page by page, with totals over all pages", () =>
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
  it.live("lists only the top-ups that need an operator", () =>
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

  it.live("lists all top-ups of an account with the amounts credited and taken back", () =>
    Effect.gen(function* () {
      const { account, operate, service } = yield* operatorScene()
      const id = yield* attended(service, account.id)
      const decision = { reason: "checked at the bank", amount_usd: 24.99 }
      yield* operate("POST", `/top-ups/${id}/settle`, decision, { "idempotency-key": "T-1" })
      const { body } = yield* operate("GET", `/accounts/${account.id}/top-ups`)
      assert.deepInclude(body.data[0], { id, status: "paid", credited_usd: 24.99, taken_back_usd: 0, attention: null })
      assert.strictEqual((yield* operate("GET", `/accounts/${"f".repeat(24)}/top-ups`)).status, 404)
    }).pipe(Effect.scoped)
  )
})

describe("/operator/top-ups/{top_up_id}/settle and /dismiss", () => {
  it.live("require an idempotency key, decide once per key, and refuse top-ups that need no decision", () =>
    Effect.gen(function* () {
      const { account, key, operate, service } = yield* operatorScene()
      const id = yield* attended(service, account.id)
      const settle = (body: object, reference?: string) =>
        operate("POST", `/top-ups/${id}/settle`, body, reference === undefined ? {} : { "idempotency-key": reference })
      assert.deepStrictEqual(refusal(yield* settle({ reason: "r" })), [400, "validation_error", "Idempotency-Key"])
      assert.deepStrictEqual(refusal(yield* settle({ amount_usd: 1 }, "T-1")), [400, "validation_error", "reason"])
      const half = yield* settle({ reason: "r", amount_usd: 1.005 }, "T-1")
      assert.deepStrictEqual(refusal(half), [400, "validation_error", "amount_usd"])
      const first = yield* settle({ reason: "checked at the bank" }, "T-1")
      assert.deepInclude(first.body.data, {
        top_up_id: id,
        account_id: account.id,
        action: "settled",
        amount_usd: 25,
        status: "paid",
        reference: "T-1",
        repeated: false
      })
      // The idempotency key of HTTP ends after a day; the reference never.
      yield* service.sql`DELETE FROM unpaid_claim`
      assert.deepInclude((yield* settle({ reason: "checked at the bank" }, "T-1")).body.data, {
        amount_usd: 25,
        repeated: true
      })
      assert.strictEqual((yield* service.sql`SELECT FROM transfer WHERE reference = ${`simulated:cs_${id}`}`).length, 1)
      assert.deepStrictEqual(refusal(yield* settle({ reason: "r" }, "T-2")).slice(0, 2), [409, "conflict"])
      const other = yield* attended(service, account.id)
      const dismissed = yield* operate(
        "POST",
        `/top-ups/${other}/dismiss`,
        { reason: "test" },
        { "idempotency-key": "T-3" }
      )
      assert.deepInclude(dismissed.body.data, { action: "dismissed", amount_usd: 0, status: "expired" })
      const [line] = yield* service.audit(account.id)
      assert.deepInclude(line, {
        type: "top_up.dismissed",
        actor_type: "operator",
        actor_id: key.id,
        outcome: "succeeded"
      })
      const unknown = yield* operate(
        "POST",
        `/top-ups/${"f".repeat(24)}/dismiss`,
        { reason: "r" },
        { "idempotency-key": "T" }
      )
      assert.deepStrictEqual(refusal(unknown).slice(0, 2), [404, "not_found"])
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )
})
