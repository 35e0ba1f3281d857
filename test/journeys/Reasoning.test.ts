/** Two turns with reasoning: each vendor's host gets back its own reasoning, and not another vendor's, in every dialect. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import type { IncomingMessage } from "node:http"
import { join } from "node:path"
import { upstream } from "../providers/upstream.ts"
import { json, post, type Service, startService } from "../support/Service.ts"
import { temporaryDirectory } from "../support/Directories.ts"
import { dataOf, type Frame } from "../support/Streams.ts"

interface Vendor {
  readonly model: string
  /** The plain answers to the first turn, and to the turn with the tool result. */
  readonly think: object
  readonly done: object
  /** The events of the first answer when it is streamed. */
  readonly stream: ReadonlyArray<object | string>
  /** Returns the reasoning in the request of the second turn. */
  readonly back: (body: Frame) => unknown
  readonly own: unknown
  /** The same when another vendor made the first turn. */
  readonly none: unknown
}

const call = { city: "Oslo" }
const usage = { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 }
const thinking = { type: "thinking", thinking: "hm", signature: "claudes" }
const redacted = { type: "redacted_thinking", data: "hidden" }
const use = { type: "tool_use", id: "toolu_1", name: "weather", input: call }
const claudeUsage = { input_tokens: 9, output_tokens: 9 }
const geminiUsage = { promptTokenCount: 9, candidatesTokenCount: 9, totalTokenCount: 18 }
const parts = [
  { text: "hm", thought: true },
  { functionCall: { id: "fc1", name: "weather", args: call }, thoughtSignature: "geminis" }
]
const gemini = (all: ReadonlyArray<object>) => ({
  candidates: [{ content: { role: "model", parts: all }, finishReason: "STOP" }],
  usageMetadata: geminiUsage
})
const item = {
  type: "reasoning",
  id: "rs_1",
  summary: [{ type: "summary_text", text: "hm" }],
  encrypted_content: "gpts"
}
const called = {
  type: "function_call",
  id: "fc_1",
  call_id: "call_1",
  name: "weather",
  arguments: JSON.stringify(call)
}
const response = (output: ReadonlyArray<object>) => ({
  status: "completed",
  output,
  usage: { input_tokens: 9, output_tokens: 9, total_tokens: 18 }
})
const tool_calls = [
  { index: 0, id: "call_d", type: "function", function: { name: "weather", arguments: JSON.stringify(call) } }
]
const chatAnswer = (message: object, finish_reason: string) => ({
  choices: [{ index: 0, message, finish_reason }],
  usage
})
const assistantIn = (messages: ReadonlyArray<Frame>): Frame => messages.find(({ role }) => role === "assistant")

const vendors: Readonly<Record<"anthropic" | "gemini" | "openai" | "deepseek", Vendor>> = {
  anthropic: {
    model: "claude-sonnet-4-5",
    think: { content: [thinking, redacted, use], stop_reason: "tool_use", usage: claudeUsage },
    done: { content: [{ type: "text", text: "cold" }], stop_reason: "end_turn", usage: claudeUsage },
    stream: [
      { type: "message_start", message: { content: [], usage: { input_tokens: 9, output_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "hm" } },
      { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "claudes" } },
      { type: "content_block_stop", index: 0 },
      { type: "content_block_start", index: 1, content_block: redacted },
      { type: "content_block_stop", index: 1 },
      { type: "content_block_start", index: 2, content_block: use },
      { type: "content_block_stop", index: 2 },
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: claudeUsage },
      { type: "message_stop" }
    ],
    back: ({ messages, thinking: asked }) => [
      asked?.type,
      assistantIn(messages).content.map((block: Frame) => (block.type === "tool_use" ? block.type : block))
    ],
    own: ["enabled", [thinking, redacted, "tool_use"]],
    // Without the thinking of the first turn, Anthropic refuses thinking in the second.
    none: [undefined, ["tool_use"]]
  },
  gemini: {
    model: "gemini-2.5-flash",
    think: gemini(parts),
    done: gemini([{ text: "cold" }]),
    stream: [gemini(parts)],
    back: ({ contents }) =>
      contents.find(({ role }: Frame) => role === "model").parts.map((part: Frame) => part.thoughtSignature),
    own: ["geminis"],
    none: [undefined]
  },
  openai: {
    model: "gpt-5.5",
    think: response([item, called]),
    done: response([{ type: "message", role: "assistant", content: [{ type: "output_text", text: "cold" }] }]),
    stream: [
      { type: "response.output_item.added", output_index: 0, item: { ...item, summary: [], encrypted_content: "" } },
      { type: "response.reasoning_summary_text.delta", output_index: 0, summary_index: 0, delta: "hm" },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.output_item.added", output_index: 1, item: { ...called, arguments: "" } },
      { type: "response.output_item.done", output_index: 1, item: called },
      { type: "response.completed", response: response([item, called]) }
    ],
    back: ({ include, input }) => [include, input.filter(({ type }: Frame) => type === "reasoning")],
    own: [["reasoning.encrypted_content"], [item]],
    none: [["reasoning.encrypted_content"], []]
  },
  deepseek: {
    model: "deepseek-v4-pro",
    think: chatAnswer({ role: "assistant", content: "", reasoning_content: "hm", tool_calls }, "tool_calls"),
    done: chatAnswer({ role: "assistant", content: "cold" }, "stop"),
    stream: [
      { choices: [{ index: 0, delta: { role: "assistant", reasoning_content: "hm" } }] },
      { choices: [{ index: 0, delta: { tool_calls } }] },
      { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }], usage },
      "[DONE]"
    ],
    back: ({ messages }) => assistantIn(messages).reasoning_content,
    own: "hm",
    none: " "
  }
}

