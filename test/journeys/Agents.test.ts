/** Requests as coding agents send them, sent to the public API, with a fake host for each vendor's wire format behind it. */
import { LLMock } from "@copilotkit/aimock"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { startService } from "../support/Service.ts"
import type { Frame as Json } from "../support/Streams.ts"

/** The data of a stream's frames. */
const framesIn = (text: string): ReadonlyArray<Json> =>
  text.split("\n\n").flatMap((frame) => {
    const data = /^data: (.*)$/m.exec(frame)?.[1]
    return data === undefined ? [] : [JSON.parse(data)]
  })

const schema = (...names: ReadonlyArray<string>) => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
  required: names,
  additionalProperties: false
})
const run = { type: "function", name: "run", description: "Runs.", strict: false, parameters: schema("cmd") }
const grammar = { type: "grammar", syntax: "lark", definition: "start: /.+/" }
const patch = { type: "custom", name: "patch", description: "Patches.", format: grammar }
const team = {
  type: "namespace",
  name: "team",
  description: "Other agents.",
  tools: [
    { ...run, name: "ask" },
    { ...patch, name: "note" }
  ]
}
const search = { type: "tool_search", execution: "client", description: "Finds.", parameters: schema("query") }
const web = { type: "web_search", external_web_access: false }
const developer = { type: "message", role: "developer", content: [{ type: "input_text", text: "Be brief." }] }
const user = (text: string) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] })

/** A turn of Codex with every form of tool, some of them in the input. */
const codex = (model: string, input: ReadonlyArray<object>, more: object = {}) => ({
  model,
  input: [{ type: "additional_tools", role: "developer", tools: [team] }, developer, ...input],
  tools: [run, patch, search, web],
  tool_choice: "auto",
  parallel_tool_calls: false,
  reasoning: { effort: "medium", context: "all_turns" },
  store: false,
  include: ["reasoning.encrypted_content"],
  prompt_cache_key: "01a21384-640c-7601-bff9-cabe5ab222de",
  text: { verbosity: "low" },
  client_metadata: { turn_id: "t" },
  ...more
})

/** A turn of Claude Code with its own tools and one typed tool. */
const claudeCode = (model: string, messages: ReadonlyArray<object>, more: object = {}) => ({
  model,
  max_tokens: 32_000,
  system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral", ttl: "1h" } }],
  messages,
  tools: [
    {
      name: "look",
      description: "Looks.",
      input_schema: { $schema: "https://json-schema.org/draft/2020-12/schema", ...schema("at") }
    },
    { name: "later", input_schema: { type: "object", properties: {} }, defer_loading: true },
    { type: "bash_20250124", name: "bash" }
  ],
  metadata: { user_id: "u" },
  thinking: { type: "adaptive", display: "omitted" },
  context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
  output_config: { effort: "high" },
  ...more
})
const betas = { "anthropic-beta": "claude-code-20250219,context-management-2025-06-27" }

/** For each vendor, a model that only its wire format serves, and the settings that point the gateway at the fake host. */
const hosts = (url: string): ReadonlyArray<readonly [model: string, env: Readonly<Record<string, string>>]> => [
  ["gpt-4o-mini", { OPENAI_API_KEY: "k", OPENAI_BASE_URL: `${url}/v1` }],
  ["gpt-5.5", { OPENAI_API_KEY: "k", OPENAI_BASE_URL: `${url}/v1` }],
  ["claude-sonnet-4-6", { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: url }],
  ["gemini-2.5-flash", { GEMINI_API_KEY: "k", GEMINI_BASE_URL: `${url}/v1beta` }],
  ["grok-4.3", { XAI_API_KEY: "k", XAI_BASE_URL: `${url}/v1` }]
]

interface Deps {
  readonly model: string
  readonly mock: LLMock
  readonly post: (path: string, body: object, headers?: Readonly<Record<string, string>>) => Promise<Response>
}

