import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeReceipts } from "../../../bench/ReceiptsSql.ts"
import { get, json, post } from "../../../support/Service.ts"
import { refusal } from "../../../support/Management.ts"
import { operatorScene } from "./scene.ts"

const unknown = `req_${"0".repeat(26)}`

const noAttempts = { attempt_cost_usd: 0, attempt_costs: [] }

describe("/operator/requests", () => {
  it.live("shows an account's receipts with the provider's cost and every transfer", () =>
    Effect.gen(function* () {
      const { account, chat, inferenceKey, operate, service } = yield* operatorScene()
      const { body } = yield* chat
      const own = yield* Effect.flatMap(get(`${service.api}/requests/${body.request_id}`, inferenceKey), json)
      const { body: list } = yield* operate("GET", `/accounts/${account.id}/requests?status=succeeded`)
      // The sandbox's double costs what its provider lists, which is the price as well.
      const more = { account_id: account.id, provider_cost_usd: body.cost_usd, ...noAttempts, price_rule: null }
      assert.deepStrictEqual(list.data, [{ ...own, ...more }])
      const { body: one } = yield* operate("GET", `/requests/${body.request_id}`)
      assert.deepInclude(one.data, { ...own, ...more, email: account.email })
      assert.deepStrictEqual(
        one.data.transfers.map(({ amount_usd, kind }: Record<string, unknown>) => [kind, amount_usd]),
        [["settle", -body.cost_usd]]
      )
      assert.deepStrictEqual(refusal(yield* operate("GET", `/requests/${unknown}`)), [404, "not_found", null])
      assert.notProperty(own, "provider_cost_usd")
    }).pipe(Effect.scoped)
  )

  it.live("lists the receipts of all accounts with their owners, newest first, page by page and by filters", () =>
    Effect.gen(function* () {
      const { account, chat, operate, service } = yield* operatorScene()
      const { body: first } = yield* chat
      const other = yield* service.account(1)
      const asked = { model: "text-embedding-3-small", input: "a cat" }
      const second = yield* Effect.flatMap(post(`${service.api}/embeddings`, other.inferenceKey, asked), json)
      const { body: page } = yield* operate("GET", "/requests?limit=1")
      assert.deepInclude(page.data[0], {
        account_id: other.account.id,
        email: other.account.email,
        model: "text-embedding-3-small",
        cost_usd: second.cost_usd,
        provider_cost_usd: second.cost_usd
      })
      assert.isNumber(page.searched_to)
      const { body: next } = yield* operate("GET", `/requests?limit=1&cursor=${page.next_cursor}`)
      assert.deepInclude(next.data[0], { id: first.request_id, email: account.email })
      assert.deepStrictEqual([next.next_cursor, next.searched_to], [null, null])
      for (const [filter, count] of [
        ["status=failed", 0],
        ["status=succeeded", 2],
        ["model=gpt-4o-mini", 1],
        ["provider=openai&operation=embeddings", 1],
        ["provider=anthropic", 0]
      ] as const) {
        const { body } = yield* operate("GET", `/requests?${filter}`)
        assert.deepStrictEqual([body.data.length, body.next_cursor], [count, null], filter)
      }
      yield* writeReceipts(service.sql, account.id, { from: 0, to: 10_050, startMs: 0, everyMs: 1 })
      const { body: searched } = yield* operate("GET", "/requests?status=cancelled")
      assert.deepStrictEqual(searched.data, [])
      assert.isString(searched.next_cursor)
    }).pipe(Effect.scoped)
  )

  it.live("refunds a part and then the rest, each once, and never more than the charge", () =>
    Effect.gen(function* () {
      const { account, chat, key, operate, service } = yield* operatorScene()
      const { body } = yield* chat
      const path = `/requests/${body.request_id}/refund`
      const refund = (asked: object, name?: string) =>
        operate("POST", path, asked, name === undefined ? {} : { "idempotency-key": name })
      const bare = yield* refund({ reason: "outage" })
      assert.deepStrictEqual(refusal(bare), [400, "validation_error", "Idempotency-Key"])
      const part = yield* refund({ amount_usd: 0.000001, reason: "slow" }, "T-1")
      assert.deepInclude(part.body.data, {
        object: "refund",
        request_id: body.request_id,
        account_id: account.id,
        amount_usd: 0.000001,
        refunded_usd: 0.000001,
        reference: "T-1",
        repeated: false
      })
      // Even after the idempotency key has been forgotten, its reference in the ledger stands.
      yield* service.sql`DELETE FROM unpaid_claim`
      assert.deepStrictEqual((yield* refund({ amount_usd: 0.000001, reason: "slow" }, "T-1")).body.data, {
        ...part.body.data,
        repeated: true
      })
      assert.deepStrictEqual(refusal(yield* refund({ amount_usd: 1, reason: "slow" }, "T-2")), [409, "conflict", null])
      const used = yield* refund({ amount_usd: 0.000002, reason: "slow" }, "T-1")
      assert.strictEqual(used.status, 422)
      const rest = yield* refund({ reason: "outage" }, "T-3")
      assert.deepInclude(rest.body.data, { cost_usd: 0, refunded_usd: body.cost_usd, balance_usd: 10 })
      assert.deepStrictEqual(refusal(yield* refund({ reason: "outage" }, "T-4")), [409, "conflict", null])
      const line = (yield* service.audit(account.id)).find(({ outcome }) => outcome === "succeeded")
      assert.deepInclude(line, { type: "request.refunded", actor_type: "operator", actor_id: key.id })
      assert.deepInclude(line?.changes, { reason: "outage", reference: "T-3" })
      assert.strictEqual((yield* service.balance(account.id)).posted, 10_000_000_000n)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )
})
