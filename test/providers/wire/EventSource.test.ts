/** Hosts whose bodies differ from their headers or from what was requested: every adapter reads the body that came. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import type { ServerResponse } from "node:http"
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import { emptyOutput, type Output, OutputFold } from "../../../src/domain/Output.ts"
import { Outbound } from "../../../src/platform/outbound/Outbound.ts"
import { PublicFetch } from "../../../src/platform/outbound/PublicFetch.ts"
import { makeAnthropic } from "../../../src/providers/anthropic/Anthropic.ts"
import { makeGemini } from "../../../src/providers/gemini/Gemini.ts"
import { makeOpenAi } from "../../../src/providers/openai/OpenAi.ts"
import type { ChatCall, Provider } from "../../../src/providers/Provider.ts"
import type { ProviderFault } from "../../../src/providers/ProviderError.ts"
import { makeXai } from "../../../src/providers/xai/Xai.ts"
import { asked } from "../../support/Conversations.ts"
import { candidate, chatCall } from "../calls.ts"
import { both, faultOf, streamed } from "../suite.ts"
import { upstream } from "../upstream.ts"

/** How one adapter's host encodes an answer. */
interface Wire {
  readonly name: string
  readonly make: (origin: string) => Effect.Effect<Provider, never, Outbound>
  readonly call: ChatCall
  /** Events up to a text, and those from there to the end. */
  readonly head: string
  readonly tail: string
  readonly whole: object
}

