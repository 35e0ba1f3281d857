/**
 * Answers of providers that are made to cost the gateway memory or time. Each ends in an error, in bounded
 * time, and leaves no charge and no hold.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ServerResponse } from "node:http"
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import { upstream } from "../providers/upstream.ts"
import { post, startService } from "../support/Service.ts"

const ZEROS = Buffer.alloc(64 * 1_048_576, " ")

const packed = {
  gzip: gzipSync(ZEROS),
  deflate: deflateSync(ZEROS),
  br: brotliCompressSync(ZEROS, { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } }),
  zstd: zstdCompressSync(ZEROS)
}

const DEEP = `${"[".repeat(100_000)}${"]".repeat(100_000)}`

/** Writes endlessly, at the pace of the reader. */
const endless = (response: ServerResponse, piece: Buffer): void => {
  const more = () => {
    while (!response.destroyed) if (!response.write(piece)) return void response.once("drain", more)
  }
  more()
}

type Answer = (response: ServerResponse, streams: boolean) => void

const typed = (streams: boolean) => ({ "content-type": streams ? "text/event-stream" : "application/json" })

const whole =
  (json: string): Answer =>
  (response, streams) =>
    void response.writeHead(200, typed(streams)).end(streams ? `data: ${json}\n\ndata: [DONE]\n\n` : json)

const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 }

/** Returns an answer that calls a tool with these arguments, plain or streamed. */
const calling =
  (args: string): Answer =>
  (response, streams) => {
    const call = { index: 0, id: "call_1", type: "function", function: { name: "look", arguments: args } }
    const said = streams
      ? { delta: { tool_calls: [call] } }
      : { message: { role: "assistant", content: null, tool_calls: [call] } }
    whole(JSON.stringify({ choices: [{ index: 0, ...said, finish_reason: "tool_calls" }], usage }))(response, streams)
  }

const answers: Readonly<Record<string, Answer>> = {
  ...Object.fromEntries(
    Object.entries(packed).map(([encoding, body]): [string, Answer] => [
      `64 MB in ${encoding}`,
      (response, streams) => response.writeHead(200, { ...typed(streams), "content-encoding": encoding }).end(body)
    ])
  ),
  "an endless body": (response, streams) => {
    response.writeHead(200, typed(streams))
    endless(response, Buffer.alloc(65_536, " "))
  },
  "an endless event": (response, streams) => {
    response.writeHead(200, typed(streams)).write('data: {"choices":[{"index":0,"delta":{"content":"')
    endless(response, Buffer.alloc(65_536, "x"))
  },
  "endless headers": (response) => {
    response.socket?.write("HTTP/1.1 200 OK\r\n")
    const more = () => {
      while (response.socket?.destroyed === false) {
        if (!response.socket.write(`x: ${"x".repeat(1_000)}\r\n`)) return void response.socket.once("drain", more)
      }
    }
    more()
  },
  "100,000 arrays within each other": whole(`{"choices":${DEEP}}`),
  "deep content": whole(`{"choices":[{"index":0,"message":{"content":${DEEP}},"delta":{"content":${DEEP}}}]}`),
  "a million keys": whole(`{${Array.from({ length: 1_000_000 }, (_, at) => `"k${at}":1`).join()}}`),
  "a number of a million digits": whole(`{"choices":[],"usage":{"prompt_tokens":${"9".repeat(1_000_000)}}}`)
}

/** Valid answers whose tool calls have strange arguments. They are charged like any other. */
const strange: Readonly<Record<string, Answer>> = {
  "deep arguments of a tool": calling(`{"a":${DEEP}}`),
  "arguments of a million keys": calling(`{${Array.from({ length: 100_000 }, (_, at) => `"k${at}":1`).join()}}`)
}

const fine = whole(
  JSON.stringify({
    choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
    usage
  })
)

const messages = [{ role: "user", content: "Hello!" }]
const schema = { type: "object", properties: {} }

const calls: ReadonlyArray<readonly [path: string, body: object]> = [
  ["/chat/completions", { messages, tools: [{ type: "function", function: { name: "look", parameters: schema } }] }],
  ["/messages", { messages, max_tokens: 100, tools: [{ name: "look", input_schema: schema }] }],
  ["/responses", { input: "Hello!", tools: [{ type: "function", name: "look", parameters: schema }] }],
  ["/chat", { messages }]
]

/** Starts a gateway with a host that gives the current answer. */
const stage = Effect.gen(function* () {
  const state: { answer: Answer } = { answer: whole("{}") }
  const host = yield* upstream((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (piece: string) => (body += piece))
    response.on("error", () => undefined)
    request.on("end", () => state.answer(response, body.includes('"stream":true')))
  })
  const service = yield* startService({
    SANDBOX: "off",
    OPENAI_API_KEY: "key",
    OPENAI_BASE_URL: `${host.origin}/v1`,
    OUTBOUND_ALLOW_LOOPBACK: "1",
    UPSTREAM_FIRST_TOKEN_TIMEOUT: "5 seconds",
    UPSTREAM_IDLE_TIMEOUT: "5 seconds"
  })
  return { service, state, origin: host.origin, ...(yield* service.account(10)) }
})

