/** A prompt with a one-hour cache TTL at Anthropic: the request to the host, the hold and the charge. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { upstream } from "../providers/upstream.ts"
import { nano } from "../support/Amounts.ts"
import { receiptOfResponse } from "../support/ReadReceipts.ts"
import { json, post, startService } from "../support/Service.ts"

const model = "claude-sonnet-4-5"

/** USD per million tokens, as Anthropic publishes them for this model. */
const RATES = { input: 3, cached: 0.3, write: 3.75, writeForAnHour: 6, output: 15 }

const MAX_TOKENS = 200
const perMillion = (usd: number) => BigInt(Math.round(usd * 1_000))

/** The usage that the host reports: 100 of the 400 cache writes have a TTL of five minutes. */
const usage = {
  input_tokens: 100,
  cache_read_input_tokens: 2_000,
  cache_creation_input_tokens: 400,
  cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 300 },
  output_tokens: 50
}

/** The cost in nano-USD, with each token once at its own rate. */
const COST =
  100n * perMillion(RATES.input) +
  2_000n * perMillion(RATES.cached) +
  100n * perMillion(RATES.write) +
  300n * perMillion(RATES.writeForAnHour) +
  50n * perMillion(RATES.output)

const content = [{ type: "text", text: "Noted" }]

/** The events of the real host. The last one repeats the counts without the split of the cache writes. */
const events = [
  { type: "message_start", message: { content: [], usage: { ...usage, output_tokens: 1 } } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "Noted" } },
  { type: "content_block_stop", index: 0 },
  {
    type: "message_delta",
    delta: { stop_reason: "end_turn" },
    usage: { input_tokens: 100, cache_read_input_tokens: 2_000, cache_creation_input_tokens: 400, output_tokens: 50 }
  },
  { type: "message_stop" }
]

// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

const paying = Effect.gen(function* () {
  const sent: Array<Json> = []
  const host = yield* upstream((request, response) => {
    let text = ""
    request.setEncoding("utf8").on("data", (piece: string) => (text += piece))
    request.on("end", () => {
      const body = JSON.parse(text)
      sent.push(body)
      if (body.stream !== true) return response.end(JSON.stringify({ content, stop_reason: "end_turn", usage }))
      response.writeHead(200, { "content-type": "text/event-stream" })
      return response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""))
    })
  })
  const service = yield* startService({
    SANDBOX: "off",
    OUTBOUND_ALLOW_LOOPBACK: "1",
    ANTHROPIC_API_KEY: "sk-ant-planted",
    ANTHROPIC_BASE_URL: host.origin
  })
  const { account, inferenceKey } = yield* service.account(10)
  const receiptOf = (response: Response): Effect.Effect<Json> => receiptOfResponse(service, inferenceKey, response)
  return { account, inferenceKey, receiptOf, sent, service }
})

const memory = "Keep all of this in mind. ".repeat(120)
const control = (ttl: string) => ({ cache_control: { type: "ephemeral", ttl } })

/** The same question in both dialects that can mark a prompt for the cache. */
const bodies = (ttl: string) =>
  [
    [
      "/messages",
      {
        system: [{ type: "text", text: memory, ...control(ttl) }],
        messages: [{ role: "user", content: "Do you?" }]
      }
    ],
    [
      "/chat/completions",
      {
        messages: [
          { role: "system", content: [{ type: "text", text: memory, ...control(ttl) }] },
          { role: "user", content: "Do you?" }
        ]
      }
    ]
  ] as const

describe("a prompt with a one-hour cache TTL", () => {
  it.live(
    "reaches the host with its TTL, is held at the one-hour write rate and charged by reported TTL, plain and streamed",
    () =>
      Effect.gen(function* () {
        const { account, inferenceKey, receiptOf, sent, service } = yield* paying
        const ask = (path: string, body: object, stream: boolean) =>
          Effect.gen(function* () {
            const asked = { model, max_tokens: MAX_TOKENS, stream, ...body }
            const response = yield* post(`${service.api}${path}`, inferenceKey, asked)
            const text = yield* Effect.promise(() => response.text())
            assert.strictEqual(response.status, 200, text)
            assert.include(text, "Noted")
            if (path === "/messages") {
              assert.match(text, /"ephemeral_5m_input_tokens":100,"ephemeral_1h_input_tokens":300/)
            }
            return yield* receiptOf(response)
          })
        let paid = 0n
        for (const [index, [path, body]] of bodies("1h").entries()) {
          const short = yield* ask(path, bodies("5m")[index]![1], false)
          assert.deepStrictEqual(sent.at(-1).system[0].cache_control.ttl ?? "5m", "5m")
          assert.notProperty(short.price, "cache_write_1h")
          // The hold covers every token of the prompt at its highest possible rate, and the whole output.
          const output = BigInt(MAX_TOKENS) * perMillion(RATES.output)
          const prompt = (nano(short.held_usd) - output) / perMillion(RATES.write)
          paid += nano(short.cost_usd)
          for (const stream of [false, true]) {
            const receipt = yield* ask(path, body, stream)
            const label = `${path} ${stream ? "streamed" : "whole"}`
            assert.deepStrictEqual(sent.at(-1).system[0].cache_control, { type: "ephemeral", ttl: "1h" }, label)
            assert.strictEqual(nano(receipt.held_usd), prompt * perMillion(RATES.writeForAnHour) + output, label)
            assert.strictEqual(nano(receipt.cost_usd), COST, label)
            assert.deepStrictEqual(
              receipt.usage,
              {
                input_tokens: 100,
                cached_tokens: 2_000,
                output_tokens: 50,
                reasoning_tokens: 0,
                cache_creation_tokens: 400,
                cache_creation_1h_tokens: 300
              },
              label
            )
            assert.deepInclude(receipt.price, { cache_write: 3.75e-6, cache_write_1h: 6e-6 }, label)
            assert.deepInclude(receipt, { absorbed_usd: 0, usage_basis: "reported" }, label)
            paid += COST
          }
        }
        assert.deepStrictEqual(yield* service.balance(account.id), { posted: 10_000_000_000n - paid, held: 0n })
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped)
  )

  it.live("gets 402 when the balance covers only a TTL of five minutes", () =>
    Effect.gen(function* () {
      const { inferenceKey, receiptOf, sent, service } = yield* paying
      const [path, body] = bodies("5m")[0]!
      const asked = { model, max_tokens: MAX_TOKENS, ...body }
      const first = yield* post(`${service.api}${path}`, inferenceKey, asked)
      yield* Effect.promise(() => first.text())
      const { held_usd } = yield* receiptOf(first)
      const poor = yield* service.account(held_usd)
      const hour = { ...asked, ...bodies("1h")[0]![1] }
      const before = sent.length
      const refused = yield* post(`${service.api}${path}`, poor.inferenceKey, hour)
      assert.deepStrictEqual([refused.status, (yield* json(refused)).error.code], [402, "insufficient_credits"])
      assert.strictEqual(sent.length, before)
      assert.strictEqual((yield* post(`${service.api}${path}`, poor.inferenceKey, asked)).status, 200)
    }).pipe(Effect.scoped)
  )
})