const fetching = PublicFetch.layerFrom({ allowLoopback: true })
const apiKey = Redacted.make("sk-planted")
const TEXT = "Grüß dich 😀"
const event = (data: object | string, name?: string) =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`

const chat = {
  call: chatCall(),
  head: event({ choices: [{ index: 0, delta: { role: "assistant", content: TEXT } }] }),
  tail: [
    event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }),
    event({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 9 } })
  ].join(""),
  whole: {
    choices: [{ index: 0, message: { role: "assistant", content: TEXT }, finish_reason: "stop" }],
    usage: { prompt_tokens: 7, completion_tokens: 9 }
  }
}

const message = { type: "message", content: [{ type: "output_text", text: TEXT }] }
const response = {
  object: "response",
  status: "completed",
  output: [message],
  usage: { input_tokens: 7, output_tokens: 9 }
}

const wires: ReadonlyArray<Wire> = [
  {
    ...chat,
    name: "OpenAI's chat",
    make: (origin) =>
      makeOpenAi({ id: "up", baseUrl: `${origin}/v1`, apiKey, flavour: "openai", stopsBillingOnAbort: true })
  },
  {
    ...chat,
    name: "a compatible host",
    make: (origin) =>
      makeOpenAi({ id: "up", baseUrl: `${origin}/v1`, apiKey, flavour: "compatible", stopsBillingOnAbort: true })
  },
  {
    ...chat,
    name: "xAI",
    make: (origin) => Effect.provide(makeXai({ id: "up", baseUrl: `${origin}/v1`, apiKey }), fetching)
  },
  {
    name: "OpenAI's responses",
    make: (origin) =>
      makeOpenAi({ id: "up", baseUrl: `${origin}/v1`, apiKey, flavour: "openai", stopsBillingOnAbort: true }),
    call: chatCall({
      candidate: candidate("up", { upstreamId: "gpt-5.4-mini", model: { capabilities: ["tools", "reasoning"] } }),
      conversation: asked("hello", {
        reasoning: { effort: "high" },
        tools: [{ name: "f", description: undefined, parameters: { type: "object" }, strict: undefined }]
      } as never)
    }),
    head: event({ type: "response.output_text.delta", output_index: 0, delta: TEXT }, "response.output_text.delta"),
    tail: event({ type: "response.completed", response: { ...response, output: [message] } }, "response.completed"),
    whole: response
  },
  {
    name: "Anthropic",
    make: (origin) => makeAnthropic({ id: "up", baseUrl: origin, apiKey, stopsBillingOnAbort: true }),
    call: chatCall(),
    head: [
      event({ type: "message_start", message: { usage: { input_tokens: 7, output_tokens: 1 } } }, "message_start"),
      event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
      event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: TEXT } })
    ].join(""),
    tail: [
      event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } }),
      event({ type: "message_stop" }, "message_stop")
    ].join(""),
    whole: {
      type: "message",
      content: [{ type: "text", text: TEXT }],
      stop_reason: "end_turn",
      usage: { input_tokens: 7, output_tokens: 9 }
    }
  },
  {
    name: "Gemini",
    make: (origin) => makeGemini({ id: "up", baseUrl: origin, apiKey, stopsBillingOnAbort: true }),
    call: chatCall(),
    head: event({ candidates: [{ content: { parts: [{ text: TEXT }] } }] }),
    tail: event({
      candidates: [{ finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 9 }
    }),
    whole: {
      candidates: [{ content: { parts: [{ text: TEXT }] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 9 }
    }
  }
]

const expected: Output = {
  ...emptyOutput,
  text: TEXT,
  finish: "stop",
  usage: { input: 7, cached: 0, cacheWrite: 0, output: 9, reasoning: 0 }
}

/** A body, written in these pieces, with headers that may not match it. */
interface Odd {
  readonly name: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: (wire: Wire) => ReadonlyArray<string | Uint8Array>
}

const sse = { "content-type": "text/event-stream" }
const json = { "content-type": "application/json" }
const eventsOf = ({ head, tail }: Wire) => head + tail
const wholeOf = ({ whole }: Wire) => JSON.stringify(whole)

const codecs: ReadonlyArray<readonly [name: string, pack: (text: string) => Buffer, announced: boolean]> = [
  ["gzip", gzipSync, true],
  ["gzip", gzipSync, false],
  ["br", brotliCompressSync, true],
  ["br", brotliCompressSync, false],
  ["zstd", zstdCompressSync, true],
  ["zstd", zstdCompressSync, false],
  ["deflate", deflateSync, true],
  ["deflate", deflateRawSync, true]
]

const halves = (bytes: Uint8Array) =>
  [1, bytes.length >> 1, bytes.length].map((to, at, all) => bytes.subarray(all[at - 1] ?? 0, to))

const packed = (kind: string, textOf: (wire: Wire) => string, type: Readonly<Record<string, string>>) =>
  codecs.map(([codec, pack, announced], at): Odd => ({
    name: `${kind} in ${codec} (${announced ? "announced" : "not announced"}, ${at})`,
    headers: announced ? { ...type, "content-encoding": codec } : type,
    body: (wire) => halves(pack(textOf(wire)))
  }))

const odds: ReadonlyArray<Odd> = [
  { name: "events under application/json", headers: json, body: (wire) => [eventsOf(wire)] },
  { name: "events under text/plain", headers: { "content-type": "text/plain" }, body: (wire) => [eventsOf(wire)] },
  { name: "events under no type", headers: {}, body: (wire) => [wire.head, wire.tail] },
  {
    name: "events declared as compressed but plain",
    headers: { ...sse, "content-encoding": "br" },
    body: (wire) => [eventsOf(wire).slice(0, 3), eventsOf(wire).slice(3)]
  },
  { name: "events after a byte order mark", headers: json, body: (wire) => ["\uFEFF", eventsOf(wire)] },
  {
    name: "events after blank lines and comments",
    headers: sse,
    body: (wire) => ["\n\n", ": hi\n\n", eventsOf(wire)]
  },
  { name: "events without a blank line after the last", headers: sse, body: (wire) => [eventsOf(wire).slice(0, -1)] },
  { name: "events without a line end after the last", headers: sse, body: (wire) => [eventsOf(wire).slice(0, -2)] },
  { name: "a complete answer under text/event-stream", headers: sse, body: (wire) => [wholeOf(wire)] },
  { name: "a complete answer under application/json", headers: json, body: (wire) => [wholeOf(wire)] },
  {
    name: "a complete answer after whitespace",
    headers: json,
    body: (wire) => [" ".repeat(40), "\n".repeat(9), wholeOf(wire)]
  },
  { name: "a complete answer after a byte order mark", headers: json, body: (wire) => [`\uFEFF${wholeOf(wire)}`] },
  { name: "a complete answer as the only event", headers: sse, body: (wire) => [event(wire.whole)] },
  ...packed("events", eventsOf, sse),
  ...packed("a complete answer", wholeOf, json)
]

/** Writes the pieces one by one, each in its own turn of the event loop. */
const write = (answer: ServerResponse, pieces: ReadonlyArray<string | Uint8Array>): void => {
  const [piece, ...rest] = pieces
  if (piece === undefined) return void answer.end()
  answer.write(piece)
  setTimeout(write, 2, answer, rest)
}

const answering = (wire: Wire, headers: Odd["headers"], pieces: ReadonlyArray<string | Uint8Array>) =>
  Effect.flatMap(
    upstream((request, answer) => {
      request.resume()
      request.on("end", () => write(answer.writeHead(200, headers), pieces))
    }),
    ({ origin }) => wire.make(origin)
  )

const error = { message: "it broke", code: 503 }
const flat = { message: "it broke", code: 503 }

/** How hosts report a failure in a 200 answer. */
const errors: ReadonlyArray<readonly [name: string, frame: string]> = [
  ["an error field", event({ error })],
  ["an event named error with an error field", event({ error }, "error")],
  ["an event named error with a flat object", event(flat, "error")],
  ["an event named error with plain text", event("it broke", "error")],
  ["a flat object of the kind error", event({ object: "error", ...flat })],
  ["a flat object of the type error", event({ type: "error", ...flat })],
  ["an object of the type error with an error field", event({ type: "error", error })],
  ["an error field with plain text", event({ error: "it broke" })],
  ["a message field only", event({ message: "it broke", status: 503 })],
  ["an error without a blank line", event({ error }, "error").slice(0, -2)]
]

const isBroken = (fault: ProviderFault) => fault._tag === "ServerError" && fault.detail.includes("it broke")

layer(Outbound.layer, { excludeTestServices: true })("odd bodies", (it) => {
  for (const wire of wires) {
    describe(wire.name, () => {
      for (const { body, headers, name } of odds) {
        it.effect(`reads ${name}, requested as a stream or not`, () =>
          Effect.gen(function* () {
            const provider = yield* answering(wire, headers, body(wire))
            for (const answer of both(provider, wire.call)) assert.deepStrictEqual(yield* answer, expected)
          }).pipe(Effect.scoped)
        )
      }

      for (const [name, frame] of errors) {
        it.effect(`reports ${name} as a failure, before an answer and within it`, () =>
          Effect.gen(function* () {
            for (const end of frame.endsWith("\n\n") ? ["", event("[DONE]"), wire.tail] : [""]) {
              const early = yield* answering(wire, sse, [frame + end])
              for (const answer of both(early, wire.call)) {
                const fault = yield* faultOf(answer)
                assert.isTrue(isBroken(fault), JSON.stringify([end, fault]))
              }
              const late = yield* answering(wire, sse, [wire.head + frame + end])
              const events = new OutputFold()
              const failed = yield* Effect.flip(
                Effect.scoped(
                  Effect.gen(function* () {
                    const source = yield* late.chatStream(wire.call)
                    yield* source.each((all) => {
                      for (const one of all) events.push(one)
                      return true
                    })
                  })
                )
              )
              assert.isTrue(isBroken(failed.fault), JSON.stringify([end, failed.fault]))
              assert.strictEqual(events.output().text, TEXT)
            }
          }).pipe(Effect.scoped)
        )
      }

      it.effect("reports a body that is neither events nor a complete answer as a failure", () =>
        Effect.gen(function* () {
          for (const [headers, body] of [
            [json, "<html>no</html>"],
            [sse, "<html>no</html>"],
            [sse, ""],
            [json, ""],
            [json, " ".repeat(99)],
            [{ ...json, "content-encoding": "gzip" }, gzipSync(eventsOf(wire)).subarray(0, 20)],
            [sse, eventsOf(wire).slice(0, wire.head.length)],
            [sse, `${wire.head}data: {"cut": `]
          ] as const) {
            const provider = yield* answering(wire, headers, [body])
            for (const answer of both(provider, wire.call)) {
              const { _tag } = yield* faultOf(answer)
              assert.include(["Malformed", "Broken"], _tag, String(body))
            }
          }
        }).pipe(Effect.scoped)
      )

      it.effect("decodes a compressed stream into separate events", () =>
        Effect.gen(function* () {
          const body = gzipSync(eventsOf(wire))
          const provider = yield* answering(wire, sse, [body])
          const all = yield* streamed(provider, wire.call)
          assert.isAtLeast(all.length, 3)
        }).pipe(Effect.scoped)
      )
    })
  }
})
