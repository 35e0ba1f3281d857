import type { LLMock } from "@copilotkit/aimock"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import type { Model } from "../../../src/domain/Model.ts"
import { Outbound } from "../../../src/platform/outbound/Outbound.ts"
import { type AnthropicOptions, makeAnthropic } from "../../../src/providers/anthropic/Anthropic.ts"
import { asked } from "../../support/Conversations.ts"
import { candidate, chatCall } from "../calls.ts"
import { one, simulation, simulationSuite } from "../simulation.ts"
import { both, faultOf, hostSuite, speaking, sse, streamed, type Wire } from "../suite.ts"
import { upstream } from "../upstream.ts"

const adapter = (baseUrl: string, more: Partial<AnthropicOptions> = {}) =>
  makeAnthropic({ id: "up", baseUrl, apiKey: Redacted.make("sk-planted"), stopsBillingOnAbort: true, ...more })

const frame = (event: { readonly type: string; readonly [member: string]: unknown }) =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
const start = (usage?: object) => frame({ type: "message_start", message: { content: [], usage } })
const block = (content_block: object) => frame({ type: "content_block_start", index: 0, content_block })
const stop = (usage?: object) => frame({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage })
const PING = frame({ type: "ping" })
const END = frame({ type: "message_stop" })

const opening = [{ _tag: "PromptUsage", usage: { input: 5, cached: 0, cacheWrite: 0 } }] as const