const onEveryHost = (name: string, body: (deps: Deps) => Promise<void>) => {
  for (const [model] of hosts("")) {
    it.live(`${name} (${model})`, () =>
      Effect.gen(function* () {
        const mock = new LLMock({ port: 0 })
        const url = yield* Effect.acquireRelease(
          Effect.promise(() => mock.start()),
          () => Effect.promise(() => mock.stop())
        )
        const [, env = {}] = hosts(url).find(([one]) => one === model) ?? []
        const service = yield* startService(env)
        const { inferenceKey } = yield* service.account(100)
        const post: Deps["post"] = (path, sent, headers = {}) =>
          fetch(`${service.api}${path}`, {
            method: "POST",
            headers: { authorization: `Bearer ${inferenceKey}`, "content-type": "application/json", ...headers },
            body: JSON.stringify(sent)
          })
        yield* Effect.promise(() => body({ model, mock, post }))
      }).pipe(Effect.scoped)
    )
  }
}

/** The tool that the model calls, its call as Codex receives it, and the type of the item with the tool's result. */
const calls: ReadonlyArray<readonly [name: string, args: object, item: object, answer: object]> = [
  [
    "run",
    { cmd: "ls" },
    { type: "function_call", name: "run", arguments: '{"cmd":"ls"}' },
    { type: "function_call_output" }
  ],
  [
    "patch",
    { input: 'a "b"\n' },
    { type: "custom_tool_call", name: "patch", input: 'a "b"\n' },
    { type: "custom_tool_call_output" }
  ],
  [
    "team__ask",
    { cmd: "x" },
    { type: "function_call", name: "ask", namespace: "team", arguments: '{"cmd":"x"}' },
    { type: "function_call_output" }
  ],
  [
    "team__note",
    { input: "hm" },
    { type: "custom_tool_call", name: "note", namespace: "team", input: "hm" },
    { type: "custom_tool_call_output" }
  ]
]

const itemOf = (output: ReadonlyArray<Json>) => output.find(({ type }) => String(type).endsWith("call"))

describe("a coding agent's request", () => {
  onEveryHost(
    "gets each Codex tool call in the form of its tool, and an answer after the tool's result",
    async ({ mock, model, post }) => {
      for (const [name, args, item, answer] of calls) {
        mock.clearFixtures()
        mock.on({ userMessage: `Call ${name}`, hasToolResult: false } as Json, {
          toolCalls: [{ name, arguments: JSON.stringify(args) }]
        })
        mock.on({ userMessage: `Call ${name}`, hasToolResult: true } as Json, { content: "Done." })
        const first = await post("/responses", codex(model, [user(`Call ${name}`)]))
        const whole: Json = await first.json()
        assert.strictEqual(first.status, 200, JSON.stringify(whole))
        assert.include(first.headers.get("x-svc-ignored-parameters"), "tools[3]")
        const call = itemOf(whole.output)
        assert.include(call, item)
        const streamed = await post("/responses", codex(model, [user(`Call ${name}`)], { stream: true }))
        const frames: ReadonlyArray<Json> = framesIn(await streamed.text())
        const last = frames.at(-1)
        assert.strictEqual(last?.type, "response.completed")
        const { call_id: _, id: __, status: ___, ...said } = itemOf(last.response.output)
        assert.deepStrictEqual(said, item)
        if ("input" in item) {
          const deltas = frames.filter(({ type }) => type === "response.custom_tool_call_input.delta")
          assert.strictEqual(deltas.map(({ delta }) => delta).join(""), item.input)
        }
        const output = { ...answer, call_id: call.call_id, output: "it went well" }
        const second = await post("/responses", codex(model, [user(`Call ${name}`), call, output]))
        const after: Json = await second.json()
        assert.strictEqual(after.output_text, "Done.", JSON.stringify(after))
      }
    }
  )

  onEveryHost("lets Codex search for tools and call a tool that the search found", async ({ mock, model, post }) => {
    mock.on({ userMessage: "Find", hasToolResult: false } as Json, {
      toolCalls: [{ name: "tool_search", arguments: '{"query":"maps"}' }]
    })
    mock.on({ userMessage: "Find", hasToolResult: true } as Json, {
      toolCalls: [{ name: "map", arguments: '{"cmd":"Oslo"}' }]
    })
    const first: Json = await (await post("/responses", codex(model, [user("Find")]))).json()
    const call = itemOf(first.output)
    assert.deepInclude(call, { type: "tool_search_call", execution: "client", arguments: { query: "maps" } })
    const found = {
      type: "tool_search_output",
      call_id: call.call_id,
      execution: "client",
      status: "completed",
      tools: [{ ...run, name: "map", defer_loading: true }]
    }
    const second: Json = await (await post("/responses", codex(model, [user("Find"), call, found]))).json()
    assert.deepInclude(itemOf(second.output), { type: "function_call", name: "map" })
  })

  onEveryHost(
    "gets calls of Claude Code's own and typed tools, and an answer after their results",
    async ({ mock, model, post }) => {
      for (const [name, input] of [
        ["look", { at: "Oslo" }],
        ["bash", { command: "ls" }]
      ] as const) {
        const asked = {
          role: "user",
          content: [{ type: "text", text: `Use ${name}`, cache_control: { type: "ephemeral" } }]
        }
        mock.clearFixtures()
        mock.on({ userMessage: `Use ${name}`, hasToolResult: false } as Json, {
          toolCalls: [{ name, arguments: JSON.stringify(input) }]
        })
        mock.on({ hasToolResult: true } as Json, { content: "Done." })
        const first = await post("/messages?beta=true", claudeCode(model, [asked]), betas)
        const whole: Json = await first.json()
        assert.strictEqual(first.status, 200, JSON.stringify(whole))
        const call = whole.content.find(({ type }: Json) => type === "tool_use")
        assert.deepInclude(call, { name, input })
        assert.deepStrictEqual(whole.context_management, { applied_edits: [] })
        const streamed = await post("/messages?beta=true", claudeCode(model, [asked], { stream: true }), betas)
        const frames: ReadonlyArray<Json> = framesIn(await streamed.text())
        const json = frames.map(({ delta }) => delta?.partial_json ?? "").join("")
        assert.deepStrictEqual(JSON.parse(json), input)
        const result = {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: call.id, content: "it went well" }]
        }
        const second: Json = await (
          await post(
            "/messages?beta=true",
            claudeCode(model, [asked, { role: "assistant", content: [call] }, result]),
            betas
          )
        ).json()
        // A model that reasons without words has its sealed reasoning before the text.
        assert.strictEqual(second.content?.at(-1)?.text, "Done.", JSON.stringify(second))
      }
      if (model.startsWith("claude")) {
        assert.include(JSON.stringify(mock.getRequests()[0]?.headers), "claude-code-20250219")
      }
    }
  )
})