type Name = keyof typeof vendors
const names = Object.keys(vendors) as ReadonlyArray<Name>

const bodyOf = (request: IncomingMessage) =>
  new Promise<string>((resolve) => {
    let body = ""
    request.on("data", (chunk) => (body += chunk))
    request.on("end", () => resolve(body))
  })

/** A vendor's host that reasons and calls a tool, and answers after the tool result. It records the requests. */
const hostOf = ({ done, stream, think }: Vendor) =>
  Effect.gen(function* () {
    const sent: Array<Frame> = []
    const host = yield* upstream((request, reply) => {
      void bodyOf(request).then((text) => {
        const body = JSON.parse(text)
        sent.push(body)
        const answered = /"(tool_result|functionResponse|function_call_output|tool_call_id)"/.test(text)
        const streams = body.stream === true || request.url?.includes("stream") === true
        if (answered || !streams) return reply.end(JSON.stringify(answered ? done : think))
        reply.writeHead(200, { "content-type": "text/event-stream" })
        const written = (event: object | string) => (typeof event === "string" ? event : JSON.stringify(event))
        return reply.end(stream.map((event) => `data: ${written(event)}\n\n`).join(""))
      })
    })
    return { origin: host.origin, last: () => sent.at(-1) }
  })

interface Dialect {
  readonly path: string
  readonly ask: (model: string, stream: boolean) => object
  /** Returns the next request: the unchanged answer and the tool result. */
  readonly next: (asked: Frame, answer: Frame, model: string) => object
  /** Assembles the answer from a stream as a client of the dialect does. */
  readonly fold: (all: ReadonlyArray<Frame>) => Frame
}

const user = { role: "user", content: "How warm is it in Oslo?" }
const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }

const dialects: Readonly<Record<string, Dialect>> = {
  chat: {
    path: "/chat/completions",
    ask: (model, stream) => ({
      model,
      stream,
      max_tokens: 4_000,
      messages: [user],
      reasoning: { effort: "high" },
      tools: [{ type: "function", function: { name: "weather", parameters } }]
    }),
    next: (asked, answer, model) => {
      const { message } = answer.choices[0]
      const result = { role: "tool", tool_call_id: message.tool_calls[0].id, content: "-3" }
      return { ...asked, model, stream: false, messages: [user, message, result] }
    },
    fold: (all) => {
      const deltas = all.flatMap((frame) => (frame === "[DONE]" ? [] : frame.choices.map((one: Frame) => one.delta)))
      const joined = (name: string) => deltas.map((delta) => delta[name] ?? "").join("")
      const calls = deltas.flatMap((delta) => delta.tool_calls ?? [])
      const said = calls.map((one) => one.function.arguments ?? "").join("")
      const message = {
        role: "assistant",
        content: joined("content"),
        reasoning: joined("reasoning"),
        reasoning_details: deltas.flatMap((delta) => delta.reasoning_details ?? []),
        tool_calls: [{ id: calls[0].id, type: "function", function: { name: "weather", arguments: said } }]
      }
      return { choices: [{ message }] }
    }
  },
  messages: {
    path: "/messages",
    ask: (model, stream) => ({
      model,
      stream,
      max_tokens: 4_000,
      messages: [user],
      thinking: { type: "enabled", budget_tokens: 2_000 },
      tools: [{ name: "weather", input_schema: parameters }]
    }),
    next: (asked, { content }, model) => {
      const { id } = content.find(({ type }: Frame) => type === "tool_use")
      const result = { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "-3" }] }
      return { ...asked, model, stream: false, messages: [user, { role: "assistant", content }, result] }
    },
    fold: (all) => {
      const content: Array<Frame> = []
      for (const { content_block, delta, index, type } of all) {
        if (type === "content_block_start") content[index] = { ...content_block }
        if (type !== "content_block_delta") continue
        if (delta.type === "thinking_delta") content[index].thinking += delta.thinking
        if (delta.type === "signature_delta") content[index].signature += delta.signature
        if (delta.type === "input_json_delta") content[index].json = (content[index].json ?? "") + delta.partial_json
      }
      return {
        content: content.map(({ json: said, ...block }) =>
          block.type === "tool_use" ? { ...block, input: JSON.parse(said) } : block
        )
      }
    }
  },
  responses: {
    path: "/responses",
    ask: (model, stream) => ({
      model,
      stream,
      max_output_tokens: 4_000,
      input: [user],
      reasoning: { effort: "high" },
      include: ["reasoning.encrypted_content"],
      tools: [{ type: "function", name: "weather", parameters }]
    }),
    next: (asked, { output }, model) => {
      const { call_id } = output.find(({ type }: Frame) => type === "function_call")
      const result = { type: "function_call_output", call_id, output: "-3" }
      return { ...asked, model, stream: false, input: [user, ...output, result] }
    },
    fold: (all) => ({
      output: all.filter(({ type }) => type === "response.output_item.done").map((event) => event.item)
    })
  }
}