const wire: Wire = {
  adapter: (origin) => adapter(origin),
  head: start({ input_tokens: 5, output_tokens: 1 }) + PING + block({ type: "text", text: "" }),
  opening,
  delta: (text) => frame({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }),
  stop: frame({ type: "content_block_stop", index: 0 }) + stop(),
  end: END,
  whole: (text) => ({ type: "message", content: [{ type: "text", text }], stop_reason: "end_turn" }),
  error: [
    frame({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
    { _tag: "ServerError", status: 529, detail: "Overloaded" }
  ],
  refusal: (message) => ({ type: "error", error: { type: "invalid_request_error", message } }),
  credentialOf: (headers) => headers["x-api-key"]
}

const reasons: Partial<Model> = { capabilities: ["streaming", "tools", "reasoning"] }

layer(Outbound.layer, { excludeTestServices: true })("Anthropic", (it) => {
  describe("against an independent simulation of the API", () => {
    const simulated = (prepare: (mock: LLMock) => unknown, base = "", more: Partial<AnthropicOptions> = {}) =>
      Effect.gen(function* () {
        const mock = yield* simulation(prepare)
        return { mock, provider: yield* adapter(`${mock.url}${base}`, more) }
      })

    it.effect("decodes a text, complete and streamed, and sends the expected request", () =>
      Effect.gen(function* () {
        const { mock, provider } = yield* simulated(
          one({ content: "Grüß dich, Welt 😀", usage: { input_tokens: 7, output_tokens: 9 } })
        )
        for (const answer of both(provider, chatCall())) {
          assert.deepStrictEqual(yield* answer, {
            text: "Grüß dich, Welt 😀",
            reasoning: "",
            refusal: "",
            toolCalls: [],
            logprobs: undefined,
            finish: "stop",
            usage: { input: 7, cached: 0, cacheWrite: 0, output: 9, reasoning: 0 }
          })
        }
        const sent = mock.getLastRequest()
        assert.strictEqual(sent?.path, "/v1/messages")
        assert.deepInclude(sent?.headers, { "content-type": "application/json", "anthropic-version": "2023-06-01" })
        assert.deepInclude(sent?.body, { model: "up-1", stream: true, max_tokens: 1_000 })
        assert.strictEqual((yield* streamed(provider, chatCall())).filter((event) => event._tag === "Text").length, 5)
      }).pipe(Effect.scoped)
    )

    for (const base of ["/", "/v1", "/v1/"]) {
      it.effect(`calls the same path with a base URL that ends in ${base}`, () =>
        Effect.gen(function* () {
          const { mock, provider } = yield* simulated(one({ content: "hi" }), base, { headers: { "x-more": "1" } })
          assert.strictEqual((yield* provider.chat(chatCall())).text, "hi")
          assert.strictEqual(mock.getLastRequest()?.path, "/v1/messages")
          assert.strictEqual(mock.getLastRequest()?.headers["x-more"], "1")
        }).pipe(Effect.scoped)
      )
    }

    it.effect("decodes parallel tool calls, complete and streamed, and sends their results in the next round", () =>
      Effect.gen(function* () {
        const toolCalls = [
          { id: "toolu_a", name: "weather", arguments: '{"city":"Paris"}' },
          { id: "toolu_b", name: "now", arguments: "{}" }
        ]
        const { provider } = yield* simulated(
          (mock) =>
            mock.onToolResult("toolu_b", { content: "all done" }).onMessage("hello", { toolCalls, reasoning: "hm" }),
          "",
          // In strict mode, the simulation, like the real host, refuses to think further after calls whose thinking is lost.
          { headers: { "x-aimock-strict": "true" } }
        )
        const tools = ["weather", "now"].map((name) => ({
          name,
          description: undefined,
          parameters: undefined,
          strict: undefined
        }))
        for (const answer of both(provider, chatCall({ conversation: asked("hello", { tools }) }))) {
          const output = yield* answer
          assert.deepInclude(output, { toolCalls, reasoning: "hm", finish: "tool_calls" })
        }
        const second = asked("", {
          tools,
          reasoning: { effort: "high", maxTokens: undefined, enabled: undefined },
          messages: [
            ...asked("hello").messages,
            { role: "assistant", content: [], toolCalls },
            ...toolCalls.map(
              ({ id }) => ({ role: "tool", toolCallId: id, content: [{ type: "text", text: "ok" }] }) as const
            )
          ]
        })
        const call = chatCall({
          candidate: candidate("up", { model: reasons }),
          conversation: second,
          maxOutputTokens: 9_000
        })
        for (const answer of both(provider, call)) assert.strictEqual((yield* answer).text, "all done")
      }).pipe(Effect.scoped)
    )

    it.effect("decodes requested thinking and the finish reason length", () =>
      Effect.gen(function* () {
        const { provider } = yield* simulated(
          one({
            content: "Hello",
            reasoning: "hm, hm",
            finishReason: "length",
            usage: { input_tokens: 10, output_tokens: 50 }
          })
        )
        const reasoning = { effort: undefined, maxTokens: 2_000, enabled: undefined }
        const call = chatCall({
          candidate: candidate("up", { model: reasons }),
          conversation: asked("hello", { reasoning }),
          maxOutputTokens: 9_000
        })
        for (const answer of both(provider, call)) {
          assert.deepInclude(yield* answer, { text: "Hello", reasoning: "hm, hm", finish: "length" })
        }
      }).pipe(Effect.scoped)
    )

    simulationSuite(it, { adapter: adapter, malformed: "the body is not a JSON object", chunks: 4 })
  })

  describe("against hosts with peculiarities", () => {
    hostSuite(it, wire)

    it.effect("reports usage in disjoint counts, complete and streamed, and keeps the last report of each count", () =>
      Effect.gen(function* () {
        const usage = { input: 21, cached: 1_800, cacheWrite: 300, output: 503, reasoning: 400 }
        const counts = {
          input_tokens: 21,
          cache_read_input_tokens: 1_800,
          cache_creation_input_tokens: 300,
          output_tokens: 503,
          output_tokens_details: { thinking_tokens: 400 }
        }
        const early = { ...counts, input_tokens: 20, output_tokens: 3, output_tokens_details: null }
        const host = yield* upstream((request, response) => {
          let body = ""
          request.on("data", (chunk) => (body += chunk))
          request.on("end", () => {
            if (JSON.parse(body).stream === true) {
              sse(response).end(start(early) + PING + wire.delta("a") + PING + stop(counts) + END)
            } else {
              response.end(JSON.stringify({ ...wire.whole("a"), usage: counts }))
            }
          })
        })
        const provider = yield* adapter(host.origin)
        for (const answer of both(provider, chatCall())) {
          assert.deepInclude(yield* answer, { text: "a", finish: "stop", usage })
        }
      }).pipe(Effect.scoped)
    )

    it.effect("ends a stream without a stop reason normally, and reports the start's usage as prompt usage only", () =>
      Effect.gen(function* () {
        const { provider } = yield* speaking(wire, (response) => sse(response).end(wire.head + wire.delta("a") + END))
        assert.deepStrictEqual(yield* streamed(provider, chatCall()), [...opening, { _tag: "Text", text: "a" }])
      }).pipe(Effect.scoped)
    )

    it.effect("fails with an error that arrives before the first content", () =>
      Effect.gen(function* () {
        const error = frame({ type: "error", error: { type: "rate_limit_error", message: "slow down" } })
        const { provider } = yield* speaking(wire, (response) => sse(response).end(error))
        const fault = yield* faultOf(streamed(provider, chatCall()))
        assert.deepStrictEqual(fault, { _tag: "RateLimited", retryAfterSeconds: undefined })
      }).pipe(Effect.scoped)
    )

    it.effect(
      "reports an empty balance of the gateway's own account as Unauthorized, not as a fault of the request",
      () =>
        Effect.gen(function* () {
          const message = "Your credit balance is too low to access the Anthropic API."
          const { provider } = yield* speaking(wire, (response) => {
            response.writeHead(400, { "request-id": "req_up" }).end(JSON.stringify(wire.refusal(message)))
          })
          for (const answer of both(provider, chatCall())) {
            assert.deepStrictEqual(yield* faultOf(answer), { _tag: "Unauthorized", status: 402 })
          }
        }).pipe(Effect.scoped)
    )
  })
})
