/** Tools with longer names, and more tools, than providers accept. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { upstream } from "../providers/upstream.ts"
import { json, post, startService } from "../support/Service.ts"

const LONG = `mcp__${"x".repeat(251)}`
const parameters = { type: "object", properties: { city: { type: "string" } } }

// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

/** Returns, for each wire format, the names of the tools, of the tool choice and of the calls in the history. */
const namesSent: Readonly<Record<string, (body: Json) => ReadonlyArray<string>>> = {
  openai: ({ messages, tool_choice, tools }) => [
    ...tools.map((tool: Json) => tool.function.name),
    ...(tool_choice?.function === undefined ? [] : [tool_choice.function.name]),
    ...messages.flatMap((message: Json) => (message.tool_calls ?? []).map((call: Json) => call.function.name))
  ],
  anthropic: ({ messages, tool_choice, tools }) => [
    ...tools.map((tool: Json) => tool.name),
    ...(tool_choice?.name === undefined ? [] : [tool_choice.name]),
    ...messages.flatMap(({ content }: Json) =>
      typeof content === "string" ? [] : content.flatMap((block: Json) => (block.type === "tool_use" ? block.name : []))
    )
  ],
  gemini: ({ contents, toolConfig, tools }) => [
    ...tools[0].functionDeclarations.map((tool: Json) => tool.name),
    ...(toolConfig?.functionCallingConfig?.allowedFunctionNames ?? []),
    ...contents.flatMap(({ parts }: Json) => parts.flatMap((part: Json) => part.functionCall?.name ?? []))
  ]
}

/** A plain or streamed answer that calls a tool, for each wire format. */
const calling: Readonly<Record<string, (name: string, stream: boolean) => object | ReadonlyArray<object>>> = {
  openai: (name, stream) => {
    const call = { index: 0, id: "call_1", type: "function", function: { name, arguments: "{}" } }
    const usage = { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 }
    return stream
      ? [
          { choices: [{ index: 0, delta: { role: "assistant", tool_calls: [call] } }] },
          { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }], usage }
        ]
      : {
          choices: [{ index: 0, message: { role: "assistant", tool_calls: [call] }, finish_reason: "tool_calls" }],
          usage
        }
  },
  anthropic: (name, stream) => {
    const block = { type: "tool_use", id: "toolu_1", name, input: {} }
    const usage = { input_tokens: 9, output_tokens: 9 }
    return stream
      ? [
          { type: "message_start", message: { content: [], usage } },
          { type: "content_block_start", index: 0, content_block: block },
          { type: "content_block_stop", index: 0 },
          { type: "message_delta", delta: { stop_reason: "tool_use" }, usage },
          { type: "message_stop" }
        ]
      : { content: [block], stop_reason: "tool_use", usage }
  },
  gemini: (name, stream) => {
    const whole = {
      candidates: [{ content: { role: "model", parts: [{ functionCall: { name, args: {} } }] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 9, totalTokenCount: 18 }
    }
    return stream ? [whole] : whole
  }
}

const wireOf = (url: string): string =>
  url.includes("/chat/completions") ? "openai" : url.includes("/messages") ? "anthropic" : "gemini"

/** A host of every wire format that calls the first tool by its name and records all names. */
const host = Effect.gen(function* () {
  const seen: { names: ReadonlyArray<string> } = { names: [] }
  const { origin } = yield* upstream((request, reply) => {
    let text = ""
    request.setEncoding("utf8").on("data", (piece: string) => (text += piece))
    request.on("end", () => {
      const body = JSON.parse(text)
      const wire = wireOf(request.url ?? "")
      seen.names = namesSent[wire]!(body)
      const streams = body.stream === true || request.url?.includes("stream") === true
      const answer = calling[wire]!(seen.names[0]!, streams)
      if (!Array.isArray(answer)) return reply.end(JSON.stringify(answer))
      reply.writeHead(200, { "content-type": "text/event-stream" })
      return reply.end(answer.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""))
    })
  })
  return { origin, seen }
})