describe("a coding agent's long conversation", () => {
  it.live("may have up to MAX_MESSAGES messages, under every alias of its model, and gets 400 beyond", () =>
    Effect.gen(function* () {
      const service = yield* startService({ MAX_MESSAGES: "150" })
      const { inferenceKey } = yield* service.account(100)
      const post = (path: string, body: object) =>
        Effect.promise(async () => {
          const response = await fetch(`${service.api}${path}`, {
            method: "POST",
            headers: { authorization: `Bearer ${inferenceKey}`, "content-type": "application/json" },
            body: JSON.stringify(body)
          })
          return { status: response.status, body: (await response.json()) as Json }
        })
      const saying = (count: number) =>
        Array.from({ length: count }, (_, at) => ({ role: at % 2 === 0 ? "user" : "assistant", content: "Hello" }))
      const named = [
        ["claude-haiku-4-5-20251001", "claude-haiku-4-5"],
        ["anthropic/claude-sonnet-4.6", "claude-sonnet-4-6"],
        ["claude-sonnet-4-6[1m]", "claude-sonnet-4-6"]
      ] as const
      for (const [model, id] of named) {
        const { body } = yield* post("/messages", { model, max_tokens: 20, messages: saying(149) })
        assert.deepInclude(body, { model, resolved_model: id })
      }
      for (const path of ["/messages", "/chat/completions", "/messages/count_tokens"]) {
        const { body, status } = yield* post(path, { model: "gpt-4o-mini", max_tokens: 20, messages: saying(151) })
        assert.deepStrictEqual([status, body.error.param], [400, "messages"], path)
        assert.include(body.error.message, "150", path)
      }
      const { status } = yield* post("/responses", { model: "gpt-4o-mini", max_output_tokens: 20, input: saying(999) })
      assert.strictEqual(status, 200)
      const { body } = yield* post("/responses", { model: "gpt-4o-mini", input: saying(1_001) })
      assert.strictEqual(body.error.param, "input")
    }).pipe(Effect.scoped)
  )
})
