import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Layer, Logger } from "effect"
import { HttpServer } from "effect/http"
import { layer as app } from "../../../src/App.ts"
import { Customers } from "../../../src/billing/Customers.ts"
import { NANO_PER_USD } from "../../../src/domain/Money.ts"
import { BODY_BUDGET_BYTES, NodeBodyBudget } from "../../../src/http/edge/BodyBudget.ts"
import { Config } from "../../../src/platform/config/Config.ts"
import { freshDatabase } from "../../support/Database.ts"
import { get, json, post, startService } from "../../support/Service.ts"
import { temporaryDirectory } from "../../support/Directories.ts"

const chat = { model: "gpt-4o-mini", messages: [{ role: "user", content: "hello" }] }

const asking = Effect.gen(function* () {
  const service = yield* startService()
  const { account, inferenceKey } = yield* service.account(1)
  return {
    service,
    account,
    key: inferenceKey,
    ask: (body: unknown, headers?: Record<string, string>) =>
      post(`${service.api}/chat/completions`, inferenceKey, body, headers)
  }
})

const MODELS = "claude-opus-4-1, gpt-4o-mini"

describe("POST /chat/completions", () => {
  it.live("streams with headers that stop proxies from buffering or changing it", () =>
    Effect.gen(function* () {
      const { ask } = yield* asking
      const response = yield* ask({ ...chat, stream: true })
      assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/)
      assert.strictEqual(response.headers.get("cache-control"), "no-cache, no-transform")
      assert.strictEqual(response.headers.get("x-accel-buffering"), "no")
      assert.strictEqual(response.headers.get("access-control-allow-origin"), "*")
      const text = yield* Effect.promise(() => response.text())
      assert.isTrue(text.endsWith("data: [DONE]\n\n"))
      assert.include(text, `"request_id":"${response.headers.get("x-request-id")}"`)
    }).pipe(Effect.scoped)
  )

  it.live("records the caller's trace on the receipt", () =>
    Effect.gen(function* () {
      const { ask, key, service } = yield* asking
      const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
      const traced = yield* Effect.flatMap(ask(chat, { traceparent: `00-${trace}-00f067aa0ba902b7-01` }), json)
      const untraced = yield* Effect.flatMap(ask(chat, { traceparent: "nonsense" }), json)
      const receipt = (id: string) => Effect.flatMap(get(`${service.api}/requests/${id}`, key), json)
      assert.strictEqual((yield* receipt(traced.request_id)).trace_id, trace)
      assert.isNull((yield* receipt(untraced.request_id)).trace_id)
    }).pipe(Effect.scoped)
  )

  it.live("serves a fallback chain, and names the model that served", () =>
    Effect.gen(function* () {
      const { ask } = yield* asking
      const steering = { "x-svc-sandbox": "fault=error,provider=openai" }
      const body = { ...chat, model: "gpt-4o, gpt-4o-mini" }
      const response = yield* ask({ ...body, routing: { providers: { only: ["openai", "azure"] } } }, steering)
      const answer = yield* json(response)
      assert.strictEqual(answer.model, "gpt-4o, gpt-4o-mini")
      assert.deepStrictEqual([answer.resolved_model, answer.provider], ["gpt-4o", "azure"])
      assert.deepStrictEqual(answer.routing.requested_models, ["gpt-4o", "gpt-4o-mini"])
      assert.deepStrictEqual(
        answer.routing.provider_attempts.map((attempt: { readonly outcome: string }) => attempt.outcome),
        ["failed_over", "served"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("returns 503 while the node's memory for bodies is used up", () =>
    Effect.gen(function* () {
      const { account, ask, service } = yield* asking
      const budget = yield* NodeBodyBudget
      assert.isTrue(budget.take(BODY_BUDGET_BYTES - 10))
      const refused = yield* ask(chat).pipe(Effect.ensuring(Effect.sync(() => budget.give(BODY_BUDGET_BYTES - 10))))
      const { error } = yield* json(refused)
      assert.deepStrictEqual([refused.status, error.type, error.code], [503, "service_unavailable_error", "overloaded"])
      assert.deepStrictEqual(
        ["retry-after", "retry-after-ms", "x-should-retry"].map((name) => refused.headers.get(name)),
        ["1", "1000", "true"]
      )
      assert.strictEqual((yield* service.balance(account.id)).held, 0n)
      assert.strictEqual((yield* ask(chat)).status, 200)
      assert.strictEqual(budget.used, 0)
    }).pipe(Effect.scoped)
  )

  it.live("logs a failure within a stream once, and nothing for a successful stream", () =>
    Effect.gen(function* () {
      const logged: Array<string> = []
      const logger = Logger.make(({ cause, logLevel, message }) => {
        // The access line of each request is at this level.
        if (logLevel !== "Info") logged.push(`${logLevel} ${String(message)} ${Cause.pretty(cause)}`)
      })
      const settings = Config.layerFrom({
        PORT: "0",
        OPS_PORT: "0",
        HOST: "127.0.0.1",
        SANDBOX: "on",
        DATA_DIR: yield* temporaryDirectory,
        DATABASE_URL: yield* freshDatabase("logs")
      })
      const context = yield* Layer.build(app.pipe(Layer.provideMerge(settings), Layer.provide(Logger.layer([logger]))))
      yield* Effect.gen(function* () {
        const { address } = yield* HttpServer.HttpServer
        const api = `http://127.0.0.1:${"port" in address ? address.port : 0}/api/v1`
        const actor = { type: "operator", id: "test" } as const
        const { inferenceKey } = yield* (yield* Customers).open("caller@example.com", NANO_PER_USD, actor)
        const ask = (steering: string) =>
          post(`${api}/chat/completions`, inferenceKey, { ...chat, stream: true }, { "x-svc-sandbox": steering }).pipe(
            Effect.flatMap((response) => Effect.promise(() => response.text()))
          )
        const before = logged.length
        assert.notInclude(yield* ask(""), '"error"')
        assert.lengthOf(logged, before)
        assert.include(yield* ask("fault=break,after=2,output_tokens=200"), '"upstream_error"')
        assert.deepStrictEqual(
          logged.slice(before).map((line) => line.split(" ").slice(0, 2).join(" ").split(",")[0]),
          ["Warn UpstreamError"]
        )
      }).pipe(Effect.provide(context))
    }).pipe(Effect.scoped)
  )
})

const schema = { type: "object", properties: { name: { type: "string" }, text: { type: "string" } } }
const json_schema = { name: "a", schema: { ...schema, description: "d".repeat(2_000) } }

describe("POST /estimate", () => {
  const laws: Readonly<Record<string, object>> = {
    "a form of answer": { ...chat, response_format: { type: "json_schema", json_schema } },
    "required parameters": { ...chat, top_k: 5, model: MODELS, routing: { require_parameters: true } },
    "a budget": { ...chat, model: MODELS, max_completion_tokens: 200, budget_cents: 0.05 },
    "a data policy in others' words": { ...chat, max_tokens: 9, provider: { data_collection: "deny" } },
    tools: { ...chat, tools: [{ type: "function", function: { name: "look", parameters: schema } }], max_tokens: 9 }
  }
  for (const [name, body] of Object.entries(laws)) {
    it.live(`returns the amount needed to admit a request, with ${name}`, () =>
      Effect.gen(function* () {
        const service = yield* startService()
        const { account, inferenceKey } = yield* service.account(0)
        const estimate = Effect.flatMap(post(`${service.api}/estimate`, inferenceKey, body), json)
        const { hold_usd } = yield* estimate
        const hold = BigInt(Math.round(hold_usd * Number(NANO_PER_USD)))
        yield* service.customers.topUp(account, hold - 1n)
        assert.isFalse((yield* estimate).affordable)
        assert.strictEqual((yield* post(`${service.api}/chat/completions`, inferenceKey, body)).status, 402)
        yield* service.customers.topUp(account, 1n)
        assert.isTrue((yield* estimate).affordable)
        assert.strictEqual((yield* post(`${service.api}/chat/completions`, inferenceKey, body)).status, 200)
      }).pipe(Effect.scoped)
    )
  }

  const video = { model: "veo-3", duration: 4 }
  const works: Readonly<Record<string, readonly [asked: object, path: string, body: object]>> = {
    embeddings: [{ model: "voyage-4", input: ["a", "b c"] }, "/embeddings", { model: "voyage-4", input: ["a", "b c"] }],
    rerank: [
      { model: "rerank-2.5", prompt: "cats", documents: ["dogs", "cats"] },
      "/rerank",
      { model: "rerank-2.5", query: "cats", documents: ["dogs", "cats"] }
    ],
    speech: [{ model: "tts-1", characters: 5 }, "/audio/speech", { model: "tts-1", input: "Hello", voice: "nova" }],
    images: [
      { model: "flux-dev", prompt: "a kite", n: 2 },
      "/images/generations",
      { model: "flux-dev", prompt: "a kite", n: 2, size: "64x64" }
    ],
    search: [{ model: "tavily-search", input: ["tea", "milk"] }, "/search", { query: ["tea", "milk"] }],
    "a video": [video, "/videos", { ...video, prompt: "a kite", aspect_ratio: "16:9" }]
  }
  for (const [name, [asked, path, body]] of Object.entries(works)) {
    it.live(`returns the amount needed for ${name}`, () =>
      Effect.gen(function* () {
        const service = yield* startService()
        const { account, inferenceKey } = yield* service.account(0)
        const estimate = Effect.flatMap(post(`${service.api}/estimate`, inferenceKey, asked), json)
        const { estimated_cost_usd, hold_usd, max_cost_usd, unit } = yield* estimate
        assert.isAtLeast(max_cost_usd, estimated_cost_usd)
        assert.isAbove(estimated_cost_usd, 0)
        const hold = BigInt(Math.round(hold_usd * Number(NANO_PER_USD)))
        if (hold > 1n) yield* service.customers.topUp(account, hold - 1n)
        assert.isFalse((yield* estimate).affordable)
        assert.strictEqual((yield* post(`${service.api}${path}`, inferenceKey, body)).status, 402)
        yield* service.customers.topUp(account, 1n)
        assert.isTrue((yield* estimate).affordable)
        assert.strictEqual((yield* post(`${service.api}${path}`, inferenceKey, body)).status, 200)
        if (unit !== "token") assert.strictEqual(hold_usd, estimated_cost_usd)
      }).pipe(Effect.scoped)
    )
  }

  it.live("accepts only the fields that determine the price", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(0)
      const rows = [
        [{ model: "voyage-4" }, "input"],
        [{ model: "rerank-2.5", documents: ["a"] }, "input"],
        [{ model: "rerank-2.5", input: "a" }, "documents"],
        [{ model: "tts-1", characters: 4_097 }, "characters"],
        [{ model: "tts-1", input: "a".repeat(4_097) }, "input"],
        [{ model: "flux-dev", n: 11 }, "n"],
        [{ model: "flux-dev", duration: 4 }, "duration"],
        [{ model: "veo-3" }, "duration"],
        [{ model: "tavily-search", colour: 1 }, "colour"]
      ] as const
      for (const [body, param] of rows) {
        const refused = yield* post(`${service.api}/estimate`, inferenceKey, body)
        const { error } = yield* json(refused)
        assert.deepInclude(error, { code: "validation_error", param })
      }
      const counted = yield* Effect.flatMap(
        post(`${service.api}/estimate`, inferenceKey, { model: "voyage-4", input_tokens: 1_000 }),
        json
      )
      assert.deepInclude(counted.breakdown[0], { provider: "voyage", input_tokens: 1_000, max_output_tokens: 0 })
    }).pipe(Effect.scoped)
  )

  it.live("estimates the same for a number of tokens as for a text of that size", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(1)
      yield* service.preset(account.id, "p", { model: "gpt-4o-mini", instructions: "Be brief." })
      const estimate = (body: object) => Effect.flatMap(post(`${service.api}/estimate`, inferenceKey, body), json)
      const model = "gpt-4o-mini"
      const words = "word ".repeat(10_000)
      const { input_tokens } = yield* Effect.flatMap(
        post(`${service.api}/responses/input_tokens`, inferenceKey, { model, input: words }),
        json
      )
      const ofText = yield* estimate({ model, prompt: words, max_tokens: 100 })
      const ofCount = yield* estimate({ model, input_tokens: ofText.breakdown[0].input_tokens, max_tokens: 100 })
      // The count is rounded, which is a token more or less.
      assert.approximately(ofCount.hold_usd, ofText.hold_usd, 2 * ofText.breakdown[0].price_per_input_token)
      assert.strictEqual(ofCount.breakdown[0].input_tokens, ofText.breakdown[0].input_tokens)
      const counted = yield* estimate({ model, input_tokens, max_tokens: 100 })
      assert.strictEqual(counted.breakdown[0].input_tokens, input_tokens)
      const { price_per_input_token: input, price_per_output_token: output } = counted.breakdown[0]
      assert.approximately(counted.estimated_cost_usd, input * input_tokens + output * 100, 2e-9)
      const preset = yield* estimate({ model: "@p", input_tokens, max_tokens: 100 })
      assert.isAbove(preset.breakdown[0].input_tokens, input_tokens)
    }).pipe(Effect.scoped)
  )

  it.live("considers the request's format, parameters and budget", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(1)
      const estimate = (body: object) => Effect.flatMap(post(`${service.api}/estimate`, inferenceKey, body), json)
      const bare = yield* estimate({ ...chat, max_tokens: 200 })
      const formed = yield* estimate({ ...laws["a form of answer"], max_tokens: 200 })
      assert.isAbove(formed.hold_usd, bare.hold_usd)
      const both = yield* estimate({ ...chat, model: MODELS, max_tokens: 200 })
      const { budget_cents: _, ...unbounded } = laws["a budget"] as { readonly budget_cents: number }
      assert.deepStrictEqual(yield* estimate(unbounded), both)
      const bounded = yield* estimate(laws["a budget"] ?? {})
      assert.deepStrictEqual(bounded.resolved_models, ["gpt-4o-mini"])
      assert.isBelow(bounded.hold_usd, both.hold_usd)
      const able = yield* estimate(laws["required parameters"] ?? {})
      assert.notDeepEqual(
        able.breakdown.map((line: { readonly provider: string }) => line.provider),
        both.breakdown.map((line: { readonly provider: string }) => line.provider)
      )
    }).pipe(Effect.scoped)
  )
})
