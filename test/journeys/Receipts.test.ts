import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { nano } from "../support/Amounts.ts"
import { receiptOf } from "../support/ReadReceipts.ts"
import { get, json, post, type Service, startService } from "../support/Service.ts"

const messages = [{ role: "user", content: "Write me a receipt" }]
const chat = (service: Service, key: string, body: object, headers: Record<string, string> = {}) =>
  post(`${service.api}/chat/completions`, key, body, headers)

describe("the API", () => {
  it.live(
    "shows a price and a usage on receipts that give the charge to the nano-USD, for tools, cached and reasoning tokens too",
    () =>
      Effect.gen(function* () {
        const service = yield* startService()
        const { account, inferenceKey } = yield* service.account(50)
        const tools = [{ type: "function", function: { name: "now", parameters: { type: "object", properties: {} } } }]
        const cases = [
          { body: { model: "gpt-4o-mini", messages }, steering: "output_tokens=77" },
          { body: { model: "gpt-4o-mini", messages, tools }, steering: "latency_ms=0" },
          { body: { model: "claude-sonnet-4-5", messages }, steering: "cached_tokens=6,output_tokens=10" },
          { body: { model: "gpt-5-mini", messages }, steering: "reasoning_tokens=90,output_tokens=120" },
          { body: { model: "gemini-2.5-pro", messages, stream: true }, steering: "cached_tokens=3,reasoning_tokens=5" }
        ]
        let before = (yield* service.balance(account.id)).posted
        for (const { body, steering } of cases) {
          const response = yield* chat(service, inferenceKey, body, { "x-svc-sandbox": steering })
          assert.strictEqual(response.status, 200, JSON.stringify(body))
          yield* Effect.promise(() => response.text())
          const found = yield* receiptOf(service, inferenceKey, response.headers.get("x-request-id"))
          const { price, usage } = found
          const exact =
            usage.input_tokens * price.input +
            usage.cached_tokens * price.cached_input +
            usage.cache_creation_tokens * price.cache_write +
            usage.output_tokens * price.output +
            price.per_request
          assert.isAtLeast(found.cost_usd + 1e-15, exact)
          assert.isBelow(found.cost_usd - exact, 1.001e-9)
          const after = (yield* service.balance(account.id)).posted
          assert.strictEqual(before - after, nano(found.cost_usd))
          assert.isAtMost(found.settled_usd, found.held_usd)
          assert.strictEqual(found.usage_basis, "reported")
          assert.isNumber(found.timings.total_ms)
          before = after
        }
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped)
  )

  it.live("lists receipts newest first, in pages and filtered, and none of another account", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const [one, two] = [yield* service.account(1), yield* service.account(1)]
      for (let n = 0; n < 5; n++) {
        const model = n % 2 === 0 ? "gpt-4o-mini" : "gemini-2.5-flash"
        yield* chat(service, one.inferenceKey, { model, messages }, n === 4 ? { "x-svc-sandbox": "fault=error" } : {})
      }
      const list = (query: string, key = one.inferenceKey) =>
        Effect.flatMap(get(`${service.api}/requests${query}`, key), json)
      const ids: Array<string> = []
      let cursor: string | null = ""
      while (cursor !== null) {
        const page: { data: Array<{ id: string }>; next_cursor: string | null } = yield* list(
          `?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`
        )
        ids.push(...page.data.map(({ id }) => id))
        cursor = page.next_cursor
      }
      assert.strictEqual(ids.length, 5)
      assert.deepStrictEqual(ids, ids.toSorted().toReversed())
      assert.strictEqual((yield* list("?model=gemini-2.5-flash")).data.length, 2)
      assert.strictEqual((yield* list("?status=failed")).data.length, 1)
      assert.deepStrictEqual((yield* list("", two.inferenceKey)).data, [])
      const foreign = yield* get(`${service.api}/requests/${ids[0]}`, two.inferenceKey)
      assert.strictEqual(foreign.status, 404)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("serves a request when the balance covers the estimated hold, and answers 402 to a nano-USD less", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const bodies = [
        { model: "gpt-4o-mini", messages, max_tokens: 50 },
        { model: "gpt-4o-mini,claude-sonnet-4-5", messages },
        { model: "gemini-2.5-pro", messages, stream: true },
        { models: ["deepseek-v3.2", "gpt-4o-mini"], messages, max_tokens: 10_000 }
      ]
      for (const body of bodies) {
        const { account, inferenceKey } = yield* service.account(0)
        const estimate = Effect.flatMap(post(`${service.api}/estimate`, inferenceKey, body), json)
        const { affordable, hold_usd, max_cost_usd } = yield* estimate
        assert.isFalse(affordable)
        assert.isAtLeast(max_cost_usd, hold_usd)
        if ("max_tokens" in body) assert.strictEqual(max_cost_usd, hold_usd)
        yield* service.customers.topUp(account, nano(hold_usd) - 1n)
        const refused = yield* chat(service, inferenceKey, body)
        assert.strictEqual(refused.status, 402, JSON.stringify(body))
        const { error, limit_source } = yield* json(refused)
        assert.deepStrictEqual(
          [error.code, error.type, limit_source],
          ["insufficient_credits", "insufficient_quota", "balance"]
        )
        yield* service.customers.topUp(account, 1n)
        assert.isTrue((yield* estimate).affordable)
        const served = yield* chat(service, inferenceKey, body)
        assert.strictEqual(served.status, 200, JSON.stringify(body))
        yield* Effect.promise(() => served.text())
      }
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("adds a low-balance warning to an answer, and skips models above the request's budget", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const low = yield* service.account(4.999)
      const rich = yield* service.account(20)
      const body = { model: "gpt-4o-mini", messages }
      const warned = yield* Effect.flatMap(chat(service, low.inferenceKey, body), json)
      assert.strictEqual(warned.balance_warning.warning, "low_balance")
      assert.include(warned.balance_warning.threshold, "$4.99")
      assert.notProperty(yield* Effect.flatMap(chat(service, rich.inferenceKey, body), json), "balance_warning")
      const chain = { models: ["claude-opus-4-1", "gpt-4o-mini"], messages, max_tokens: 200, budget_cents: 0.5 }
      const fitted = yield* Effect.flatMap(chat(service, rich.inferenceKey, chain), json)
      assert.strictEqual(fitted.resolved_model, "gpt-4o-mini")
      assert.deepStrictEqual(fitted.routing.requested_models, chain.models)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )
})
