import { LLMock } from "@copilotkit/aimock"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { upstream } from "../providers/upstream.ts"
import { nano } from "../support/Amounts.ts"
import { receiptOfResponse } from "../support/ReadReceipts.ts"
import { json, post, type Service, startService } from "../support/Service.ts"
import { frames, lastFrame, textOf } from "../support/Streams.ts"

const MODEL = "gemini-2.5-flash"
const ask = { model: MODEL, max_tokens: 500, messages: [{ role: "user", content: "hello" }] }

const gateway = (baseUrl: string) =>
  startService({ SANDBOX: "off", GEMINI_API_KEY: "AIza-planted", GEMINI_BASE_URL: baseUrl })

const chat = (service: Service, key: string, body: object) => post(`${service.api}/chat/completions`, key, body)

/** Sends a plain and a streamed request. Returns each answer with its receipt and its charge in nano-USD. */
const askBoth = Effect.fnUntraced(function* (service: Service) {
  const { account, inferenceKey } = yield* service.account(10)
  const paid = (before: bigint) => Effect.map(service.balance(account.id), ({ posted }) => before - posted)
  const start = (yield* service.balance(account.id)).posted
  const plain = yield* chat(service, inferenceKey, ask)
  assert.strictEqual(plain.status, 200)
  const body = yield* json(plain)
  const plainPaid = yield* paid(start)
  const stream = yield* chat(service, inferenceKey, { ...ask, stream: true })
  const all = yield* frames(stream)
  return [
    {
      text: body.choices[0].message.content,
      usage: body.usage,
      paid: plainPaid,
      receipt: yield* receiptOfResponse(service, inferenceKey, plain)
    },
    {
      text: textOf(all),
      usage: lastFrame(all).usage,
      paid: yield* paid(start - plainPaid),
      receipt: yield* receiptOfResponse(service, inferenceKey, stream)
    }
  ]
})

describe("Gemini", () => {
  it.live("is charged by the usage that an independent simulation of it reports", () =>
    Effect.gen(function* () {
      const mock = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const made = new LLMock({ port: 0, chunkSize: 4, logLevel: "silent" })
          made.onMessage("hello", { content: "Hello there", usage: { prompt_tokens: 1_000, completion_tokens: 200 } })
          await made.start()
          return made
        }),
        (made) => Effect.promise(() => made.stop())
      )
      const service = yield* gateway(`${mock.url}/v1beta`)
      for (const { paid, receipt, text } of yield* askBoth(service)) {
        assert.strictEqual(text, "Hello there")
        assert.deepInclude(receipt, { status: "succeeded", provider: "gemini", usage_basis: "reported" })
        // $0.30 a million tokens in, $2.50 out: 1,000 × 300 + 200 × 2,500 nano-USD.
        assert.strictEqual(paid, 800_000n)
        assert.strictEqual(nano(receipt.cost_usd), 800_000n)
      }
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("is charged for cached and reasoning tokens once each, at their own rates", () =>
    Effect.gen(function* () {
      const usage = (candidatesTokenCount: number) => ({
        promptTokenCount: 1_000,
        cachedContentTokenCount: 600,
        candidatesTokenCount,
        thoughtsTokenCount: 150,
        totalTokenCount: 1_150 + candidatesTokenCount
      })
      const said = (text: string, count: number, more: object = {}) => ({
        candidates: [{ content: { role: "model", parts: [{ text }] }, ...more }],
        usageMetadata: usage(count)
      })
      const finishReason = "STOP"
      const host = yield* upstream((request, response) => {
        if (request.url?.includes(":stream") === true) {
          const chunks = [said("Hello", 10), said(" there", 40), said("", 50, { finishReason })]
          response.writeHead(200, { "content-type": "text/event-stream" })
          response.end(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join(""))
        } else {
          response.writeHead(200, { "content-type": "application/json" })
          response.end(JSON.stringify(said("Hello there", 50, { finishReason })))
        }
      })
      const service = yield* gateway(host.origin)
      for (const { paid, receipt, text, usage: shown } of yield* askBoth(service)) {
        assert.strictEqual(text, "Hello there")
        assert.deepInclude(shown, { prompt_tokens: 1_000, completion_tokens: 200, total_tokens: 1_200 })
        assert.strictEqual(shown.prompt_tokens_details.cached_tokens, 600)
        assert.strictEqual(shown.completion_tokens_details.reasoning_tokens, 150)
        assert.deepInclude(receipt.usage, { input_tokens: 400, cached_tokens: 600, output_tokens: 200 })
        // $0.30 a million tokens in, $0.03 from the cache, $2.50 out: 400 × 300 + 600 × 30 + 200 × 2,500 nano-USD.
        assert.strictEqual(paid, 638_000n)
        assert.strictEqual(nano(receipt.cost_usd), 638_000n)
      }
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("is not charged and answers 400 with the reason when it blocks the prompt", () =>
    Effect.gen(function* () {
      const blocked = { promptFeedback: { blockReason: "SAFETY" }, usageMetadata: { promptTokenCount: 5 } }
      const host = yield* upstream((request, response) => {
        const streams = request.url?.includes(":stream") === true
        response.writeHead(200, { "content-type": streams ? "text/event-stream" : "application/json" })
        response.end(streams ? `data: ${JSON.stringify(blocked)}\r\n\r\n` : JSON.stringify(blocked))
      })
      const service = yield* gateway(host.origin)
      const { account, inferenceKey } = yield* service.account(10)
      for (const stream of [false, true]) {
        const response = yield* chat(service, inferenceKey, { ...ask, stream })
        assert.strictEqual(response.status, 400)
        const { error } = yield* json(response)
        assert.include(error.message, "gemini refused the request: the prompt was blocked (SAFETY)")
      }
      const { held, posted } = yield* service.balance(account.id)
      assert.deepStrictEqual([held, posted], [0n, nano(10)])
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )
})