/** For each dialect, a request that offers the tool and has called it, a choice of the tool, and a list of allowed tools. */
const dialects: Readonly<Record<string, { readonly base: object; readonly named: object; readonly allowed?: object }>> =
  {
    "/chat/completions": {
      base: {
        messages: [
          { role: "user", content: "How warm is it?" },
          {
            role: "assistant",
            tool_calls: [{ id: "c1", type: "function", function: { name: LONG, arguments: "{}" } }]
          },
          { role: "tool", tool_call_id: "c1", content: "-3" },
          { role: "user", content: "And now?" }
        ],
        tools: [{ type: "function", function: { name: LONG, parameters } }]
      },
      named: { tool_choice: { type: "function", function: { name: LONG } } },
      allowed: {
        tool_choice: {
          type: "allowed_tools",
          allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: LONG } }] }
        }
      }
    },
    "/messages": {
      base: {
        max_tokens: 100,
        messages: [
          { role: "user", content: "How warm is it?" },
          { role: "assistant", content: [{ type: "tool_use", id: "c1", name: LONG, input: {} }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "-3" }] }
        ],
        tools: [{ name: LONG, input_schema: parameters }]
      },
      named: { tool_choice: { type: "tool", name: LONG } }
    },
    "/responses": {
      base: {
        input: [
          { role: "user", content: "How warm is it?" },
          { type: "function_call", call_id: "c1", name: LONG, arguments: "{}" },
          { type: "function_call_output", call_id: "c1", output: "-3" }
        ],
        tools: [{ type: "function", name: LONG, parameters }]
      },
      named: { tool_choice: { type: "function", name: LONG } },
      allowed: {
        tool_choice: { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: LONG }] }
      }
    }
  }

const models = [
  ["gpt-4o-mini", 64],
  ["claude-haiku-4-5", 128],
  ["gemini-2.5-flash", 64]
] as const

describe("a tool with a name of 256 characters", () => {
  it.live(
    "reaches the provider under a short name, and is called by its own name, in every dialect and wire format",
    () =>
      Effect.gen(function* () {
        const { origin, seen } = yield* host
        const service = yield* startService({
          SANDBOX: "off",
          OUTBOUND_ALLOW_LOOPBACK: "1",
          OPENAI_API_KEY: "sk-planted",
          OPENAI_BASE_URL: `${origin}/v1`,
          ANTHROPIC_API_KEY: "sk-planted",
          ANTHROPIC_BASE_URL: origin,
          GEMINI_API_KEY: "sk-planted",
          GEMINI_BASE_URL: origin
        })
        const { inferenceKey } = yield* service.account()
        for (const [path, { allowed, base, named }] of Object.entries(dialects)) {
          for (const [model, most] of models) {
            for (const choice of allowed === undefined ? [named] : [named, allowed]) {
              for (const stream of [false, true]) {
                const label = `${path} ${model} ${stream ? "streamed" : "whole"} ${JSON.stringify(choice).slice(0, 60)}`
                const asked = { model, stream, ...base, ...choice }
                const response = yield* post(`${service.api}${path}`, inferenceKey, asked)
                const text = yield* Effect.promise(() => response.text())
                assert.strictEqual(response.status, 200, `${label}: ${text}`)
                assert.include(text, `"${LONG}"`, label)
                const [name = ""] = seen.names
                assert.isAtMost(name.length, most, label)
                assert.isAtLeast(seen.names.length, 2, label)
                assert.deepStrictEqual([...new Set(seen.names)], [name], label)
                assert.notInclude(text, `"${name}"`, label)
              }
            }
          }
        }
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped)
  )
})

describe("a request with more than 128 tools", () => {
  it.live("is served in every dialect, and gets 400 before the hold for OpenAI's models", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account()
      const many = Array.from({ length: 300 }, (_, index) => `tool_${index}`)
      const bodies = {
        "/chat/completions": {
          messages: [{ role: "user", content: "Hello" }],
          tools: many.map((name) => ({ type: "function", function: { name } })),
          tool_choice: {
            type: "allowed_tools",
            allowed_tools: { mode: "auto", tools: many.map((name) => ({ type: "function", function: { name } })) }
          }
        },
        "/messages": {
          messages: [{ role: "user", content: "Hello" }],
          max_tokens: 100,
          tools: many.map((name) => ({ name, input_schema: parameters }))
        },
        "/responses": {
          input: "Hello",
          tools: many.map((name) => ({ type: "function", name })),
          tool_choice: { type: "allowed_tools", mode: "auto", tools: many.map((name) => ({ type: "function", name })) }
        }
      }
      for (const [path, body] of Object.entries(bodies)) {
        const refused = yield* post(`${service.api}${path}`, inferenceKey, { model: "gpt-4o-mini", ...body })
        const { error } = yield* json(refused)
        assert.deepStrictEqual([refused.status, error.code, error.param], [400, "validation_error", "tools"], path)
      }
      assert.strictEqual((yield* service.balance(account.id)).posted, 100_000_000_000n)
      for (const [path, body] of Object.entries(bodies)) {
        const served = yield* post(`${service.api}${path}`, inferenceKey, { model: "claude-haiku-4-5", ...body })
        assert.strictEqual(served.status, 200, path)
        yield* Effect.promise(() => served.text())
      }
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )
})
