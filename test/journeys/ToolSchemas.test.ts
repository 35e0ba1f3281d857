/** Tool schemas of agents and MCP servers, at fake hosts that refuse what the real hosts refuse. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { upstream } from "../providers/upstream.ts"
import { json, post, startService } from "../support/Service.ts"

// oxlint-disable-next-line typescript/no-explicit-any
type Json = Record<string, any>

const text = { type: "string" }

/** At least one host refuses each schema when it is unchanged. */
const schemas: Readonly<Record<string, Json>> = {
  // As Codex sends it.
  ask: {
    type: "object",
    properties: { text: { type: "string", description: "Words.", encrypted: true } },
    required: ["text"],
    additionalProperties: false
  },
  // As Zod and Claude Code write it.
  wait: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { ms: { type: "integer", exclusiveMinimum: 0, default: 5 }, kind: { const: "short" } },
    required: ["ms"]
  },
  // As Pydantic writes it.
  tree: {
    $defs: {
      Node: { type: "object", properties: { name: text, nodes: { type: "array", items: { $ref: "#/$defs/Node" } } } }
    },
    properties: { root: { $ref: "#/$defs/Node", description: "The first." }, tags: { type: "array" } }
  },
  // A union of operations.
  edit: {
    oneOf: [
      { type: "object", properties: { op: { const: "add" }, path: text }, required: ["op", "path"] },
      { type: "object", properties: { op: { const: "drop" }, id: text }, required: ["op", "id"] }
    ]
  },
  // A property that is named like a keyword.
  fetch: { type: "object", properties: { $ref: text, const: { type: "boolean", enum: [true] } }, required: ["$ref"] },
  ping: {}
}

const GEMINI = new Set([
  "$id",
  "$defs",
  "$ref",
  "$anchor",
  "type",
  "format",
  "title",
  "description",
  "enum",
  "items",
  "prefixItems",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "anyOf",
  "oneOf",
  "properties",
  "additionalProperties",
  "required",
  "propertyOrdering"
])

/** Returns what Gemini refuses in a schema. */
const geminiProblem = (schema: unknown): string | undefined => {
  if (typeof schema !== "object" || schema === null) return undefined
  const {
    additionalProperties,
    anyOf = [],
    enum: values = [],
    items,
    properties = {},
    required = [],
    ...rest
  } = schema as Json
  const unknown = Object.keys(rest).find((name) => !GEMINI.has(name))
  if (unknown !== undefined) return `Unknown name "${unknown}"`
  if (rest["$ref"] !== undefined) return "a reference"
  if (values.some((value: unknown) => typeof value !== "string" && typeof value !== "number"))
    return "Invalid value at enum"
  const missing = required.find((name: string) => !Object.hasOwn(properties, name))
  if (missing !== undefined) return `property is not defined: ${missing}`
  for (const inner of [...Object.values(properties), ...anyOf, items, additionalProperties]) {
    const problem = geminiProblem(inner)
    if (problem !== undefined) return problem
  }
  return undefined
}

const CHOICES = ["oneOf", "anyOf", "allOf", "enum", "not"]

/** Returns what OpenAI refuses in a function's parameters. */
const openAiProblem = (schema: Json): string | undefined => {
  if (schema["type"] !== "object")
    return `schema must be a JSON Schema of 'type: "object"', got 'type: "${schema["type"]}"'`
  if (CHOICES.some((name) => schema[name] !== undefined)) return "schema must not have a choice at the top level"
  if (schema["properties"] === undefined) return "object schema missing properties"
  return JSON.stringify(schema).includes('{"type":"array"}') ? "array schema missing items" : undefined
}

const anthropicProblem = (schema: Json): string | undefined => {
  if (schema["type"] !== "object") return "input_schema.type: Field required"
  return CHOICES.slice(0, 3).some((name) => schema[name] !== undefined)
    ? "input_schema does not support oneOf, allOf, or anyOf at the top level"
    : undefined
}

const usage = { prompt_tokens: 9, completion_tokens: 7, total_tokens: 16 }

