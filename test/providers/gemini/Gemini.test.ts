import type { LLMock } from "@copilotkit/aimock"
import { assert, describe, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Redacted, Scope } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { OutputFold } from "../../../src/domain/Output.ts"
import { Outbound } from "../../../src/platform/outbound/Outbound.ts"
import { makeGemini } from "../../../src/providers/gemini/Gemini.ts"
import type { ChatCall, Provider } from "../../../src/providers/Provider.ts"
import type { ProviderError } from "../../../src/providers/ProviderError.ts"
import { asked } from "../../support/Conversations.ts"
import { candidate, chatCall, clocks, drain, nextOf } from "../calls.ts"
import { one, simulation, simulationSuite } from "../simulation.ts"
import { RUNNING_MS } from "../suite.ts"
import { closedOrigin, upstream } from "../upstream.ts"

const KEY = "AIza-planted"

const adapter = (baseUrl: string) =>
  makeGemini({
    id: "up",
    baseUrl,
    apiKey: Redacted.make(KEY),
    stopsBillingOnAbort: false,
    headers: { "x-goog-user-project": "p" }
  })

const streamed = (provider: Provider, call: ChatCall) =>
  Effect.scoped(Effect.flatMap(provider.chatStream(call), drain)).pipe(Effect.map((batches) => batches.flat()))

/** Streams an answer and folds it, to compare it with a complete one. */
const folded = (provider: Provider, call: ChatCall) =>
  Effect.map(streamed(provider, call), (events) => {
    const fold = new OutputFold()
    for (const event of events) fold.push(event)
    return fold.output()
  })

const faultOf = <A, R>(effect: Effect.Effect<A, ProviderError, R>) =>
  Effect.map(Effect.flip(effect), (error) => error.fault)

const both = (provider: Provider, call: ChatCall) => [provider.chat(call), folded(provider, call)] as const

