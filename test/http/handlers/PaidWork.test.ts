import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { get, json, post, startService } from "../../support/Service.ts"

const body = { model: "text-embedding-3-small", input: "a cat" }

it.live("builds a paid request from a body and its headers", () =>
  Effect.gen(function* () {
    const service = yield* startService()
    const { account, inferenceKey, managementKey } = yield* service.account(10)
    const ask = (asked: unknown, headers: Record<string, string> = {}, key = inferenceKey) =>
      post(`${service.api}/embeddings`, key, asked, headers)
    const failed = [
      [yield* ask("{"), 400, "invalid_json", null],
      [yield* ask({ ...body, more: 1 }), 400, "validation_error", "more"],
      [yield* ask(body, { "idempotency-key": " " }), 400, "validation_error", "Idempotency-Key"],
      [yield* ask(body, { "x-svc-sandbox": "fault=none" }), 400, "validation_error", "X-Svc-Sandbox"],
      [yield* ask(body, {}, managementKey), 403, "wrong_key_kind", null]
    ] as const
    for (const [response, status, code, param] of failed) {
      assert.strictEqual(response.status, status)
      assert.deepInclude((yield* json(response)).error, { code, param })
    }
    assert.strictEqual((yield* service.balance(account.id)).posted, 10_000_000_000n)

    const key = { "idempotency-key": "once" }
    const first = yield* ask(body, key)
    const text = yield* Effect.promise(() => first.text())
    const charged = yield* service.balance(account.id)
    const again = yield* ask(body, key)
    assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
    assert.strictEqual(yield* Effect.promise(() => again.text()), text)
    assert.deepStrictEqual(yield* service.balance(account.id), charged)
    const other = yield* ask({ ...body, input: "a dog" }, key)
    assert.deepStrictEqual([other.status, (yield* json(other)).error.code], [422, "idempotency_key_reused"])

    const receipt = yield* Effect.flatMap(
      get(`${service.api}/requests/${JSON.parse(text).request_id}`, inferenceKey),
      json
    )
    assert.deepInclude(receipt, {
      operation: "embeddings",
      model: body.model,
      idempotency_key: "once",
      streamed: false
    })
  }).pipe(Effect.scoped)
)