/** Calls the first tool of a request, or answers in text after its result. */
const answerTo = (url: string, body: Json): readonly [problem: string | undefined, answer: Json] => {
  if (url.includes("generateContent")) {
    const tools = body["tools"][0].functionDeclarations as ReadonlyArray<Json>
    const done = JSON.stringify(body["contents"]).includes("functionResponse")
    const part = done ? { text: "Done." } : { functionCall: { name: tools[0]!["name"], args: {} } }
    const problem = tools.map((tool) => geminiProblem(tool["parametersJsonSchema"])).find((one) => one !== undefined)
    const root = tools.find((tool) => tool["parametersJsonSchema"].type !== "object")
    return [
      problem ?? (root === undefined ? undefined : `${root["name"]} is no object`),
      {
        candidates: [{ content: { role: "model", parts: [part] }, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 7 }
      }
    ]
  }
  if (url.includes("/messages")) {
    const done = JSON.stringify(body["messages"]).includes("tool_result")
    const block = done
      ? { type: "text", text: "Done." }
      : { type: "tool_use", id: "toolu_1", name: body["tools"][0].name, input: {} }
    return [
      body["tools"]
        .map((tool: Json) => anthropicProblem(tool["input_schema"]))
        .find((one: unknown) => one !== undefined),
      {
        type: "message",
        role: "assistant",
        content: [block],
        stop_reason: done ? "end_turn" : "tool_use",
        usage: { input_tokens: 9, output_tokens: 7 }
      }
    ]
  }
  const done = body["messages"].at(-1).role === "tool"
  const call = { id: "call_1", type: "function", function: { name: body["tools"][0].function.name, arguments: "{}" } }
  const message = done ? { content: "Done." } : { content: null, tool_calls: [call] }
  return [
    body["tools"]
      .map((tool: Json) => openAiProblem(tool["function"].parameters))
      .find((one: unknown) => one !== undefined),
    {
      choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: done ? "stop" : "tool_calls" }],
      usage
    }
  ]
}

const host = upstream((request, response) => {
  let body = ""
  request.setEncoding("utf8").on("data", (piece) => (body += piece))
  request.on("end", () => {
    const [problem, answer] = answerTo(request.url ?? "", JSON.parse(body))
    response.writeHead(problem === undefined ? 200 : 400, { "content-type": "application/json" })
    response.end(JSON.stringify(problem === undefined ? answer : { error: { message: problem } }))
  })
})

const tools = Object.entries(schemas)
const question = "Go."

/** For each dialect, its path, a first request, and a request with the tool result. */
const dialects = (model: string): Readonly<Record<string, readonly [path: string, first: Json, second: Json]>> => {
  const chat = {
    model,
    messages: [{ role: "user", content: question }],
    tools: tools.map(([name, parameters]) => ({ type: "function", function: { name, parameters } }))
  }
  const call = { id: "call_1", type: "function", function: { name: "ask", arguments: "{}" } }
  const messages = {
    model,
    max_tokens: 100,
    messages: [{ role: "user", content: question }],
    tools: tools.map(([name, schema]) => ({ name, input_schema: { type: "object", ...schema } }))
  }
  const responses = {
    model,
    input: [{ role: "user", content: question }],
    tools: tools.map(([name, parameters]) => ({ type: "function", name, parameters, strict: false }))
  }
  return {
    chat: [
      "chat/completions",
      chat,
      {
        ...chat,
        messages: [
          ...chat.messages,
          { role: "assistant", content: null, tool_calls: [call] },
          { role: "tool", tool_call_id: "call_1", content: "ok" }
        ]
      }
    ],
    messages: [
      "messages",
      messages,
      {
        ...messages,
        messages: [
          ...messages.messages,
          { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "ask", input: {} }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "ok" }] }
        ]
      }
    ],
    responses: [
      "responses",
      responses,
      {
        ...responses,
        input: [
          ...responses.input,
          { type: "function_call", call_id: "call_1", name: "ask", arguments: "{}" },
          { type: "function_call_output", call_id: "call_1", output: "ok" }
        ]
      }
    ]
  }
}

describe("a tool with a schema that agents write", () => {
  it("is refused by the fake hosts when its schema is unchanged", () => {
    for (const problemIn of [geminiProblem, openAiProblem, anthropicProblem]) {
      const refused = Object.values(schemas).filter((schema) => problemIn(schema) !== undefined)
      assert.isAtLeast(refused.length, 3)
    }
  })

  it.live(
    "is called through the gateway, and its result continues the conversation, in every dialect",
    () =>
      Effect.gen(function* () {
        const { origin } = yield* host
        const service = yield* startService({
          SANDBOX: "off",
          GEMINI_API_KEY: "k",
          GEMINI_BASE_URL: `${origin}/v1beta`,
          OPENAI_API_KEY: "k",
          OPENAI_BASE_URL: `${origin}/v1`,
          ANTHROPIC_API_KEY: "k",
          ANTHROPIC_BASE_URL: origin
        })
        const { inferenceKey } = yield* service.account(10)
        for (const model of ["gemini-2.5-flash", "gpt-4o-mini", "claude-haiku-4-5"]) {
          for (const [dialect, [path, first, second]] of Object.entries(dialects(model))) {
            for (const [body, said] of [
              [first, "ask"],
              [second, "Done."]
            ] as const) {
              const response = yield* post(`${service.api}/${path}`, inferenceKey, body)
              const answer = JSON.stringify(yield* json(response))
              assert.strictEqual(response.status, 200, `${model}, ${dialect}: ${answer}`)
              assert.include(answer, `"${said}"`, `${model}, ${dialect}`)
            }
          }
        }
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped),
    60_000
  )
})