const started = Effect.gen(function* () {
  const hosts = yield* Effect.all({
    anthropic: hostOf(vendors.anthropic),
    gemini: hostOf(vendors.gemini),
    openai: hostOf(vendors.openai),
    deepseek: hostOf(vendors.deepseek)
  })
  const path = join(yield* temporaryDirectory, "providers.json")
  const { model } = vendors.deepseek
  const deepseek = { id: "deepseek", kind: "deepseek", base_url: hosts.deepseek.origin, models: { [model]: model } }
  writeFileSync(path, JSON.stringify([deepseek]))
  const service = yield* startService({
    SANDBOX: "off",
    OUTBOUND_ALLOW_LOOPBACK: "1",
    PROVIDERS_FILE: path,
    ANTHROPIC_API_KEY: "sk-planted",
    ANTHROPIC_BASE_URL: hosts.anthropic.origin,
    GEMINI_API_KEY: "sk-planted",
    GEMINI_BASE_URL: hosts.gemini.origin,
    OPENAI_API_KEY: "sk-planted",
    OPENAI_BASE_URL: hosts.openai.origin
  })
  return { hosts, service, key: (yield* service.account(100)).inferenceKey }
})

const firstTurn = (service: Service, key: string, { ask, fold, path }: Dialect, model: string, stream: boolean) =>
  Effect.gen(function* () {
    const answer = yield* post(`${service.api}${path}`, key, ask(model, stream))
    assert.strictEqual(answer.status, 200)
    return stream ? fold(yield* dataOf(answer)) : yield* json(answer)
  })

describe("reasoning before a tool call", () => {
  for (const [name, dialect] of Object.entries(dialects)) {
    for (const stream of [false, true]) {
      it.live(`returns to the model that made it and to no other, in ${name}, ${stream ? "streamed" : "plain"}`, () =>
        Effect.gen(function* () {
          const { hosts, key, service } = yield* started
          for (const first of names) {
            const { model } = vendors[first]
            const answer = yield* firstTurn(service, key, dialect, model, stream)
            for (const second of names) {
              const { back, model: next, none, own } = vendors[second]
              const asked = dialect.next(dialect.ask(model, false), answer, next)
              const reply = yield* post(`${service.api}${dialect.path}`, key, asked)
              const text = yield* Effect.promise(() => reply.text())
              assert.strictEqual(reply.status, 200, text)
              assert.include(text, "cold")
              assert.isNull(reply.headers.get("x-svc-ignored-parameters"))
              assert.deepStrictEqual(back(hosts[second].last()), first === second ? own : none, `${first} to ${second}`)
            }
          }
          assert.deepStrictEqual(yield* service.faults, [])
        }).pipe(Effect.scoped)
      )
    }
  }

  it.live("of another account is refused or ignored", () =>
    Effect.gen(function* () {
      const { hosts, key, service } = yield* started
      const other = (yield* service.account(100)).inferenceKey
      const { back, model, none } = vendors.anthropic
      for (const [name, dialect] of Object.entries(dialects)) {
        const answer = yield* firstTurn(service, key, dialect, model, false)
        const asked = dialect.next(dialect.ask(model, false), answer, model)
        const reply = yield* post(`${service.api}${dialect.path}`, other, asked)
        if (name === "messages") {
          const { error } = yield* json(reply)
          assert.deepInclude(error, { code: "unsupported_parameter", param: "messages[1].content[0].signature" })
          continue
        }
        assert.strictEqual(reply.status, 200)
        assert.include(decodeURIComponent(reply.headers.get("x-svc-ignored-parameters") ?? ""), "[")
        assert.deepStrictEqual(back(hosts.anthropic.last()), none)
      }
    }).pipe(Effect.scoped)
  )
})
