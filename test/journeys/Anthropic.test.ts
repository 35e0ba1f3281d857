/** An Anthropic model called through `/chat/completions`. Only Anthropic's host is a fake; the sandbox is off. */
import { LLMock } from "@copilotkit/aimock"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { upstream } from "../providers/upstream.ts"
import { receiptOfResponse } from "../support/ReadReceipts.ts"
import { json, post, startService } from "../support/Service.ts"
import { frames, lastFrame, textOf } from "../support/Streams.ts"

const model = "claude-sonnet-4-5"

/** USD per million tokens, as Anthropic publishes them for this model. */
const price = { input: 3, cached_input: 0.3, cache_write: 3.75, output: 15, per_request: 0 }

const paying = (baseUrl: string) =>
  Effect.gen(function* () {
    const service = yield* startService({
      SANDBOX: "off",
      ANTHROPIC_API_KEY: "sk-ant-planted",
      ANTHROPIC_BASE_URL: baseUrl
    })
    return { service, ...(yield* service.account(10)) }
  })

describe("Anthropic", () => {
  it.live("serves plain and streamed requests and charges its published price", () =>
    Effect.gen(function* () {
      const mock = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const made = new LLMock({ port: 0 })
          made.onMessage("hello", { content: "Hello, friend", usage: { input_tokens: 12, output_tokens: 34 } })
          await made.start()
          return made
        }),
        (made) => Effect.promise(() => made.stop())
      )
      const { account, inferenceKey, service } = yield* paying(mock.url)
      const body = { model, messages: [{ role: "user", content: "hello" }] }
      // 12 × $3 + 34 × $15, per million.
      const cost = 0.000546

      const plain = yield* post(`${service.api}/chat/completions`, inferenceKey, body)
      const answer = yield* json(plain)
      assert.strictEqual(answer.choices[0].message.content, "Hello, friend")
      assert.strictEqual(answer.choices[0].finish_reason, "stop")
      assert.deepInclude(answer, { cost_usd: cost, provider: "anthropic", resolved_model: model })
      assert.deepInclude(answer.usage, { prompt_tokens: 12, completion_tokens: 34, total_tokens: 46 })

      const stream = yield* post(`${service.api}/chat/completions`, inferenceKey, { ...body, stream: true })
      const all = yield* frames(stream)
      assert.strictEqual(textOf(all), "Hello, friend")
      assert.strictEqual(all.at(-1), "[DONE]")
      assert.strictEqual(lastFrame(all).cost_usd, cost)

      for (const response of [plain, stream]) {
        const receipt = yield* receiptOfResponse(service, inferenceKey, response)
        assert.deepInclude(receipt, { status: "succeeded", cost_usd: cost, usage_basis: "reported" })
        assert.deepInclude(receipt.usage, { input_tokens: 12, cached_tokens: 0, output_tokens: 34 })
      }
      const sent = mock.getLastRequest()
      assert.strictEqual(sent?.headers["x-api-key"], "[REDACTED]")
      assert.deepInclude(sent?.body, { model, stream: true })
      assert.deepStrictEqual(yield* service.balance(account.id), { posted: 10_000_000_000n - 2n * 546_000n, held: 0n })
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("bills cache reads, cache writes and reasoning tokens once each", () =>
    Effect.gen(function* () {
      const usage = {
        input_tokens: 100,
        cache_read_input_tokens: 2_000,
        cache_creation_input_tokens: 400,
        output_tokens: 50,
        output_tokens_details: { thinking_tokens: 30 }
      }
      const content = [
        { type: "thinking", thinking: "hm", signature: "s" },
        { type: "text", text: "Noted" }
      ]
      const events = [
        { type: "message_start", message: { content: [], usage: { ...usage, output_tokens: 1 } } },
        ...content.flatMap((content_block, index) => [
          { type: "content_block_start", index, content_block },
          { type: "content_block_stop", index }
        ]),
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
        { type: "message_stop" }
      ]
      const host = yield* upstream((request, response) => {
        let body = ""
        request.on("data", (chunk) => (body += chunk))
        request.on("end", () => {
          if (JSON.parse(body).stream !== true) {
            return response.end(JSON.stringify({ content, stop_reason: "end_turn", usage }))
          }
          response.writeHead(200, { "content-type": "text/event-stream" })
          return response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""))
        })
      })
      const { account, inferenceKey, service } = yield* paying(host.origin)
      const messages = [
        { role: "system", content: "Keep all of this in mind. ".repeat(120) },
        { role: "user", content: "Do you?" }
      ]
      const responses = []
      for (const stream of [false, true]) {
        const response = yield* post(`${service.api}/chat/completions`, inferenceKey, { model, messages, stream })
        const text = yield* Effect.promise(() => response.text())
        assert.include(text, "Noted")
        responses.push(response)
      }
      for (const response of responses) {
        const receipt = yield* receiptOfResponse(service, inferenceKey, response)
        // 100 × $3 + 2,000 × $0.30 + 400 × $3.75 + 50 × $15, per million.
        assert.strictEqual(receipt.cost_usd, 0.00315)
        assert.deepInclude(receipt.usage, {
          input_tokens: 100,
          cached_tokens: 2_000,
          cache_creation_tokens: 400,
          output_tokens: 50,
          reasoning_tokens: 30
        })
        const perMillion = Object.entries(price).map(([name, usd]) => [name, usd / 1_000_000])
        assert.deepStrictEqual(receipt.price, { ...receipt.price, ...Object.fromEntries(perMillion) })
      }
      assert.deepStrictEqual(yield* service.balance(account.id), {
        posted: 10_000_000_000n - 2n * 3_150_000n,
        held: 0n
      })
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live(
    "caches the prompt where the client marks it, and where `routing.caching` is auto and the client marks nothing",
    () =>
      Effect.gen(function* () {
        const marks: Array<ReadonlyArray<unknown>> = []
        const host = yield* upstream((request, response) => {
          let body = ""
          request.on("data", (chunk) => (body += chunk))
          request.on("end", () => {
            const { messages, system } = JSON.parse(body)
            marks.push([system[0].cache_control, messages[0].content[0].cache_control])
            const usage = { input_tokens: 9, output_tokens: 2 }
            const content = [{ type: "text", text: "Yes" }]
            response.end(JSON.stringify({ content, stop_reason: "stop_sequence", stop_sequence: "END", usage }))
          })
        })
        const { inferenceKey, service } = yield* paying(host.origin)
        const cache_control = { type: "ephemeral" }
        const text = "Keep all of this in mind. ".repeat(200)
        const ask = (system: object, more: object) =>
          Effect.flatMap(
            post(`${service.api}/chat/completions`, inferenceKey, {
              model,
              messages: [
                { role: "system", content: [{ type: "text", text, ...system }] },
                { role: "user", content: "Do you?" }
              ],
              ...more
            }),
            json
          )
        const auto = { routing: { caching: "auto" } }
        yield* ask({}, {})
        yield* ask({ cache_control }, {})
        const own = yield* ask({ cache_control }, auto)
        const set = yield* ask({}, auto)
        assert.deepStrictEqual(marks, [
          [undefined, undefined],
          [cache_control, undefined],
          [cache_control, undefined],
          [cache_control, cache_control]
        ])
        assert.deepStrictEqual([own.routing.caching, set.routing.caching], ["auto", "auto"])
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped)
  )

  it.live("answers 5xx without a charge when the operator's own Anthropic account has no credit", () =>
    Effect.gen(function* () {
      const message = "Your credit balance is too low to access the Anthropic API."
      const host = yield* upstream((_, response) => {
        response
          .writeHead(400)
          .end(JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } }))
      })
      const { account, inferenceKey, service } = yield* paying(host.origin)
      const body = { model, messages: [{ role: "user", content: "hello" }] }
      const response = yield* post(`${service.api}/chat/completions`, inferenceKey, body)
      assert.isAtLeast(response.status, 500)
      assert.notInclude(yield* Effect.promise(() => response.text()), "credit")
      assert.deepStrictEqual(yield* service.balance(account.id), { posted: 10_000_000_000n, held: 0n })
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )
})
