import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { json, post, startService } from "../support/Service.ts"

const kite = { model: "flux-schnell", prompt: "a kite", size: "64x64" }

describe.each(["/images/generations", "/images"])("POST %s", (path) => {
  it.live("is for keys of accounts, by POST, as JSON", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey, managementKey } = yield* service.account(1)
      const url = `${service.api}${path}`
      const codeOf = (response: Response) =>
        Effect.map(json(response), ({ code, error }) => [response.status, path === "/images" ? code : error.code])
      assert.deepStrictEqual(yield* codeOf(yield* post(url, "svc_sk_no", kite)), [401, "invalid_api_key"])
      assert.deepStrictEqual(yield* codeOf(yield* post(url, managementKey, kite)), [403, "wrong_key_kind"])
      const typed = yield* post(url, inferenceKey, kite, { "content-type": "text/plain" })
      assert.deepStrictEqual(yield* codeOf(typed), [415, "unsupported_media_type"])
      const read = yield* Effect.promise(() => fetch(url))
      assert.strictEqual(read.status, 405)
      const unknown = yield* post(url, inferenceKey, { ...kite, seed: 1 })
      assert.deepStrictEqual(yield* codeOf(unknown), [400, "validation_error"])
    }).pipe(Effect.scoped)
  )

  it.live("keeps keys of idempotency apart from those of the other", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(1)
      const ask = (at: string) =>
        Effect.flatMap(post(`${service.api}${at}`, inferenceKey, kite, { "idempotency-key": "a" }), json)
      const first = yield* ask(path)
      const other = yield* ask(path === "/images" ? "/images/generations" : "/images")
      assert.notStrictEqual(first.request_id, other.request_id)
      assert.deepStrictEqual(yield* ask(path), first)
      const { posted } = yield* service.balance(account.id)
      assert.strictEqual(1_000_000_000n - posted, 2n * BigInt(Math.round(first.cost_usd * 1e9)))
    }).pipe(Effect.scoped)
  )
})
