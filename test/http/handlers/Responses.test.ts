import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { get, json, post, startService } from "../../support/Service.ts"
import { eventsOf } from "../../support/Streams.ts"

const hello = { model: "gpt-4o-mini", input: "hello" }

const asking = Effect.gen(function* () {
  const service = yield* startService()
  const { account, inferenceKey: key } = yield* service.account(10)
  const ask = (body: unknown, headers?: Record<string, string>) => post(`${service.api}/responses`, key, body, headers)
  const count = (body: unknown) => post(`${service.api}/responses/input_tokens`, key, body)
  return { account, ask, count, key, service }
})

const steered = (steering: string) => ({ "x-svc-sandbox": steering })

describe("POST /responses", () => {
  it.live("records its operation, cost and trace on the receipt", () =>
    Effect.gen(function* () {
      const { ask, key, service } = yield* asking
      const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
      const answer = yield* Effect.flatMap(ask(hello, { traceparent: `00-${trace}-00f067aa0ba902b7-01` }), json)
      const receipt = yield* Effect.flatMap(get(`${service.api}/requests/${answer.request_id}`, key), json)
      assert.deepStrictEqual(
        [receipt.operation, receipt.trace_id, receipt.cost_usd],
        ["responses", trace, answer.cost_usd]
      )
    }).pipe(Effect.scoped)
  )

  it.live("costs what the same chat completion costs, whole and streamed", () =>
    Effect.gen(function* () {
      const { ask, key, service } = yield* asking
      const steering = steered("output_tokens=40,cached_tokens=1,reasoning_tokens=7")
      const chat = { model: hello.model, messages: [{ role: "user", content: hello.input }] }
      const completion = yield* Effect.flatMap(post(`${service.api}/chat/completions`, key, chat, steering), json)
      const whole = yield* Effect.flatMap(ask(hello, steering), json)
      const events = yield* Effect.flatMap(ask({ ...hello, stream: true }, steering), eventsOf)
      const streamed = events.at(-1)?.data.response
      for (const { cost_usd, usage } of [whole, streamed]) {
        assert.strictEqual(cost_usd, completion.cost_usd)
        assert.deepStrictEqual(
          [usage.input_tokens, usage.output_tokens, usage.total_tokens],
          [completion.usage.prompt_tokens, completion.usage.completion_tokens, completion.usage.total_tokens]
        )
        assert.deepStrictEqual(usage.input_tokens_details, completion.usage.prompt_tokens_details)
        assert.deepStrictEqual(usage.output_tokens_details, completion.usage.completion_tokens_details)
      }
      assert.strictEqual(whole.output_text, completion.choices[0].message.content)
      assert.strictEqual(streamed.output_text, whole.output_text)
    }).pipe(Effect.scoped)
  )

  it.live("reports in headers what its closed object cannot contain, also to browsers", () =>
    Effect.gen(function* () {
      const { service } = yield* asking
      const { inferenceKey } = yield* service.account(4)
      const ask = (body: object) => post(`${service.api}/responses`, inferenceKey, body)
      const { headers } = yield* ask({ ...hello, truncation: "auto", unheard_of: 1 })
      assert.match(headers.get("x-balance-warning") ?? "", /^Your balance is \$3\.\d+, below \$5\.00$/)
      assert.strictEqual(headers.get("x-svc-ignored-parameters"), "unheard_of, truncation")
      assert.include(headers.get("access-control-expose-headers") ?? "", "X-Balance-Warning")
      const events = yield* Effect.flatMap(ask({ ...hello, stream: true }), eventsOf)
      const { data, event } = events.at(-1)!
      assert.deepStrictEqual([event, data.balance_warning.warning], ["response.completed", "low_balance"])
    }).pipe(Effect.scoped)
  )

  it.live("replays the same answer under an idempotency key, and charges once", () =>
    Effect.gen(function* () {
      const { account, ask, service } = yield* asking
      const steering = "reasoning_tokens=7,output_tokens=40"
      const once = () => ask(hello, { "idempotency-key": "whole", ...steered(steering) })
      const first = yield* Effect.flatMap(once(), json)
      const charged = yield* service.balance(account.id)
      const again = yield* once()
      assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
      assert.deepStrictEqual(yield* json(again), first)
      assert.deepStrictEqual(yield* service.balance(account.id), charged)
    }).pipe(Effect.scoped)
  )

  it.live("streams a replay that ends in the same complete answer", () =>
    Effect.gen(function* () {
      const { account, ask, service } = yield* asking
      const steering = "reasoning_tokens=7,output_tokens=40"
      const once = () => ask({ ...hello, stream: true }, { "idempotency-key": "streamed", ...steered(steering) })
      const first = yield* Effect.flatMap(once(), eventsOf)
      const charged = yield* service.balance(account.id)
      const again = yield* once()
      assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
      const repeated = yield* eventsOf(again)
      assert.deepStrictEqual(repeated.at(-1)?.data.response, first.at(-1)?.data.response)
      assert.deepStrictEqual(repeated[0]?.data, first[0]?.data)
      assert.deepStrictEqual(yield* service.balance(account.id), charged)
    }).pipe(Effect.scoped)
  )

  it.live("takes absent fields from its preset", () =>
    Effect.gen(function* () {
      const { account, ask, count, service } = yield* asking
      yield* service.preset(account.id, "brief", { model: "gpt-4o-mini", max_tokens: 5, instructions: "Be brief." })
      const response = yield* ask({ ...hello, model: "@brief" }, steered("output_tokens=90"))
      assert.deepStrictEqual(
        [response.headers.get("x-svc-preset"), response.headers.get("x-svc-preset-version")],
        ["brief", "1"]
      )
      const answer = yield* json(response)
      assert.deepStrictEqual(
        [answer.model, answer.routing.resolved_model, answer.status, answer.instructions, answer.max_output_tokens],
        ["@brief", "gpt-4o-mini", "incomplete", null, null]
      )
      const alone = yield* Effect.flatMap(count(hello), json)
      const filled = yield* Effect.flatMap(count({ ...hello, model: "@brief" }), json)
      assert.isAbove(filled.input_tokens, alone.input_tokens)
    }).pipe(Effect.scoped)
  )

  it.live("fails with a status before its first event, and with an event after it", () =>
    Effect.gen(function* () {
      const { ask } = yield* asking
      const stream = { ...hello, stream: true, routing: { allow_fallbacks: false } }
      const failed = yield* ask(stream, steered("fault=error"))
      assert.strictEqual(failed.status, 502)
      assert.strictEqual((yield* json(failed)).error.code, "upstream_error")
      const broken = yield* ask(stream, steered("fault=break,after=2,output_tokens=200"))
      assert.strictEqual(broken.status, 200)
      const { data } = (yield* eventsOf(broken)).at(-1)!
      assert.deepStrictEqual([data.type, data.code, data.param], ["error", "upstream_error", null])
    }).pipe(Effect.scoped)
  )

  it.live("rejects what the model does not support", () =>
    Effect.gen(function* () {
      const { ask } = yield* asking
      const image = { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=" }
      const refused = yield* ask({ model: "deepseek-r1", input: [{ role: "user", content: [image] }] })
      assert.deepStrictEqual([refused.status, (yield* json(refused)).error.code], [400, "model_not_vision_capable"])
      for (const stream of [false, true]) {
        const long = yield* ask({ model: "gpt-4o-mini", input: "word ".repeat(200_000), stream })
        const { error } = yield* json(long)
        assert.deepStrictEqual([long.status, error.code, error.param], [400, "context_length_exceeded", "input"])
      }
    }).pipe(Effect.scoped)
  )
})

describe("POST /responses/input_tokens", () => {
  it.live("counts the prompt for free, and lists ignored fields", () =>
    Effect.gen(function* () {
      const { account, count, service } = yield* asking
      const before = yield* service.balance(account.id)
      const response = yield* count({ ...hello, personality: "friendly" })
      assert.strictEqual(response.headers.get("x-svc-ignored-parameters"), "personality")
      const { input_tokens, object } = yield* json(response)
      assert.deepStrictEqual([object, input_tokens], ["response.input_tokens", 8])
      const longer = { ...hello, instructions: "Be brief.", tools: [{ type: "function", name: "look" }] }
      assert.isAbove((yield* Effect.flatMap(count(longer), json)).input_tokens, input_tokens)
      assert.deepStrictEqual(yield* service.balance(account.id), before)
    }).pipe(Effect.scoped)
  )

  it.live("needs neither a model nor an input, and rejects unknown models", () =>
    Effect.gen(function* () {
      const { count } = yield* asking
      assert.strictEqual((yield* Effect.flatMap(count({ input: "hello" }), json)).input_tokens, 8)
      assert.strictEqual((yield* count({ instructions: "Be brief." })).status, 200)
      assert.strictEqual((yield* count({ ...hello, model: "svc/auto" })).status, 200)
      for (const [model, code] of [
        ["no-such-model", "unknown_model"],
        ["gpt-4o,no-such-model", "unknown_model"],
        ["gpt-4o,,gpt-4o", "invalid_fallback_chain"]
      ]) {
        const refused = yield* count({ ...hello, model })
        assert.deepStrictEqual([refused.status, (yield* json(refused)).error.code], [400, code])
      }
    }).pipe(Effect.scoped)
  )
})
