import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { takeAway } from "../../support/Outage.ts"
import { get, json, post, startService } from "../../support/Service.ts"

const chat = { model: "gpt-4o-mini", messages: [{ role: "user", content: "hello" }] }

const asking = Effect.gen(function* () {
  const service = yield* startService()
  const { inferenceKey } = yield* service.account(1)
  const ask = (body: unknown, headers?: Record<string, string>) =>
    post(`${service.api}/chat`, inferenceKey, body, headers)
  return { service, key: inferenceKey, ask }
})

describe("POST /chat", () => {
  it.live("records its operation and the caller's trace on the receipt", () =>
    Effect.gen(function* () {
      const { ask, key, service } = yield* asking
      const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
      const answer = yield* Effect.flatMap(ask(chat, { traceparent: `00-${trace}-00f067aa0ba902b7-01` }), json)
      const receipt = yield* Effect.flatMap(get(`${service.api}/requests/${answer.request_id}`, key), json)
      assert.deepStrictEqual([receipt.operation, receipt.trace_id, receipt.cached], ["chat", trace, false])
    }).pipe(Effect.scoped)
  )

  it.live("exposes the cache status and ignored fields to browsers", () =>
    Effect.gen(function* () {
      const { ask } = yield* asking
      const { headers } = yield* ask({ ...chat, routing: { max_price: { image: 1 } } })
      assert.strictEqual(headers.get("x-svc-cache-status"), "MISS")
      assert.strictEqual(headers.get("x-svc-ignored-parameters"), "routing.max_price.image")
      assert.include(headers.get("access-control-expose-headers") ?? "", "X-Svc-Cache-Status")
    }).pipe(Effect.scoped)
  )

  it.live("serves no cache hit when the API key cannot be checked", () =>
    Effect.gen(function* () {
      const { ask, service } = yield* asking
      assert.strictEqual((yield* ask(chat)).status, 200)
      yield* takeAway(service.databaseUrl)
      const refused = yield* ask(chat)
      const { code, error } = yield* json(refused)
      assert.deepStrictEqual([refused.status, code, error.code], [503, "store_unavailable", "store_unavailable"])
    }).pipe(Effect.scoped)
  )
})