const LONGEST_MS = 30_000

describe("a provider's answer that is expensive to read", () => {
  it.live(
    "fails in bounded time without a charge or a hold, plain and streamed, in every dialect",
    () =>
      Effect.gen(function* () {
        const { account, inferenceKey, service, state } = yield* stage
        const total = Effect.map(service.balance(account.id), ({ posted }) => posted)
        // Two good answers after each bomb, because an open breaker would keep the next one away.
        const good = Effect.gen(function* () {
          state.answer = fine
          for (let count = 0; count < 2; count++) {
            const { status } = yield* post(`${service.api}/chat/completions`, inferenceKey, {
              messages,
              model: "gpt-4o-mini"
            })
            assert.strictEqual(status, 200)
          }
        })
        const faults: Array<string> = []
        for (const [name, answer] of Object.entries({ ...answers, ...strange })) {
          for (const [path, body] of calls) {
            for (const stream of [false, true]) {
              state.answer = answer
              const label = `${name} to ${path}${stream ? " in a stream" : ""}`
              const before = yield* total
              const began = performance.now()
              const got = yield* post(`${service.api}${path}`, inferenceKey, { ...body, model: "gpt-4o-mini", stream })
              const text = yield* Effect.promise(() => got.text().catch((error) => `broke off: ${error}`))
              const tookMs = performance.now() - began
              if (tookMs > LONGEST_MS) faults.push(`${label}: ${Math.round(tookMs)} ms`)
              const isError = got.status >= 400 || /"error"|broke off/.test(text)
              if (name in answers && !isError) faults.push(`${label}: ${got.status} ${text.slice(0, 200)}`)
              if (got.status === 500 || /internal_error/.test(text))
                faults.push(`${label}: ${got.status} ${text.slice(0, 200)}`)
              const charged = before - (yield* total)
              if (name in answers && charged !== 0n) faults.push(`${label}: ${charged} were charged`)
              yield* good
            }
          }
          const { held } = yield* service.balance(account.id)
          if (held !== 0n) faults.push(`${name}: ${held} are still held`)
        }
        assert.deepStrictEqual(faults, [])
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped),
    600_000
  )
})

/** JSON texts that some wire formats send as JSON values. */
const written: Readonly<Record<string, string>> = {
  "objects within each other": `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`,
  "an object of arrays within each other": `{"a":${DEEP}}`,
  "an object of a million keys": `{${Array.from({ length: 1_000_000 }, (_, at) => `"k${at}":1`).join()}}`,
  "long numbers within each other": `${'{"a":'.repeat(100_000)}${"9".repeat(20)}${"}".repeat(100_000)}`
}

describe("a tool call or result with deeply nested JSON", () => {
  it.live("reaches the provider of every vendor without an internal error or a charge", () =>
    Effect.gen(function* () {
      let asked = 0
      const host = yield* upstream((request, response) => {
        request.resume().on("end", () => {
          asked += 1
          response.writeHead(400, { "content-type": "application/json" }).end('{"error":{"message":"no"}}')
        })
      })
      const service = yield* startService({
        SANDBOX: "off",
        ...Object.fromEntries(
          ["OPENAI", "ANTHROPIC", "GEMINI", "XAI"].flatMap((name) => [
            [`${name}_API_KEY`, "key"],
            [`${name}_BASE_URL`, host.origin]
          ])
        )
      })
      const { account, inferenceKey } = yield* service.account(10)
      const before = yield* service.balance(account.id)
      const models = ["gpt-4o-mini", "claude-sonnet-4-5", "gemini-2.5-flash", "grok-4"]
      const faults: Array<string> = []
      for (const [name, text] of Object.entries(written)) {
        for (const model of models) {
          for (const [args, result] of [
            [text, "fine"],
            ["{}", text]
          ] as const) {
            const call = { id: "c", type: "function", function: { name: "look", arguments: args } }
            const conversation = [
              ...messages,
              { role: "assistant", content: null, tool_calls: [call] },
              { role: "tool", tool_call_id: "c", content: result }
            ]
            const earlier = asked
            const got = yield* post(`${service.api}/chat/completions`, inferenceKey, { model, messages: conversation })
            const said = yield* Effect.promise(() => got.text())
            // Some texts are longer than the model's window.
            const isAsked = asked > earlier || /context_length_exceeded/.test(said)
            if (got.status === 500 || !isAsked) faults.push(`${name} to ${model}: ${got.status} ${said.slice(0, 200)}`)
          }
        }
      }
      assert.deepStrictEqual(faults, [])
      assert.isAbove(asked, models.length)
      assert.deepStrictEqual(yield* service.balance(account.id), before)
    }).pipe(Effect.scoped)
  )
})
