import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { upstream } from "../providers/upstream.ts"
import { nano } from "../support/Amounts.ts"
import { endedReceiptOf, receiptOf } from "../support/ReadReceipts.ts"
import { json, post, type Service, startService } from "../support/Service.ts"
import { frames, hangUpAfter, lastFrame, textOf } from "../support/Streams.ts"

const ask = (content = "Tell me of the sea", more: object = {}) => ({
  model: "gpt-4o-mini",
  stream: true,
  messages: [{ role: "user", content }],
  ...more
})

const chat = (service: Service, key: string, body: object, headers: Record<string, string> = {}) =>
  post(`${service.api}/chat/completions`, key, body, headers)

/** Starts a gateway with a host that gives this answer, plain or as these events. */
const before = (whole: object, events: ReadonlyArray<object>) =>
  Effect.gen(function* () {
    const { origin } = yield* upstream((request, answer) => {
      request.resume()
      const streams = request.headers.accept === "text/event-stream"
      const frames = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")
      answer.setHeader("content-type", streams ? "text/event-stream" : "application/json")
      answer.end(streams ? `${frames}data: [DONE]\n\n` : JSON.stringify(whole))
    })
    return yield* startService({ SANDBOX: "off", OPENAI_API_KEY: "planted", OPENAI_BASE_URL: `${origin}/v1` })
  })

