import type { LLMock } from "@copilotkit/aimock"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Outbound } from "../../../src/platform/outbound/Outbound.ts"
import { failureWeightOf } from "../../../src/providers/Hosts.ts"
import { makeOpenAi, type OpenAiOptions } from "../../../src/providers/openai/OpenAi.ts"
import { asked } from "../../support/Conversations.ts"
import type { ChatCall } from "../../../src/providers/Provider.ts"
import { candidate, chatCall, nextOf } from "../calls.ts"
import { one, simulation, simulationSuite } from "../simulation.ts"
import { both, faultOf, hostSuite, streamed } from "../suite.ts"
import { upstream } from "../upstream.ts"

const adapter = (baseUrl: string, more: Partial<OpenAiOptions> = {}) =>
  makeOpenAi({
    id: "up",
    baseUrl,
    apiKey: Redacted.make("sk-planted"),
    flavour: "openai",
    stopsBillingOnAbort: true,
    ...more
  })

layer(Outbound.layer, { excludeTestServices: true })("OpenAi", (it) => {
  const simulated = (prepare: (mock: LLMock) => unknown, base = "/v1", more: Partial<OpenAiOptions> = {}) =>
    Effect.gen(function* () {
      const mock = yield* simulation(prepare)
      return { mock, provider: yield* adapter(`${mock.url}${base}`, more) }
    })

  describe("against an independent simulation of the API", () => {
    it.effect("decodes a text, complete and streamed, and sends the expected request", () =>
      Effect.gen(function* () {
        const { mock, provider } = yield* simulated(
          one({ content: "Grüß dich, Welt 😀", usage: { prompt_tokens: 7, completion_tokens: 9 } })
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
        assert.strictEqual(sent?.path, "/v1/chat/completions")
        assert.strictEqual(sent?.headers["content-type"], "application/json")
        assert.deepInclude(sent?.body, {
          model: "up-1",
          stream: true,
          stream_options: { include_usage: true },
          max_completion_tokens: 1_000
        })
        assert.strictEqual((yield* streamed(provider, chatCall())).filter((event) => event._tag === "Text").length, 5)
      }).pipe(Effect.scoped)
    )

    it.effect("decodes parallel tool calls, complete and streamed, and sends their results in the next round", () =>
      Effect.gen(function* () {
        const { provider } = yield* simulated((mock) =>
          mock.onToolResult("call_b", { content: "all done" }).onMessage("hello", {
            toolCalls: [
              { id: "call_a", name: "weather", arguments: '{"city":"Paris"}' },
              { id: "call_b", name: "time", arguments: '{"zone":"CET"}' }
            ]
          })
        )
        const tools = ["weather", "time"].map((name) => ({
          name,
          description: undefined,
          parameters: { type: "object" },
          strict: undefined
        }))
        const toolCalls = [
          { id: "call_a", name: "weather", arguments: '{"city":"Paris"}' },
          { id: "call_b", name: "time", arguments: '{"zone":"CET"}' }
        ]
        for (const answer of both(provider, chatCall({ conversation: asked("hello", { tools }) }))) {
          const output = yield* answer
          assert.deepStrictEqual(output.toolCalls, toolCalls)
          assert.strictEqual(output.finish, "tool_calls")
        }
        const { messages } = asked("hello")
        const results = toolCalls.map(
          ({ id }) => ({ role: "tool", toolCallId: id, content: [{ type: "text", text: "ok" }] }) as const
        )
        const second = asked("", {
          tools,
          messages: [...messages, { role: "assistant", content: [], toolCalls }, ...results]
        })
        assert.strictEqual((yield* provider.chat(chatCall({ conversation: second }))).text, "all done")
      }).pipe(Effect.scoped)
    )

    it.effect("decodes reasoning, the finish reason length, and detailed usage", () =>
      Effect.gen(function* () {
        const { provider } = yield* simulated(
          one({
            content: "Hello",
            reasoning: "hm",
            finishReason: "length",
            usage: {
              prompt_tokens: 100,
              completion_tokens: 50,
              prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
              completion_tokens_details: { reasoning_tokens: 20 }
            }
          }),
          "/api/v1"
        )
        for (const answer of both(provider, chatCall())) {
          const output = yield* answer
          assert.deepInclude(output, { text: "Hello", reasoning: "hm", finish: "length" })
          assert.deepStrictEqual(output.usage, { input: 10, cached: 60, cacheWrite: 30, output: 50, reasoning: 20 })
        }
      }).pipe(Effect.scoped)
    )

    it.effect("sends the response format, and max_tokens to compatible hosts", () =>
      Effect.gen(function* () {
        const { mock, provider } = yield* simulated((made) => made.onJsonOutput("hello", { a: 1 }), "/v1", {
          flavour: "compatible",
          apiKey: undefined
        })
        const output = yield* provider.chat(
          chatCall({ conversation: asked("hello", { format: { type: "json_object" } }) })
        )
        assert.deepStrictEqual(JSON.parse(output.text), { a: 1 })
        assert.strictEqual(mock.getLastRequest()?.body?.["max_tokens"], 1_000)
        assert.notProperty(mock.getLastRequest()?.headers, "authorization")
      }).pipe(Effect.scoped)
    )

    simulationSuite(it, {
      adapter: (url) => adapter(`${url}/v1`),
      malformed: "the body is not a JSON object",
      chunks: 3
    })
  })

  describe("against hosts with peculiarities", () => {
    it.effect("reports a stop sequence only when the caller requested it", () =>
      Effect.gen(function* () {
        const choice = { message: { content: "a" }, delta: { content: "a" }, finish_reason: "stop", stop_reason: "END" }
        const host = yield* upstream((request, response) => {
          request.resume()
          response.setHeader("content-type", "text/event-stream")
          request.on("end", () => response.end(`data: ${JSON.stringify({ choices: [choice] })}\n\ndata: [DONE]\n\n`))
        })
        const wholeHost = yield* upstream((request, response) => {
          request.resume()
          response.setHeader("content-type", "application/json")
          request.on("end", () => response.end(JSON.stringify({ choices: [choice] })))
        })
        for (const [stop, named] of [
          [["x", "END"], "END"],
          [["x"], undefined],
          [undefined, undefined]
        ] as const) {
          const sampling = stop === undefined ? {} : { stop }
          const call = chatCall({ conversation: asked("hello", { sampling }) })
          const events = yield* streamed(yield* adapter(host.origin), call)
          const whole = yield* (yield* adapter(wholeHost.origin)).chat(call)
          const ends = events.flatMap((event) => (event._tag === "Finish" ? [event.stopSequence] : []))
          assert.deepStrictEqual([ends, whole.stopSequence], [[named], named])
          assert.strictEqual(whole.finish, "stop")
        }
      }).pipe(Effect.scoped)
    )

    it.effect("does not blame the provider for a total timeout that a slow reader caused", () =>
      Effect.gen(function* () {
        const text = `data: ${JSON.stringify({ choices: [{ delta: { content: "a".repeat(1_000) } }] })}\n\n`
        const host = yield* upstream((request, response) => {
          request.resume()
          response.setHeader("content-type", "text/event-stream")
          request.on("end", () => response.write(text.repeat(500)))
        })
        const call = chatCall()
        const clocks = { ...call.clocks, totalMs: 200 }
        const source = yield* (yield* adapter(host.origin)).chatStream({ ...call, clocks })
        yield* nextOf(source)
        yield* Effect.sleep(300)
        const fault = yield* faultOf(Effect.forever(nextOf(source)))
        assert.deepInclude(fault, { _tag: "TimedOut", clock: "total" })
        assert.isUndefined(failureWeightOf(fault, clocks, clocks))
      }).pipe(Effect.scoped)
    )

    it.effect("blames the caller's log-probabilities, not the provider, for an answer too long because of them", () =>
      Effect.gen(function* () {
        const body = Buffer.alloc(16 * 1024 * 1024 + 1, " ")
        const host = yield* upstream((request, response) => {
          request.resume()
          request.on("end", () => response.writeHead(200, { "content-type": "application/json" }).end(body))
        })
        const detail = `an answer longer than ${body.length - 1} bytes`
        const provider = yield* adapter(host.origin)
        const lost = { _tag: "Lost", detail, ours: true, param: "logprobs" } as const
        for (const [logprobs, fault] of [
          [true, lost],
          [false, { _tag: "Malformed", detail }]
        ] as const) {
          const call = chatCall({ conversation: asked("hello", { sampling: { logprobs } }) })
          for (const answer of both(provider, call)) assert.deepStrictEqual(yield* faultOf(answer), fault)
        }
      }).pipe(Effect.scoped)
    )

    const delta = (text: string) => `data: ${JSON.stringify({ choices: [{ delta: { content: text } }] })}\n\n`
    hostSuite(it, {
      adapter: (origin) => adapter(`${origin}/v1/`),
      head: "",
      delta,
      stop: `data: ${JSON.stringify({ choices: [{ delta: {}, finish_reason: "stop" }] })}\n\n`,
      end: "data: [DONE]\n\n",
      whole: (text) => ({ choices: [{ message: { content: text }, finish_reason: "stop" }] }),
      error: [
        `data: ${JSON.stringify({ error: { message: "overloaded", code: 503 } })}\n\n`,
        { _tag: "ServerError", status: 503, detail: "overloaded" }
      ],
      refusal: (message) => ({ error: { message } }),
      credentialOf: ({ authorization }) => authorization?.replace(/^Bearer /, "")
    })
  })

  describe("over the Responses API, for models that reason beside tools", () => {
    const tools = [{ name: "weather", description: undefined, parameters: { type: "object" }, strict: undefined }]
    const reasoning = { effort: "high", maxTokens: undefined, enabled: undefined } as const
    const gpt = candidate("up", {
      model: { vendor: "openai", capabilities: ["tools", "reasoning"] },
      upstreamId: "gpt-5.6"
    })
    const beside = (call: ChatCall): ChatCall => ({
      ...call,
      candidate: gpt,
      conversation: { ...call.conversation, tools, reasoning }
    })

    it.effect("decodes tool calls and reasoning from an independent simulation of the API", () =>
      Effect.gen(function* () {
        const usage = { input_tokens: 7, output_tokens: 9 }
        const toolCalls = [{ id: "call_a", name: "weather", arguments: '{"city":"Paris"}' }]
        const { mock, provider } = yield* simulated((made) =>
          made
            .onToolResult("call_a", { content: "Grüß dich", reasoning: "hm", usage })
            .onMessage("hello", { toolCalls })
        )
        for (const answer of both(provider, beside(chatCall()))) {
          assert.deepInclude(yield* answer, { text: "", toolCalls, finish: "tool_calls" })
        }
        assert.strictEqual(mock.getLastRequest()?.path, "/v1/responses")
        const result = { role: "tool", toolCallId: "call_a", content: [{ type: "text", text: "ok" }] } as const
        const messages = [...asked("hello").messages, { role: "assistant", content: [], toolCalls } as const, result]
        for (const answer of both(provider, beside(chatCall({ conversation: asked("", { messages }) })))) {
          const { finish, reasoning, text, usage: used } = yield* answer
          assert.deepStrictEqual([text, reasoning, finish], ["Grüß dich", "hm", "stop"])
          assert.deepInclude(used, { input: 7, output: 9 })
        }
      }).pipe(Effect.scoped)
    )

    const event = (type: string, more: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
    hostSuite(it, {
      adapter: (origin) =>
        Effect.map(adapter(`${origin}/v1/`), (provider) => ({
          ...provider,
          chat: (call) => provider.chat(beside(call)),
          chatStream: (call) => provider.chatStream(beside(call))
        })),
      head: event("response.created", { response: { status: "in_progress" } }),
      delta: (text) => event("response.output_text.delta", { delta: text }),
      stop: event("response.completed", { response: { status: "completed" } }),
      end: "",
      whole: (text) => ({
        status: "completed",
        output: [{ type: "message", content: [{ type: "output_text", text }] }]
      }),
      error: [
        event("error", { code: "server_error", message: "overloaded" }),
        { _tag: "ServerError", status: 500, detail: "overloaded" }
      ],
      refusal: (message) => ({ error: { message } }),
      credentialOf: ({ authorization }) => authorization?.replace(/^Bearer /, "")
    })
  })
})
