/** Speech through OpenAI's client, the sandbox and a fake host on a real socket. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import OpenAI from "openai"
import { upstream } from "../providers/upstream.ts"
import { decoded, decoderMissing } from "../support/Media.ts"
import { receiptOf } from "../support/ReadReceipts.ts"
import { json, post, type Service, startService } from "../support/Service.ts"

const hello = { model: "tts-1", input: "Hello there. How are you?", voice: "nova" } as const
/** $15 per million characters. */
const NANO_PER_CHARACTER = 15_000n

const speak = (service: Service, key: string, body: object = hello, headers: Record<string, string> = {}) =>
  post(`${service.api}/audio/speech`, key, body, headers)

const bytesOf = (response: Response) =>
  Effect.map(
    Effect.promise(() => response.arrayBuffer()),
    (buffer) => new Uint8Array(buffer)
  )

const spent = (service: Service, accountId: string, usd: number) =>
  Effect.map(service.balance(accountId), ({ held, posted }) => {
    assert.strictEqual(held, 0n)
    return BigInt(usd) * 1_000_000_000n - posted
  })

const errorOf = (response: Response) => Effect.map(json(response), (body) => [response.status, body.error.code])

const types = {
  mp3: "audio/mpeg",
  opus: "audio/opus",
  aac: "audio/aac",
  flac: "audio/flac",
  wav: "audio/wav",
  pcm: "audio/pcm"
} as const

describe("speech in the sandbox", () => {
  it.live("reaches the OpenAI client in every format, and is charged per character", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(10)
      const client = new OpenAI({ apiKey: inferenceKey, baseURL: service.api, maxRetries: 0 })
      let charged = 0n
      const seconds: Array<number> = []
      for (const format of Object.keys(types) as ReadonlyArray<keyof typeof types>) {
        const answer = yield* Effect.promise(() => client.audio.speech.create({ ...hello, response_format: format }))
        const { headers } = answer
        assert.strictEqual(headers.get("content-type"), types[format])
        assert.strictEqual(headers.get("x-cost-usd"), "0.000375")
        assert.match(headers.get("access-control-expose-headers") ?? "", /X-Balance-Warning, X-Cost-USD/)
        charged += BigInt(hello.input.length) * NANO_PER_CHARACTER
        assert.strictEqual(yield* spent(service, account.id, 10), charged)
        const audio = yield* bytesOf(answer)
        const receipt = yield* receiptOf(service, inferenceKey, headers.get("x-request-id"))
        assert.deepInclude(receipt, {
          operation: "audio.speech",
          status: "succeeded",
          model: "tts-1",
          cost_usd: 0.000375,
          usage: { units: 25, unit: "character" }
        })
        if (decoderMissing === undefined) seconds.push((yield* decoded(audio, format)).seconds)
      }
      for (const length of seconds) assert.closeTo(length, seconds.at(-1)!, 0.15)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("is charged per code point", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(1)
      yield* Effect.flatMap(speak(service, inferenceKey, { ...hello, input: "Grüße 😀" }), bytesOf)
      assert.strictEqual(yield* spent(service, account.id, 1), 7n * NANO_PER_CHARACTER)
    }).pipe(Effect.scoped)
  )

  it.live("is not charged when it fails or is refused", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(1)
      const steered = (fault: string) => speak(service, inferenceKey, hello, { "x-svc-sandbox": `fault=${fault}` })
      for (const fault of ["error", "empty", "malformed", "break"]) {
        assert.deepStrictEqual(yield* Effect.flatMap(steered(fault), errorOf), [502, "upstream_error"], fault)
      }
      const [wrong, unknown, chat] = [
        yield* speak(service, inferenceKey, { ...hello, speed: 9 }),
        yield* speak(service, inferenceKey, { ...hello, model: "tts-9" }),
        yield* speak(service, inferenceKey, { ...hello, model: "gpt-4o-mini" })
      ]
      assert.deepStrictEqual(yield* errorOf(wrong), [400, "validation_error"])
      assert.deepStrictEqual(yield* errorOf(unknown), [400, "unknown_model"])
      assert.deepStrictEqual(yield* errorOf(chat), [400, "unknown_model"])
      assert.strictEqual(yield* spent(service, account.id, 1), 0n)
    }).pipe(Effect.scoped)
  )

  it.live("gets 402 when the balance does not cover it", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(0.01)
      const long = yield* speak(service, inferenceKey, { ...hello, input: "a".repeat(667) })
      assert.deepStrictEqual(yield* errorOf(long), [402, "insufficient_credits"])
      const short = yield* speak(service, inferenceKey, { ...hello, input: "a".repeat(666), speed: 4 })
      assert.strictEqual(short.status, 200)
      yield* bytesOf(short)
    }).pipe(Effect.scoped)
  )

  it.live("is charged once under an idempotency key, and a repeat gets 409 because audio is not kept", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(1)
      const once = (body: object = hello) => speak(service, inferenceKey, body, { "idempotency-key": "once" })
      const first = yield* once()
      assert.strictEqual(first.status, 200)
      yield* bytesOf(first)
      const again = yield* once()
      assert.strictEqual(again.headers.get("x-should-retry"), "false")
      const body = yield* json(again)
      assert.deepStrictEqual([again.status, body.error.code], [409, "idempotency_result_unavailable"])
      assert.strictEqual(body.request_id, first.headers.get("x-request-id"))
      const other = yield* once({ ...hello, voice: "onyx" })
      assert.deepStrictEqual(yield* errorOf(other), [422, "idempotency_key_reused"])
      assert.strictEqual(yield* spent(service, account.id, 1), 25n * NANO_PER_CHARACTER)
    }).pipe(Effect.scoped)
  )
})

describe("speech at OpenAI", () => {
  it.live("is requested with the client's values, and its audio is passed on unchanged", () =>
    Effect.gen(function* () {
      const seen: Array<unknown> = []
      const audio = Buffer.from([0xff, 0xf3, 0x84, 0xc4, 0, 1, 2, 3])
      const host = yield* upstream((request, response) => {
        const pieces: Array<Buffer> = []
        request.on("data", (piece: Buffer) => pieces.push(piece))
        request.on("end", () => {
          const body = JSON.parse(Buffer.concat(pieces).toString())
          seen.push([request.url, request.headers.authorization, body])
          if (body.input === "refuse") {
            response.writeHead(400, { "content-type": "application/json" })
            return response.end(JSON.stringify({ error: { message: "no such voice here" } }))
          }
          response.writeHead(200, { "content-type": "audio/mpeg" }).end(audio)
        })
      })
      const service = yield* startService({
        SANDBOX: "off",
        OPENAI_API_KEY: "sk-planted",
        OPENAI_BASE_URL: `${host.origin}/v1`
      })
      const { account, inferenceKey } = yield* service.account(1)
      const answer = yield* speak(service, inferenceKey, { ...hello, speed: 2, response_format: "aac" })
      assert.deepStrictEqual([...(yield* bytesOf(answer))], [...audio])
      assert.strictEqual(answer.headers.get("content-type"), "audio/aac")
      assert.deepStrictEqual(seen, [
        ["/v1/audio/speech", "Bearer sk-planted", { ...hello, response_format: "aac", speed: 2 }]
      ])
      const refused = yield* json(yield* speak(service, inferenceKey, { ...hello, input: "refuse" }))
      assert.strictEqual(refused.error.code, "validation_error")
      assert.include(refused.error.message, "no such voice here")
      assert.strictEqual(yield* spent(service, account.id, 1), 25n * NANO_PER_CHARACTER)
    }).pipe(Effect.scoped)
  )
})
