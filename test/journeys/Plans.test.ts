import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { operating } from "../http/handlers/operator/scene.ts"
import { upstream } from "../providers/upstream.ts"
import { nano } from "../support/Amounts.ts"
import { receiptOf } from "../support/ReadReceipts.ts"
import { get, json, post, type Service, startService } from "../support/Service.ts"

const model = "gpt-4o-mini"
const messages = [{ role: "user", content: "What is it worth to you?" }]
const actor = { type: "operator", id: "test" } as const

const asked = (service: Service, key: string, path: string, body: object) =>
  Effect.flatMap(post(`${service.api}${path}`, key, body), json)
const pricing = (service: Service, key: string, id = model) =>
  Effect.map(Effect.flatMap(get(`${service.api}/models/${id}`, key), json), ({ pricing }) => pricing)

const fixed = { model, input_usd_per_million: 2, output_usd_per_million: 8 }

describe("the price plan of an account", () => {
  it.live("sets one price for the listing, the estimate, the hold, the charge and the receipt", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const usual = yield* service.account(10)
      const { account, inferenceKey } = yield* service.account(10)
      const operate = operating(service, yield* service.operatorKey)
      const made = yield* operate("POST", "/plans", {
        name: "gold",
        markup_basis_points: 2_000,
        prices: [fixed, { model: "flux-dev", per_unit_usd: 0.5 }]
      })
      assert.strictEqual(made.status, 200, JSON.stringify(made.body))
      const { id: plan } = made.body.data
      const joined = yield* operate("PATCH", `/accounts/${account.id}/plan`, { plan_id: plan })
      assert.deepStrictEqual(joined.body.data, { id: account.id, object: "account", plan_id: plan })
      // The fixed price of the plan.
      const own = yield* pricing(service, inferenceKey)
      assert.deepStrictEqual([own.meteredPromptPerToken, own.meteredCompletionPerToken], [2e-6, 8e-6])
      assert.strictEqual((yield* pricing(service, inferenceKey, "flux-dev")).perUnitUsd, 0.5)
      const body = { model, messages, max_tokens: 50 }
      const estimate = yield* asked(service, inferenceKey, "/estimate", body)
      const answer = yield* asked(service, inferenceKey, "/chat/completions", body)
      const receipt = yield* receiptOf(service, inferenceKey, answer.request_id)
      assert.strictEqual(receipt.held_usd, estimate.hold_usd)
      assert.include(receipt.price, { input: 2e-6, output: 8e-6, plan: "gold" })
      const { input_tokens: input, output_tokens: output } = receipt.usage
      assert.strictEqual(nano(receipt.cost_usd), BigInt(2_000 * input + 8_000 * output))
      const seen = yield* operate("GET", `/requests/${answer.request_id}`)
      assert.deepStrictEqual(seen.body.data.price_rule, { by: "plan_price", plan: "gold" })
      // The plan's markup applies to a model without a fixed price. The account's own markup overrides it, but not fixed prices.
      const [list, marked] = [yield* pricing(service, "", "gpt-4o"), yield* pricing(service, inferenceKey, "gpt-4o")]
      assert.closeTo(marked.meteredPromptPerToken, list.meteredPromptPerToken * 1.2, 1e-12)
      yield* operate("PATCH", `/accounts/${account.id}/markup`, { markup_basis_points: -5_000 })
      assert.closeTo(
        (yield* pricing(service, inferenceKey, "gpt-4o")).meteredPromptPerToken,
        list.meteredPromptPerToken / 2,
        1e-12
      )
      assert.strictEqual((yield* pricing(service, inferenceKey)).meteredPromptPerToken, 2e-6)
      const other = yield* asked(service, inferenceKey, "/chat/completions", { ...body, model: "gpt-4o" })
      const rule = (yield* operate("GET", `/requests/${other.request_id}`)).body.data.price_rule
      assert.deepStrictEqual(rule, { by: "account", plan: "gold", markup: -5_000 })
      // The plan does not apply to other accounts.
      const plain = yield* asked(service, usual.inferenceKey, "/chat/completions", body)
      assert.isNull((yield* operate("GET", `/requests/${plain.request_id}`)).body.data.price_rule)
      assert.notProperty((yield* receiptOf(service, usual.inferenceKey, plain.request_id)).price, "plan")
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live(
    "charges the first request after a change at the new price on every node, and running ones at the old price",
    () =>
      Effect.gen(function* () {
        const [arrived, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
        const host = yield* upstream((request, response) => {
          request.resume().on("end", () => {
            arrived.resolve()
            void go.promise.then(() =>
              response.writeHead(200, { "content-type": "application/json" }).end(
                JSON.stringify({
                  id: "chatcmpl-1",
                  object: "chat.completion",
                  created: 1,
                  model: "whatever",
                  choices: [{ index: 0, message: { role: "assistant", content: "Little." }, finish_reason: "stop" }],
                  usage: { prompt_tokens: 10, completion_tokens: 200, total_tokens: 210 }
                })
              )
            )
          })
        })
        const settings = { OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: `${host.origin}/v1` }
        const one = yield* startService(settings)
        const other = yield* startService({ ...settings, DATABASE_URL: one.databaseUrl })
        const { account, inferenceKey } = yield* one.account(10)
        const operate = operating(one, yield* one.operatorKey)
        const plan = (yield* operate("POST", "/plans", { name: "gold", prices: [fixed] })).body.data.id
        yield* operate("PATCH", `/accounts/${account.id}/plan`, { plan_id: plan })
        const body = { model, messages, max_tokens: 300, routing: { providers: { only: ["openai"] } } }
        const ask = (service: Service) => asked(service, inferenceKey, "/chat/completions", body)
        const running = yield* Effect.forkChild(ask(other))
        yield* Effect.promise(() => arrived.promise)
        go.resolve()
        // Both nodes have now cached the key with the first price.
        yield* ask(one)
        const changed = yield* operate("PATCH", `/plans/${plan}`, {
          prices: [{ ...fixed, input_usd_per_million: 4, output_usd_per_million: 16 }]
        })
        assert.strictEqual(changed.status, 200)
        const first = yield* receiptOf(other, inferenceKey, (yield* Fiber.join(running)).request_id)
        assert.strictEqual(nano(first.cost_usd), 10n * 2_000n + 200n * 8_000n)
        for (const node of [other, one]) {
          const later = yield* receiptOf(node, inferenceKey, (yield* ask(node)).request_id)
          assert.strictEqual(nano(later.cost_usd), 10n * 4_000n + 200n * 16_000n)
          assert.strictEqual(later.held_usd, (yield* asked(node, inferenceKey, "/estimate", body)).hold_usd)
        }
        // The same for an account's own markup, and for work other than chat.
        yield* one.accounts.setMarkup(account, 10_000, actor)
        const work = { model: "text-embedding-3-small", input: "a cat" }
        const cheap = yield* asked(one, (yield* one.account(10)).inferenceKey, "/embeddings", work)
        const dear = yield* asked(other, inferenceKey, "/embeddings", work)
        assert.strictEqual(nano(dear.cost_usd), nano(cheap.cost_usd) * 2n)
        assert.deepStrictEqual(yield* one.faults, [])
      }).pipe(Effect.scoped)
  )

  it.live("limits an account's requests, unfinished videos and daily spending over all keys", () =>
    Effect.gen(function* () {
      const service = yield* startService({ RATE_LIMIT_SCALE: "1" })
      const { account, inferenceKey } = yield* service.account(10)
      const operate = operating(service, yield* service.operatorKey)
      const limits = { requests_per_minute: 3, running_videos: 1, running_batches: 2, daily_spend_usd: 0.001 }
      const plan = (yield* operate("POST", "/plans", { name: "small", limits })).body.data
      assert.deepStrictEqual(plan.limits, limits)
      yield* operate("PATCH", `/accounts/${account.id}/plan`, { plan_id: plan.id })
      const chat = (max: number) =>
        post(`${service.api}/chat/completions`, inferenceKey, { model, messages, max_tokens: max })
      const good = yield* chat(100)
      assert.strictEqual(good.headers.get("ratelimit-policy")?.includes("q=3"), true)
      const refused = yield* chat(16_000)
      const { error, limit_source: source } = yield* json(refused)
      assert.deepStrictEqual([refused.status, source], [402, "account_budget"])
      assert.match(error.message, /is left of what this account may spend today \(UTC\)/)
      yield* chat(100)
      assert.strictEqual((yield* chat(100)).status, 429)
      const shown = yield* operate("GET", `/accounts/${account.id}`)
      assert.deepInclude(shown.body.data.plan, { id: plan.id, name: "small" })
      assert.deepInclude(shown.body.data.budgets[0], { scope: "account", period: "daily", limit_usd: 0.001 })
      // Without the limits of requests and spending, the same request is served. The limit of videos stays.
      yield* operate("PATCH", `/plans/${plan.id}`, { limits: { daily_spend_usd: null, requests_per_minute: null } })
      assert.strictEqual((yield* chat(16_000)).status, 200)
      const videoRequest = { model: "veo-3", prompt: "a kite", duration: 4, aspect_ratio: "16:9" }
      assert.strictEqual((yield* post(`${service.api}/videos`, inferenceKey, videoRequest)).status, 200)
      const second = yield* post(`${service.api}/videos`, inferenceKey, videoRequest)
      assert.strictEqual(second.status, 429)
      assert.match((yield* json(second)).error.message, /has 1 unfinished videos, the maximum/)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )
})
