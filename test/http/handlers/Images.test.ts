import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { AnswerMemory } from "../../../src/providers/pool/AnswerMemory.ts"
import { upstream } from "../../providers/upstream.ts"
import { nano } from "../../support/Amounts.ts"
import { json, post, startService, unread } from "../../support/Service.ts"

const kite = { model: "flux-schnell", prompt: "a kite", size: "64x64" }

describe.each(["/images/generations", "/images"])("POST %s", (path) => {
  it.live("accepts inference keys, POST and JSON only", () =>
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

  it.live("keeps its idempotency keys separate from the other path's", () =>
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
      assert.strictEqual(1_000_000_000n - posted, 2n * nano(first.cost_usd))
    }).pipe(Effect.scoped)
  )
})

it.live("images keep their memory reserved until the client has read them or they are stored", () =>
  Effect.gen(function* () {
    const memory = yield* AnswerMemory
    const png = Buffer.concat([Buffer.from("89504e470d0a1a0a0000000d", "hex"), Buffer.alloc(6 * 1_048_576)])
    const { origin } = yield* upstream((request, response) => {
      const data = Array.from({ length: 4 }, () => ({ b64_json: png.toString("base64") }))
      request.resume().on("end", () => response.end(JSON.stringify({ data })))
    })
    const service = yield* startService({ OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: `${origin}/v1` })
    const { inferenceKey } = yield* service.account(10)
    const path = "/images/generations"
    const four = { model: "gpt-image-1-mini", prompt: "a kite", n: 4 }
    const inline = { ...four, response_format: "b64_json" }
    const hosted = { ...four, response_format: "url" }
    const socket = yield* unread(service, inferenceKey, path, inline)
    const receipts = service.sql<{ readonly closed: object | null }>`SELECT closed FROM request`
    yield* Effect.repeat(receipts, { until: ([one]) => one?.closed != null })
    assert.strictEqual(memory.free, 512 - 25)
    socket.destroy()
    const isFree = Effect.repeat(Effect.as(Effect.sleep(1), memory), { until: ({ free }) => free === 512 })
    yield* isFree
    assert.lengthOf((yield* Effect.flatMap(post(`${service.api}${path}`, inferenceKey, inline), json)).data, 4)
    yield* isFree
    assert.lengthOf((yield* Effect.flatMap(post(`${service.api}${path}`, inferenceKey, hosted), json)).data, 4)
    assert.strictEqual(memory.free, 512)
  }).pipe(Effect.scoped)
)
