import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { AnswerMemory } from "../../../src/providers/pool/AnswerMemory.ts"
import { upstream } from "../../providers/upstream.ts"
import { json, post, startService, unread } from "../../support/Service.ts"

const hello = { model: "tts-1-hd", input: "Hello", voice: "nova", response_format: "pcm" }

describe("POST /audio/speech", () => {
  it.live("reports in headers what audio cannot contain, also to browsers", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const speak = (key: string) => post(`${service.api}/audio/speech`, key, hello)
      const { inferenceKey } = yield* service.account(1)
      const { headers } = yield* speak(inferenceKey)
      assert.strictEqual(headers.get("content-type"), "audio/pcm")
      assert.strictEqual(headers.get("x-cost-usd"), "0.00015")
      assert.strictEqual(headers.get("x-balance-warning"), "Your balance is $0.99985, below $5.00")
      assert.match(headers.get("x-request-id") ?? "", /^req_/)
      const exposed = (headers.get("access-control-expose-headers") ?? "").split(", ")
      assert.includeMembers(exposed, ["X-Cost-USD", "X-Balance-Warning", "X-Request-ID"])
      const { inferenceKey: rich } = yield* service.account(100)
      assert.isNull((yield* speak(rich)).headers.get("x-balance-warning"))
    }).pipe(Effect.scoped)
  )

  it.live("accepts inference keys, POST and JSON only", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey, managementKey } = yield* service.account(1)
      const url = `${service.api}/audio/speech`
      const codeOf = (response: Response) => Effect.map(json(response), ({ error }) => [response.status, error.code])
      assert.deepStrictEqual(yield* codeOf(yield* post(url, "svc_sk_no", hello)), [401, "invalid_api_key"])
      assert.deepStrictEqual(yield* codeOf(yield* post(url, managementKey, hello)), [403, "wrong_key_kind"])
      const typed = yield* post(url, inferenceKey, hello, { "content-type": "text/plain" })
      assert.deepStrictEqual(yield* codeOf(typed), [415, "unsupported_media_type"])
      const read = yield* Effect.promise(() => fetch(url))
      assert.deepStrictEqual(yield* codeOf(read), [405, "method_not_allowed"])
    }).pipe(Effect.scoped)
  )

  it.live("answers an error, not silence, when the audio is empty", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(1)
      const silent = yield* post(`${service.api}/audio/speech`, inferenceKey, hello, { "x-svc-sandbox": "fault=empty" })
      const { error } = yield* json(silent)
      assert.deepStrictEqual([silent.status, error.code], [502, "upstream_error"])
      assert.deepStrictEqual(yield* service.balance(account.id), { posted: 1_000_000_000n, held: 0n })
    }).pipe(Effect.scoped)
  )

  it.live("reserves memory for long audio before the provider call, until the client has read it or disconnects", () =>
    Effect.gen(function* () {
      const memory = yield* AnswerMemory
      const free: Array<number> = []
      const { origin } = yield* upstream((request, response) => {
        request.resume().on("end", () => {
          free.push(memory.free)
          response.end(Buffer.alloc(16 * 1_048_576, "RIFF"))
        })
      })
      const service = yield* startService({ OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: `${origin}/v1` })
      const { account, inferenceKey } = yield* service.account(10)
      const long = { ...hello, input: "a".repeat(4_096), response_format: "wav", speed: 0.25 }
      const socket = yield* unread(service, inferenceKey, "/audio/speech", long)
      const settled = ({ posted }: { readonly posted: bigint }) => posted < 10_000_000_000n
      yield* Effect.repeat(service.balance(account.id), { until: settled })
      assert.deepStrictEqual([...free, memory.free], [512 - 16, 512 - 16])
      socket.destroy()
      const isFree = Effect.repeat(Effect.as(Effect.sleep(1), memory), { until: ({ free }) => free === 512 })
      yield* isFree
      const read = yield* post(`${service.api}/audio/speech`, inferenceKey, long)
      assert.strictEqual((yield* Effect.promise(() => read.arrayBuffer())).byteLength, 16 * 1_048_576)
      yield* isFree
      yield* post(`${service.api}/audio/speech`, inferenceKey, hello)
      assert.deepStrictEqual(free.slice(1), [512 - 16, 512])
    }).pipe(Effect.scoped)
  )
})
