import { LLMock, type FixtureFileResponse } from "@copilotkit/aimock"
import { assert, describe, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Redacted, Scope } from "effect"
import type { ServerResponse } from "node:http"
import { OutputFold } from "../../../src/domain/Output.ts"
import { Outbound } from "../../../src/platform/Outbound.ts"
import { makeOpenAi, type OpenAiOptions } from "../../../src/providers/openai/OpenAi.ts"
import type { ChatCall, Provider, ProviderError } from "../../../src/providers/Provider.ts"
import { asked } from "../../support/Conversations.ts"
import { chatCall, clocks, drain, joined } from "../calls.ts"
import { nobody, upstream } from "../upstream.ts"

const adapter = (baseUrl: string, more: Partial<OpenAiOptions> = {}) =>
  makeOpenAi({
    id: "up",
    baseUrl,
    apiKey: Redacted.make("sk-planted"),
    flavour: "openai",
    stopsBillingOnAbort: true,
    ...more
  })

const streamed = (provider: Provider, call: ChatCall) =>
  Effect.scoped(Effect.flatMap(provider.chatStream(call), drain)).pipe(Effect.map((batches) => batches.flat()))

/** A streamed answer folded, for comparison with a whole one. */
const folded = (provider: Provider, call: ChatCall) =>
  Effect.map(streamed(provider, call), (events) => {
    const fold = new OutputFold()
    for (const event of events) fold.push(event)
    return fold.output()
  })

const faultOf = <A, R>(effect: Effect.Effect<A, ProviderError, R>) =>
  Effect.map(Effect.flip(effect), (error) => error.fault)

const both = (provider: Provider, call: ChatCall) => [provider.chat(call), folded(provider, call)] as const

