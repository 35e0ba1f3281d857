import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { get, json, post, startService } from "../support/Service.ts"

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

const IGNORED = "x-svc-ignored-parameters"

describe("POST /chat/completions", () => {
  it.live("lists the members it ignores, whatever they are called", () =>
    Effect.gen(function* () {
      const { ask } = yield* asking
      assert.isNull((yield* ask(chat)).headers.get(IGNORED))
      for (const stream of [false, true]) {
        const odd = `{"colour":1,"a, b":2,"\\ud800":3,"é\\r\\n":4,${JSON.stringify({ ...chat, stream }).slice(1)}`
        const response = yield* ask(odd)
        assert.strictEqual(response.status, 200)
        assert.strictEqual(response.headers.get(IGNORED), "colour, a%2C%20b, %EF%BF%BD, %C3%A9%0D%0A")
      }
      const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`${"m".repeat(200)}${at}`, at]))
      const { headers, status } = yield* ask({ ...chat, ...many })
      assert.strictEqual(status, 200)
      assert.isAtMost(headers.get(IGNORED)?.length ?? 0, 2_048)
    }).pipe(Effect.scoped)
  )

  it.live("streams so that nobody in between keeps or changes it", () =>
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

  it.live("puts the caller's trace on the receipt", () =>
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

  it.live("answers a model by its chain, and says what served", () =>
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
})