describe("a stream", () => {
  it.live("sends text, the finish reason with usage and cost, and [DONE], and settles the cost that it shows", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(10)
      const response = yield* chat(service, inferenceKey, ask(), {
        "x-svc-sandbox": "output_tokens=40,cached_tokens=2"
      })
      const all = yield* frames(response)
      const last = lastFrame(all)
      assert.strictEqual(all.at(-1), "[DONE]")
      assert.include(textOf(all), "sandbox")
      assert.strictEqual(last.choices[0].finish_reason, "stop")
      assert.strictEqual(last.usage.prompt_tokens_details.cached_tokens, 2)
      const found = yield* receiptOf(service, inferenceKey, last.request_id)
      assert.strictEqual(found.status, "succeeded")
      assert.strictEqual(found.cost_usd, last.cost_usd)
      assert.strictEqual(found.usage.cached_tokens, 2)
      assert.strictEqual(found.usage.input_tokens + 2, last.usage.prompt_tokens)
      const { held, posted } = yield* service.balance(account.id)
      assert.strictEqual(held, 0n)
      assert.strictEqual(nano(10) - posted, nano(last.cost_usd))
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("settles the delivered output when the client disconnects, at every chunk", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(10)
      const costs: Array<bigint> = []
      for (const count of [1, 2, 3, 5, 8]) {
        const steering = {
          "x-svc-sandbox": "chunk_ms=15,text=one%20two%20three%20four%20five%20six%20seven%20eight%20nine%20ten"
        }
        const { requestId, seen } = yield* hangUpAfter(
          `${service.api}/chat/completions`,
          inferenceKey,
          ask(),
          steering,
          count
        )
        const found = yield* endedReceiptOf(service, inferenceKey, requestId)
        assert.strictEqual(found.status, "cancelled")
        assert.strictEqual(found.usage_basis, "counted")
        assert.isAtLeast(found.usage.output_tokens, seen.trim().split(" ").length)
        costs.push(nano(found.cost_usd))
      }
      assert.isTrue(costs.every((cost) => cost > 0n))
      const { held, posted } = yield* service.balance(account.id)
      assert.strictEqual(held, 0n)
      assert.strictEqual(
        nano(10) - posted,
        costs.reduce((a, b) => a + b, 0n)
      )
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("that breaks ends with an error event, and is charged for the delivered output", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(10)
      const response = yield* chat(service, inferenceKey, ask(), { "x-svc-sandbox": "fault=break,after=3" })
      const all = yield* frames(response)
      const error = all.at(-2)
      assert.strictEqual(all.at(-1), "[DONE]")
      assert.strictEqual(error.error.code, "upstream_error")
      assert.strictEqual(error.choices[0].finish_reason, "error")
      const found = yield* endedReceiptOf(service, inferenceKey, response.headers.get("x-request-id")!)
      assert.strictEqual(found.status, "failed")
      assert.strictEqual(found.error.code, "upstream_error")
      assert.isAbove(found.cost_usd, 0)
      assert.strictEqual(nano(10) - (yield* service.balance(account.id)).posted, nano(found.cost_usd))
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live(
    "or plain answer whose finish reason reports a host failure is an error, and only streamed output is charged",
    () =>
      Effect.gen(function* () {
        const finish_reason = "insufficient_system_resource"
        const usage = { prompt_tokens: 5_000, completion_tokens: 900, total_tokens: 5_900 }
        const whole = { choices: [{ index: 0, message: { content: "half of" }, finish_reason }], usage }
        const said = { choices: [{ index: 0, delta: { content: "half of" }, finish_reason: null }] }
        const broken = { choices: [{ index: 0, delta: {}, finish_reason }] }
        const service = yield* before(whole, [said, broken, { choices: [], usage }])
        const { account, inferenceKey } = yield* service.account(10)
        const plain = yield* chat(service, inferenceKey, ask("Hello", { stream: false }))
        assert.strictEqual(plain.status, 502)
        assert.strictEqual((yield* json(plain)).error.code, "upstream_error")
        assert.deepStrictEqual(yield* service.balance(account.id), { posted: nano(10), held: 0n })
        const response = yield* chat(service, inferenceKey, ask("Hello"))
        const all = yield* frames(response)
        assert.strictEqual(textOf(all), "half of")
        assert.strictEqual(all.at(-2).choices[0].finish_reason, "error")
        const found = yield* endedReceiptOf(service, inferenceKey, response.headers.get("x-request-id")!)
        assert.deepInclude(found, { status: "failed", usage_basis: "counted" })
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped)
  )

  it.live("falls back to the next provider before the first content", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      for (const fault of ["error", "rate_limit", "empty", "malformed", "break,after=0"]) {
        const response = yield* chat(service, inferenceKey, ask(), {
          "x-svc-sandbox": `provider=openai,fault=${fault}`
        })
        const last = lastFrame(yield* frames(response))
        assert.strictEqual(response.status, 200)
        assert.notStrictEqual(last.provider, "openai")
        assert.deepStrictEqual(
          last.routing.provider_attempts.map((attempt: { outcome: string }) => attempt.outcome),
          ["failed_over", "served"]
        )
      }
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("or plain request gets a JSON error without a charge when no provider sends content", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(10)
      const cases = [
        { steering: "fault=error", status: 502, code: "upstream_error" },
        { steering: "fault=empty", status: 502, code: "empty_completion" },
        { steering: "fault=malformed", status: 502, code: "upstream_error" },
        { steering: "fault=stall,after=0", status: 504, code: "upstream_timeout" }
      ]
      for (const stream of [true, false]) {
        for (const { code, status, steering } of cases) {
          const clocks = { routing: { timeouts: { first_token_ms: 40, total_ms: 80 } } }
          const response = yield* chat(service, inferenceKey, ask("Hello", { stream, ...clocks }), {
            "x-svc-sandbox": steering
          })
          assert.strictEqual(response.status, status, steering)
          assert.strictEqual((yield* json(response)).error.code, code)
          const found = yield* endedReceiptOf(service, inferenceKey, response.headers.get("x-request-id")!)
          assert.deepStrictEqual([found.status, found.cost_usd, found.error.code], ["failed", 0, code])
        }
      }
      assert.deepStrictEqual(yield* service.balance(account.id), { posted: nano(10), held: 0n })
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("or plain answer that contains only log-probabilities of its end is empty: 502 without a charge", () =>
    Effect.gen(function* () {
      const logprobs = { content: [{ token: "<|eot_id|>", logprob: -0.1, bytes: null, top_logprobs: [] }] }
      const usage = { prompt_tokens: 5_000, completion_tokens: 1, total_tokens: 5_001 }
      const ended = { index: 0, finish_reason: "stop", logprobs }
      const events = [{ choices: [{ ...ended, delta: { role: "assistant", content: "" } }] }, { choices: [], usage }]
      const whole = { choices: [{ ...ended, message: { role: "assistant", content: "" } }], usage }
      const service = yield* before(whole, events)
      const { account, inferenceKey } = yield* service.account(10)
      for (const stream of [true, false]) {
        const response = yield* chat(service, inferenceKey, ask("Hello", { stream, logprobs: true }))
        assert.strictEqual(response.status, 502)
        assert.strictEqual((yield* json(response)).error.code, "empty_completion")
      }
      assert.deepStrictEqual(yield* service.balance(account.id), { posted: nano(10), held: 0n })
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("or plain answer without reported usage is counted, and a report above the hold is absorbed", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      for (const stream of [true, false]) {
        const silent = yield* chat(service, inferenceKey, ask("Hi", { stream }), { "x-svc-sandbox": "fault=no_usage" })
        yield* Effect.promise(() => silent.text())
        const counted = yield* endedReceiptOf(service, inferenceKey, silent.headers.get("x-request-id")!)
        assert.strictEqual(counted.usage_basis, "counted")
        assert.isAbove(counted.usage.output_tokens, 0)
        const body = ask("Hi", { stream, max_tokens: 30 })
        const wrong = yield* chat(service, inferenceKey, body, {
          "x-svc-sandbox": "fault=wrong_usage,output_tokens=30"
        })
        yield* Effect.promise(() => wrong.text())
        const clamped = yield* endedReceiptOf(service, inferenceKey, wrong.headers.get("x-request-id")!)
        assert.strictEqual(clamped.settled_usd, clamped.held_usd)
        assert.isAbove(clamped.absorbed_usd, 0)
      }
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("grows its hold while it runs, and ends with finish reason length when the balance is used up", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const steering = { "x-svc-sandbox": "output_tokens=6000" }
      const body = ask()
      const rich = yield* service.account(1)
      const all = yield* frames(yield* chat(service, rich.inferenceKey, body, steering))
      assert.strictEqual(lastFrame(all).choices[0].finish_reason, "stop")
      const whole = yield* receiptOf(service, rich.inferenceKey, lastFrame(all).request_id)
      assert.isAbove(whole.usage.output_tokens, 4_096)

      const poor = yield* service.account(0)
      const { hold_usd } = yield* Effect.flatMap(
        post(`${service.api}/estimate`, poor.inferenceKey, { ...body, stream: true }),
        json
      )
      yield* service.customers.topUp(poor.account, nano(hold_usd))
      const cut = yield* frames(yield* chat(service, poor.inferenceKey, body, steering))
      const end = lastFrame(cut)
      assert.strictEqual(end.choices[0].finish_reason, "length")
      assert.isBelow(end.usage.completion_tokens, 400)
      const { held, posted } = yield* service.balance(poor.account.id)
      assert.strictEqual(held, 0n)
      assert.strictEqual(nano(hold_usd) - posted, nano(end.cost_usd))
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("or plain request renews its hold while it runs, before the first content and after", () =>
    Effect.gen(function* () {
      // A renewal is due after a quarter of the hold's lifetime, so a busy machine may pause for some seconds.
      const service = yield* startService({ HOLD_TTL: "10 seconds", SWEEP_INTERVAL: "100 millis" })
      const { account, inferenceKey } = yield* service.account(10)
      const charges = yield* Effect.forEach(
        [true, false],
        Effect.fnUntraced(function* (stream) {
          const response = yield* chat(service, inferenceKey, ask("Take your time", { stream }), {
            "x-svc-sandbox": "latency_ms=3400,chunk_ms=100"
          })
          yield* Effect.promise(() => response.text())
          const found = yield* endedReceiptOf(service, inferenceKey, response.headers.get("x-request-id")!)
          assert.deepStrictEqual([found.status, found.usage_basis], ["succeeded", "reported"])
          return nano(found.cost_usd)
        }),
        { concurrency: 2 }
      )
      const charged = charges.reduce((sum, one) => sum + one, 0n)
      assert.isTrue(charged > 0n)
      const renewed = yield* service.sql`SELECT id FROM request WHERE expires_at > created_at + interval '11 seconds'`
      assert.lengthOf(renewed, 2, "both holds must expire later than without a renewal")
      assert.deepStrictEqual(yield* service.balance(account.id), { posted: nano(10) - charged, held: 0n })
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("is charged for hidden reasoning when the client disconnects before the usage is reported", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      const { requestId } = yield* hangUpAfter(
        `${service.api}/chat/completions`,
        inferenceKey,
        { ...ask(), model: "o3-mini" },
        { "x-svc-sandbox": "reasoning_tokens=5000,chunk_ms=10" },
        1
      )
      const found = yield* endedReceiptOf(service, inferenceKey, requestId)
      assert.strictEqual(found.usage_basis, "reported")
      assert.strictEqual(found.usage.reasoning_tokens, 5_000)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )
})