layer(Outbound.layer, { excludeTestServices: true })("OpenAi", (it) => {
  describe("against an independent simulation of the wire", () => {
    const simulated = (prepare: (mock: LLMock) => unknown, base = "/v1", more: Partial<OpenAiOptions> = {}) =>
      Effect.gen(function* () {
        const mock = yield* Effect.acquireRelease(
          Effect.promise(async () => {
            const made = new LLMock({ port: 0, chunkSize: 4 })
            prepare(made)
            await made.start()
            return made
          }),
          (made) => Effect.promise(() => made.stop())
        )
        return { mock, provider: yield* adapter(`${mock.url}${base}`, more) }
      })

    const one = (response: FixtureFileResponse, options?: Parameters<LLMock["onMessage"]>[2]) => (mock: LLMock) =>
      mock.onMessage("hello", response, options)

    it.effect("a text, whole and streamed, with what was sent for it", () =>
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

    it.effect("parallel tool calls, whole and streamed, and the round with their results", () =>
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

    it.effect("reasoning, a stop at the cap, and usage with its parts", () =>
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

    it.effect("a format asked for, and the cap under its old name for hosts of open models", () =>
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

    const chaos = [
      ["a 500", { dropRate: 1 }, { _tag: "ServerError", status: 500, detail: "Chaos: request dropped" }],
      ["a 429 with its pause", { rateLimitRate: 1 }, { _tag: "RateLimited", retryAfterSeconds: 1 }],
      ["malformed JSON", { malformedRate: 1 }, { _tag: "Malformed", detail: "the body is not a JSON object" }],
      ["a connection lost before the answer", { disconnectRate: 1 }, { _tag: "Unreachable" }]
    ] as const
    for (const [name, rates, fault] of chaos) {
      it.effect(name, () =>
        Effect.gen(function* () {
          const { provider } = yield* simulated(one({ content: "Hello" }, { chaos: rates }))
          for (const answer of both(provider, chatCall())) assert.deepInclude(yield* faultOf(answer), fault)
        }).pipe(Effect.scoped)
      )
    }

    it.effect("an unknown model", () =>
      Effect.gen(function* () {
        const { provider } = yield* simulated(() => {})
        for (const answer of both(provider, chatCall())) {
          assert.deepStrictEqual(yield* faultOf(answer), { _tag: "Refused", status: 404, detail: "No fixture matched" })
        }
      }).pipe(Effect.scoped)
    )

    it.effect("a stream cut in the middle", () =>
      Effect.gen(function* () {
        const { provider } = yield* simulated(
          one({ content: "Hello wide world" }, { latency: 5, truncateAfterChunks: 3 })
        )
        const source = yield* provider.chatStream(chatCall())
        let text = ""
        const fault = yield* faultOf(
          Effect.forever(Effect.tap(source.next, (events) => Effect.sync(() => (text += joined(events ?? [], "Text")))))
        )
        assert.strictEqual(fault._tag, "Broken")
        assert.include(["Hell", "Hello wi"], text)
      }).pipe(Effect.scoped)
    )
  })

  describe("against hosts with ways of their own", () => {
    const sse = (response: ServerResponse) => response.writeHead(200, { "content-type": "text/event-stream" })
    const delta = (text: string) => `data: ${JSON.stringify({ choices: [{ delta: { content: text } }] })}\n\n`
    const stop = `data: ${JSON.stringify({ choices: [{ delta: {}, finish_reason: "stop" }] })}\n\n`

    const speaking = (say: (response: ServerResponse) => void, more: Partial<OpenAiOptions> = {}) =>
      Effect.gen(function* () {
        const hungUp = yield* Deferred.make<void>()
        const host = yield* upstream((_, response) => {
          response.on("close", () => Deferred.doneUnsafe(hungUp, Exit.void))
          say(response)
        })
        return { host, hungUp: Deferred.await(hungUp), provider: yield* adapter(`${host.origin}/v1/`, more) }
      })

    it.effect("no usage and no [DONE] after a finish is an end", () =>
      Effect.gen(function* () {
        const { provider } = yield* speaking((response) => sse(response).end(delta("a") + stop))
        const events = yield* streamed(provider, chatCall())
        assert.deepStrictEqual(events, [
          { _tag: "Text", text: "a" },
          { _tag: "Finish", reason: "stop" }
        ])
      }).pipe(Effect.scoped)
    )

    it.effect("neither a finish nor [DONE] is a break, after the content", () =>
      Effect.gen(function* () {
        const { provider } = yield* speaking((response) => sse(response).end(delta("a")))
        const source = yield* provider.chatStream(chatCall())
        assert.deepStrictEqual(yield* source.next, [{ _tag: "Text", text: "a" }])
        assert.strictEqual((yield* faultOf(source.next))._tag, "Broken")
      }).pipe(Effect.scoped)
    )

    it.effect("a connection lost after the finish loses the usage alone", () =>
      Effect.gen(function* () {
        const { provider } = yield* speaking((response) => {
          sse(response).write(delta("a") + stop, () => response.destroy())
        })
        const events = yield* streamed(provider, chatCall())
        assert.deepStrictEqual(events.at(-1), { _tag: "Finish", reason: "stop" })
      }).pipe(Effect.scoped)
    )

    it.effect("an error in the stream comes after the content before it", () =>
      Effect.gen(function* () {
        const error = `data: ${JSON.stringify({ error: { message: "overloaded", code: 503 } })}\n\n`
        const { provider } = yield* speaking((response) => sse(response).end(delta("a") + error))
        const source = yield* provider.chatStream(chatCall())
        assert.deepStrictEqual(yield* source.next, [{ _tag: "Text", text: "a" }])
        const fault = { _tag: "ServerError", status: 503, detail: "overloaded" } as const
        assert.deepStrictEqual(yield* faultOf(source.next), fault)
        assert.deepStrictEqual(yield* faultOf(source.next), fault)
      }).pipe(Effect.scoped)
    )

    it.effect("a host that answers a stream whole is read whole", () =>
      Effect.gen(function* () {
        const body = { choices: [{ message: { content: "whole" }, finish_reason: "stop" }] }
        const { provider } = yield* speaking((response) => {
          response.writeHead(200, { "content-type": "application/json; charset=utf-8" }).end(JSON.stringify(body))
        })
        assert.deepStrictEqual(yield* streamed(provider, chatCall()), [
          { _tag: "Text", text: "whole" },
          { _tag: "Finish", reason: "stop" }
        ])
      }).pipe(Effect.scoped)
    )

    it.effect("a page of HTML is malformed, whole and streamed", () =>
      Effect.gen(function* () {
        const { provider } = yield* speaking((response) => {
          response.writeHead(200, { "content-type": "text/html" }).end("<html>")
        })
        for (const answer of both(provider, chatCall())) {
          assert.strictEqual((yield* faultOf(answer))._tag, "Malformed")
        }
      }).pipe(Effect.scoped)
    )

    it.effect("silence strikes the clock that runs, and hangs up", () =>
      Effect.gen(function* () {
        const cases = [
          [() => {}, { ...clocks, firstTokenMs: 20 }, "first_token"],
          [
            (response: ServerResponse) => sse(response).write(": wait\n\n"),
            { ...clocks, firstTokenMs: 20 },
            "first_token"
          ],
          [(response: ServerResponse) => sse(response).write(delta("a")), { ...clocks, idleMs: 20 }, "idle"],
          [(response: ServerResponse) => sse(response).write(delta("a")), { ...clocks, totalMs: 20 }, "total"]
        ] as const
        for (const [say, given, clock] of cases) {
          const { provider, hungUp } = yield* speaking(say)
          const fault = yield* faultOf(streamed(provider, chatCall({ clocks: given })))
          assert.deepStrictEqual(fault, { _tag: "TimedOut", clock })
          yield* hungUp
        }
        const { provider, hungUp } = yield* speaking(() => {})
        const fault = yield* faultOf(provider.chat(chatCall({ clocks: { ...clocks, totalMs: 20 } })))
        assert.deepStrictEqual(fault, { _tag: "TimedOut", clock: "total" })
        yield* hungUp
      }).pipe(Effect.scoped)
    )

    it.effect("a caller who turns away hangs up", () =>
      Effect.gen(function* () {
        const { provider, hungUp } = yield* speaking((response) => sse(response).write(delta("a")))
        const scope = yield* Scope.make()
        const source = yield* Scope.provide(provider.chatStream(chatCall()), scope)
        yield* source.next
        yield* Scope.close(scope, Exit.void)
        yield* hungUp
        const arrived = yield* Deferred.make<void>()
        const silent = yield* speaking(() => Deferred.doneUnsafe(arrived, Exit.void))
        const fiber = yield* Effect.forkChild(silent.provider.chat(chatCall()))
        yield* Deferred.await(arrived)
        yield* Fiber.interrupt(fiber)
        yield* silent.hungUp
      }).pipe(Effect.scoped)
    )

    it.effect("a stream read to its end leaves its connection to the next call", () =>
      Effect.gen(function* () {
        let ended: (() => void) | undefined
        const outbound = Outbound.layerWith({ connectionsPerOrigin: 1, keepAliveMs: 30_000 })
        const host = yield* upstream((_, response) => {
          sse(response).write(`${delta("a")}${stop}data: [DONE]\n\n`)
          ended = () => response.end()
        })
        yield* Effect.gen(function* () {
          const provider = yield* adapter(`${host.origin}/v1`)
          for (let n = 0; n < 3; n++) {
            yield* streamed(provider, chatCall())
            ended?.()
          }
        }).pipe(Effect.provide(outbound))
        assert.strictEqual(host.connections(), 1)
      }).pipe(Effect.scoped)
    )

    it.effect("a host that is not there", () =>
      Effect.gen(function* () {
        const provider = yield* adapter(`${yield* nobody}/v1`)
        for (const answer of both(provider, chatCall())) {
          assert.deepStrictEqual(yield* faultOf(answer), { _tag: "Unreachable", detail: "ECONNREFUSED" })
        }
      }).pipe(Effect.scoped)
    )

    it.effect("a host that repeats the credential does not get it further", () =>
      Effect.gen(function* () {
        let authorization: string | undefined
        const host = yield* upstream((request, response) => {
          authorization = request.headers.authorization
          response.writeHead(400).end(JSON.stringify({ error: { message: `bad: ${authorization}` } }))
        })
        const provider = yield* adapter(host.origin)
        for (const answer of both(provider, chatCall())) {
          const fault = { _tag: "Refused", status: 400, detail: "bad: Bearer [secret]" } as const
          assert.deepStrictEqual(yield* faultOf(answer), fault)
        }
        assert.strictEqual(authorization, "Bearer sk-planted")
      }).pipe(Effect.scoped)
    )
  })
})
