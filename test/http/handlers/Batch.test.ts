import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { until } from "../../support/Until.ts"
import { get, json, post, startService } from "../../support/Service.ts"

const body = { model: "gpt-4o-mini", messages: [{ role: "user", content: "hello" }] }

const asking = Effect.gen(function* () {
  const service = yield* startService()
  const { account, inferenceKey } = yield* service.account(10)
  return {
    service,
    account,
    inferenceKey,
    send: (requests: unknown, headers: Record<string, string> = {}) =>
      post(`${service.api}/batch`, inferenceKey, { requests }, headers)
  }
})

describe("POST /batch", () => {
  it.live("lists ignored fields of its bodies in a header", () =>
    Effect.gen(function* () {
      const { send } = yield* asking
      const response = yield* send([{ body: { ...body, colour: 1 } }, { body: { ...body, colour: 2, shape: 3 } }])
      assert.strictEqual(response.headers.get("x-svc-ignored-parameters"), "colour, shape")
      assert.match(response.headers.get("content-type") ?? "", /^application\/json/)
    }).pipe(Effect.scoped)
  )

  it.live("returns 409 while a batch with the same idempotency key runs, and 400 for invalid headers", () =>
    Effect.gen(function* () {
      const { inferenceKey, send, service } = yield* asking
      const key = { "idempotency-key": "one" }
      const first = yield* Effect.forkChild(send([{ body }], { ...key, "x-svc-sandbox": "latency_ms=3000" }))
      yield* until(
        "it runs",
        Effect.map(
          Effect.flatMap(get(`${service.api}/requests?status=open`, inferenceKey), json),
          ({ data }) => data.length > 1
        )
      )
      const second = yield* send([{ body }], key)
      assert.deepStrictEqual(
        [second.status, (yield* json(second)).error.code],
        [409, "idempotency_request_in_progress"]
      )
      assert.strictEqual((yield* Fiber.join(first)).status, 200)
      for (const headers of [{ "idempotency-key": " " }, { "x-svc-sandbox": "fault=none" }]) {
        assert.strictEqual((yield* send([{ body }], headers)).status, 400)
      }
      assert.strictEqual((yield* post(`${service.api}/batch`, "x", { requests: [{ body }] })).status, 401)
    }).pipe(Effect.scoped)
  )

  it.live("reports requests that were served but not stored, instead of serving them again", () =>
    Effect.gen(function* () {
      const { account, send, service } = yield* asking
      const key = { "idempotency-key": "secret" }
      const requests = [
        { custom_id: "a", body: { ...body, model: "claude-sonnet-4-5", routing: { data_policy: "zero_retention" } } }
      ]
      const first = yield* send(requests, key)
      assert.isNotNull((yield* json(first)).data[0].response)
      const { posted } = yield* service.balance(account.id)
      const again = yield* Effect.flatMap(send(requests, key), json)
      assert.deepInclude(again.data[0], { custom_id: "a", response: null })
      assert.strictEqual(again.data[0].error.code, "idempotency_result_unavailable")
      assert.strictEqual((yield* service.balance(account.id)).posted, posted)
    }).pipe(Effect.scoped)
  )

  it.live("is rejected before it starts when its embeddings may be too large for one response", () =>
    Effect.gen(function* () {
      const { account, send, service } = yield* asking
      const input = Array.from({ length: 2_048 }, () => "tea")
      const one = { url: "/embeddings", body: { model: "text-embedding-3-large", input } }
      const refused = yield* send([{ body }, one, one])
      const { error } = yield* json(refused)
      assert.deepStrictEqual([refused.status, error.param], [400, "requests[2].body.input"])
      assert.strictEqual((yield* service.balance(account.id)).posted, 10_000_000_000n)
      const few = { ...one, body: { ...one.body, dimensions: 2 } }
      const served = yield* send([few, few])
      assert.lengthOf((yield* json(served)).data[1].response.body.data, 2_048)
    }).pipe(Effect.scoped)
  )

  it.live("accepts presets, and returns 404 for an unknown one", () =>
    Effect.gen(function* () {
      const { account, send, service } = yield* asking
      yield* service.preset(account.id, "hello", { model: "gpt-4o-mini" })
      const { messages } = body
      const response = yield* send([{ body: { model: "@hello", messages } }])
      assert.isNull(response.headers.get("x-svc-preset"))
      assert.strictEqual((yield* json(response)).data[0].response.body.resolved_model, "gpt-4o-mini")
      const none = yield* send([{ body }, { body: { model: "@none", messages } }])
      const { error } = yield* json(none)
      assert.deepStrictEqual([none.status, error.code, error.param], [404, "not_found", "requests[1].body.model"])
      const kept = [{ body: { model: "@hello", messages } }, { body }]
      const key = { "idempotency-key": "one" }
      const { data } = yield* json(yield* send(kept, key))
      yield* service.presets.remove({ accountId: account.id, slug: "hello", actor: { type: "operator", id: "t" } })
      assert.deepStrictEqual((yield* json(yield* send(kept, key))).data, data)
      const gone = yield* json(yield* send(kept, { "idempotency-key": "two" }))
      assert.deepStrictEqual([gone.error.code, gone.error.param], ["not_found", "requests[0].body.model"])
    }).pipe(Effect.scoped)
  )
})