layer(Outbound.layer, { excludeTestServices: true })("Gemini", (it) => {
  describe("against an independent simulation of the API", () => {
    const simulated = (prepare: (mock: LLMock) => unknown, base = "") =>
      Effect.gen(function* () {
        const mock = yield* simulation(prepare)
        return { mock, provider: yield* adapter(`${mock.url}${base}`) }
      })

    for (const base of ["", "/", "/v1beta", "/v1beta/"]) {
      it.effect(`decodes a text, complete and streamed, with a base URL that ends in "${base}"`, () =>
        Effect.gen(function* () {
          const { mock, provider } = yield* simulated(
            one({ content: "Grüß dich, Welt 😀", usage: { prompt_tokens: 7, completion_tokens: 9 } }),
            base
          )
          const call = chatCall({ candidate: candidate("up", { upstreamId: "gemini-3.8-flash" }) })
          for (const answer of both(provider, call)) {
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
          assert.deepStrictEqual(
            mock.getRequests().map(({ path }) => path),
            [
              "/v1beta/models/gemini-3.8-flash:generateContent",
              "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse"
            ]
          )
          assert.strictEqual(mock.getLastRequest()?.headers["content-type"], "application/json")
          assert.deepInclude(mock.getLastRequest()?.body, { max_tokens: 1_000, stream: true })
          assert.strictEqual((yield* streamed(provider, call)).filter((event) => event._tag === "Text").length, 5)
        }).pipe(Effect.scoped)
      )
    }

    it.effect("decodes parallel tool calls, complete and streamed, and sends their results in the next round", () =>
      Effect.gen(function* () {
        const toolCalls = [
          { id: "call_a", name: "weather", arguments: '{"city":"Paris"}' },
          { id: "call_b", name: "time", arguments: '{"zone":"CET"}' }
        ]
        const { provider } = yield* simulated((mock) =>
          mock.onToolResult("call_b", { content: "all done" }).onMessage("hello", { toolCalls })
        )
        const tools = ["weather", "time"].map((name) => ({
          name,
          description: undefined,
          parameters: { type: "object" },
          strict: undefined
        }))
        for (const answer of both(provider, chatCall({ conversation: asked("hello", { tools }) }))) {
          const output = yield* answer
          assert.deepStrictEqual(output.toolCalls, toolCalls)
          assert.strictEqual(output.finish, "tool_calls")
        }
        const results = toolCalls.map(
          ({ id }) => ({ role: "tool", toolCallId: id, content: [{ type: "text", text: "ok" }] }) as const
        )
        const second = asked("", {
          tools,
          messages: [...asked("hello").messages, { role: "assistant", content: [], toolCalls }, ...results]
        })
        assert.strictEqual((yield* provider.chat(chatCall({ conversation: second }))).text, "all done")
      }).pipe(Effect.scoped)
    )

    it.effect("decodes thoughts, the finish reason length, and usage", () =>
      Effect.gen(function* () {
        const { provider } = yield* simulated(
          one({
            content: "Hello",
            reasoning: "hm",
            finishReason: "length",
            usage: { promptTokenCount: 100, candidatesTokenCount: 50, totalTokenCount: 150 }
          })
        )
        for (const answer of both(provider, chatCall())) {
          const output = yield* answer
          assert.deepInclude(output, { text: "Hello", reasoning: "hm", finish: "length" })
          assert.deepStrictEqual(output.usage, { input: 100, cached: 0, cacheWrite: 0, output: 50, reasoning: 0 })
        }
      }).pipe(Effect.scoped)
    )

    it.effect("decodes an answer that a content filter cut short", () =>
      Effect.gen(function* () {
        const { provider } = yield* simulated(one({ content: "Hello", finishReason: "content_filter" }))
        for (const answer of both(provider, chatCall())) {
          assert.deepInclude(yield* answer, { text: "Hello", finish: "content_filter" })
        }
      }).pipe(Effect.scoped)
    )

    simulationSuite(it, { adapter: adapter, malformed: "the answer is not a JSON object", chunks: 3 })

    it.effect("reads an error by its status name", () =>
      Effect.gen(function* () {
        const error = { message: "overloaded", type: "UNAVAILABLE" }
        const { provider } = yield* simulated(one({ error, status: 503 }))
        for (const answer of both(provider, chatCall())) {
          assert.deepStrictEqual(yield* faultOf(answer), { _tag: "ServerError", status: 503, detail: "overloaded" })
        }
      }).pipe(Effect.scoped)
    )
  })

  describe("against hosts with peculiarities", () => {
    const sse = (response: ServerResponse) => response.writeHead(200, { "content-type": "text/event-stream" })
    const data = (value: unknown) => `data: ${JSON.stringify(value)}\r\n\r\n`
    const said = (text: string, more: object = {}) => ({
      candidates: [{ content: { role: "model", parts: [{ text }] }, index: 0, ...more }]
    })
    const delta = (text: string) => data(said(text))
    const stop = data(said("", { finishReason: "STOP" }))

    const speaking = (say: (response: ServerResponse, request: IncomingMessage) => void) =>
      Effect.gen(function* () {
        const disconnected = yield* Deferred.make<void>()
        const host = yield* upstream((request, response) => {
          response.on("close", () => Deferred.doneUnsafe(disconnected, Exit.void))
          say(response, request)
        })
        return { host, disconnected: Deferred.await(disconnected), provider: yield* adapter(host.origin) }
      })

    /** Sends the chunks one by one to a streaming request, and as one list to any other. */
    const speakingChunks = (chunks: ReadonlyArray<unknown>) =>
      speaking((response, { url }) => {
        if (url?.endsWith(":streamGenerateContent?alt=sse")) sse(response).end(chunks.map(data).join(""))
        else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(chunks))
      })

    it.effect("reports thoughts and cache hits separately, from totals that grow with every chunk", () =>
      Effect.gen(function* () {
        const usage = (candidatesTokenCount: number | undefined, thoughtsTokenCount: number | undefined) => ({
          usageMetadata: {
            promptTokenCount: 100,
            cachedContentTokenCount: 60,
            candidatesTokenCount,
            thoughtsTokenCount
          }
        })
        const thought = { candidates: [{ content: { parts: [{ text: "hm", thought: true }] } }] }
        const { provider } = yield* speakingChunks([
          { ...thought, ...usage(undefined, 20) },
          { ...said("a"), ...usage(3, 20) },
          { ...said("b"), ...usage(7, 20) },
          { ...said("", { finishReason: "STOP" }), ...usage(9, undefined) }
        ])
        for (const answer of both(provider, chatCall())) {
          const output = yield* answer
          assert.deepInclude(output, { text: "ab", reasoning: "hm", finish: "stop" })
          assert.deepStrictEqual(output.usage, { input: 40, cached: 60, cacheWrite: 0, output: 29, reasoning: 20 })
        }
      }).pipe(Effect.scoped)
    )

    it.effect("reports a blocked prompt as refused", () =>
      Effect.gen(function* () {
        const { provider } = yield* speakingChunks([
          { promptFeedback: { blockReason: "SAFETY" }, usageMetadata: { promptTokenCount: 5, totalTokenCount: 5 } }
        ])
        const fault = {
          _tag: "Refused",
          status: 400,
          detail: "the prompt was blocked (SAFETY)",
          about: "policy"
        } as const
        for (const answer of both(provider, chatCall())) assert.deepStrictEqual(yield* faultOf(answer), fault)
      }).pipe(Effect.scoped)
    )

    it.effect("ends normally when no usage follows the finish reason", () =>
      Effect.gen(function* () {
        const { provider } = yield* speaking((response) => sse(response).end(delta("a") + stop))
        assert.deepStrictEqual(yield* streamed(provider, chatCall()), [
          { _tag: "Text", text: "a" },
          { _tag: "Finish", reason: "stop" }
        ])
      }).pipe(Effect.scoped)
    )

    it.effect("fails after the content when no finish reason comes", () =>
      Effect.gen(function* () {
        const { provider } = yield* speaking((response) => sse(response).end(delta("a")))
        const source = yield* provider.chatStream(chatCall())
        assert.deepStrictEqual(yield* nextOf(source), [{ _tag: "Text", text: "a" }])
        assert.strictEqual((yield* faultOf(nextOf(source)))._tag, "Broken")
      }).pipe(Effect.scoped)
    )

    it.effect("loses no event when the connection closes or falls silent after the finish reason", () =>
      Effect.gen(function* () {
        const lost = yield* speaking((response) => sse(response).write(delta("a") + stop, () => response.destroy()))
        const silent = yield* speaking((response) => sse(response).write(delta("a") + stop))
        for (const { provider } of [lost, silent]) {
          const events = yield* streamed(provider, chatCall({ clocks: { ...clocks, idleMs: 20 } }))
          assert.deepStrictEqual(events.at(-1), { _tag: "Finish", reason: "stop" })
        }
      }).pipe(Effect.scoped)
    )

    it.effect("fails with an error in the stream after the content before it", () =>
      Effect.gen(function* () {
        const error = data({ error: { code: 503, message: "overloaded", status: "UNAVAILABLE" } })
        const { provider } = yield* speaking((response) => sse(response).end(delta("a") + error))
        const source = yield* provider.chatStream(chatCall())
        assert.deepStrictEqual(yield* nextOf(source), [{ _tag: "Text", text: "a" }])
        const fault = { _tag: "ServerError", status: 503, detail: "overloaded" } as const
        assert.deepStrictEqual(yield* faultOf(nextOf(source)), fault)
        assert.deepStrictEqual(yield* faultOf(nextOf(source)), fault)
      }).pipe(Effect.scoped)
    )

    it.effect("reads a stream that the host answers as one body or as a list", () =>
      Effect.gen(function* () {
        for (const body of [said("ab", { finishReason: "STOP" }), [said("a"), said("b", { finishReason: "STOP" })]]) {
          const { provider } = yield* speaking((response) => {
            response.writeHead(200, { "content-type": "application/json; charset=UTF-8" }).end(JSON.stringify(body))
          })
          assert.deepStrictEqual(yield* streamed(provider, chatCall()), [
            { _tag: "Text", text: "ab" },
            { _tag: "Finish", reason: "stop" }
          ])
        }
      }).pipe(Effect.scoped)
    )

    it.effect("reports an HTML page as malformed, complete and streamed", () =>
      Effect.gen(function* () {
        const { provider } = yield* speaking((response) => {
          response.writeHead(200, { "content-type": "text/html" }).end("<html>")
        })
        for (const answer of both(provider, chatCall())) {
          assert.strictEqual((yield* faultOf(answer))._tag, "Malformed")
        }
      }).pipe(Effect.scoped)
    )

    it.effect("reads the wait from the details of the error", () =>
      Effect.gen(function* () {
        const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.4s" }]
        const { provider } = yield* speaking((response) => {
          const error = { code: 429, message: "quota", status: "RESOURCE_EXHAUSTED", details }
          response.writeHead(429, { "content-type": "application/json" }).end(JSON.stringify([{ error }]))
        })
        for (const answer of both(provider, chatCall())) {
          assert.deepStrictEqual(yield* faultOf(answer), { _tag: "RateLimited", retryAfterSeconds: 35 })
        }
      }).pipe(Effect.scoped)
    )

    it.effect("times out on the clock that runs when the host is silent, and disconnects", () =>
      Effect.gen(function* () {
        const cases = [
          [() => {}, { ...clocks, firstTokenMs: RUNNING_MS }, "first_token"],
          [
            (response: ServerResponse) => sse(response).write(": wait\n\n"),
            { ...clocks, firstTokenMs: RUNNING_MS },
            "first_token"
          ],
          [(response: ServerResponse) => sse(response).write(delta("a")), { ...clocks, idleMs: RUNNING_MS }, "idle"],
          [(response: ServerResponse) => sse(response).write(delta("a")), { ...clocks, totalMs: RUNNING_MS }, "total"]
        ] as const
        for (const [say, given, clock] of cases) {
          const { provider, disconnected } = yield* speaking(say)
          const fault = yield* faultOf(streamed(provider, chatCall({ clocks: given })))
          assert.deepStrictEqual(fault, { _tag: "TimedOut", clock })
          yield* disconnected
        }
        const { provider, disconnected } = yield* speaking(() => {})
        const fault = yield* faultOf(provider.chat(chatCall({ clocks: { ...clocks, totalMs: RUNNING_MS } })))
        assert.deepStrictEqual(fault, { _tag: "TimedOut", clock: "total" })
        yield* disconnected
      }).pipe(Effect.scoped)
    )

    it.effect("disconnects from the host when the caller closes the stream or is interrupted", () =>
      Effect.gen(function* () {
        const { provider, disconnected } = yield* speaking((response) => sse(response).write(delta("a")))
        const scope = yield* Scope.make()
        const source = yield* Scope.provide(provider.chatStream(chatCall()), scope)
        yield* nextOf(source)
        yield* Scope.close(scope, Exit.void)
        yield* disconnected
        const arrived = yield* Deferred.make<void>()
        const silent = yield* speaking(() => Deferred.doneUnsafe(arrived, Exit.void))
        const fiber = yield* Effect.forkChild(silent.provider.chat(chatCall()))
        yield* Deferred.await(arrived)
        yield* Fiber.interrupt(fiber)
        yield* silent.disconnected
      }).pipe(Effect.scoped)
    )

    it.effect("reuses the connection of a stream that was read to its end", () =>
      Effect.gen(function* () {
        const outbound = Outbound.layerWith({ connectionsPerOrigin: 1, keepAliveMs: 30_000 })
        const host = yield* upstream((_, response) => sse(response).end(delta("a") + stop))
        yield* Effect.gen(function* () {
          const provider = yield* adapter(host.origin)
          for (let n = 0; n < 3; n++) yield* streamed(provider, chatCall())
        }).pipe(Effect.provide(outbound))
        assert.strictEqual(host.connections(), 1)
      }).pipe(Effect.scoped)
    )

    it.effect("reports a host that does not listen as unreachable", () =>
      Effect.gen(function* () {
        const provider = yield* adapter(yield* closedOrigin)
        for (const answer of both(provider, chatCall())) {
          assert.deepStrictEqual(yield* faultOf(answer), { _tag: "Unreachable", detail: "ECONNREFUSED" })
        }
      }).pipe(Effect.scoped)
    )

    it.effect("sends the credential as a header, and removes it from a host's error", () =>
      Effect.gen(function* () {
        const seen: Array<readonly [string | undefined, unknown, unknown]> = []
        const host = yield* upstream((request, response) => {
          const key = request.headers["x-goog-api-key"]
          seen.push([request.url, key, request.headers["x-goog-user-project"]])
          response.writeHead(400).end(JSON.stringify({ error: { message: `bad: ${String(key)}` } }))
        })
        const provider = yield* adapter(`${host.origin}/proxy`)
        const call = chatCall({ candidate: candidate("up", { upstreamId: "a/b:c?d" }) })
        for (const answer of both(provider, call)) {
          const fault = { _tag: "Refused", status: 400, detail: "bad: [secret]" } as const
          assert.deepStrictEqual(yield* faultOf(answer), fault)
        }
        const path = "/proxy/v1beta/models/a%2Fb%3Ac%3Fd"
        assert.deepStrictEqual(seen, [
          [`${path}:generateContent`, KEY, "p"],
          [`${path}:streamGenerateContent?alt=sse`, KEY, "p"]
        ])
      }).pipe(Effect.scoped)
    )
  })
})
