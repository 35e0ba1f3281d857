/** Coding agents' tools at a fake host of every `kind` in `PROVIDERS_FILE`. Each fake refuses what the real host refuses. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { HOST_KINDS, type HostKind } from "../../src/platform/config/HostQuirks.ts"
import { ARGUMENT, CONTENT, HOST_MODELS, startHostKinds } from "../support/HostKinds.ts"
import { json, post, startService } from "../support/Service.ts"
import { temporaryDirectory } from "../support/Directories.ts"
import { dataOf, type Frame } from "../support/Streams.ts"

const schema = (...names: ReadonlyArray<string>) => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, { type: "string", encrypted: true }])),
  required: names,
  additionalProperties: false
})

/** A tool, its call as the client receives it, and the item with its result. */
interface Form {
  readonly tool: object
  readonly call: object
  readonly result: object
}

const run = { type: "function", name: "run", strict: false, parameters: schema("cmd") }
const patch = {
  type: "custom",
  name: "patch",
  description: "Patches.",
  format: { type: "grammar", syntax: "lark", definition: "start: /.+/" }
}
const team = (inner: object) => ({ type: "namespace", name: "team", description: "Others.", tools: [inner] })
const search = { type: "tool_search", execution: "client", description: "Finds.", parameters: schema("query") }
const args = (name: string) => JSON.stringify({ [name]: ARGUMENT })
const found = { tools: [{ ...run, name: "found", defer_loading: true }], execution: "client", status: "completed" }

const codexForms: ReadonlyArray<Form> = [
  {
    tool: run,
    call: { type: "function_call", name: "run", arguments: args("cmd") },
    result: { type: "function_call_output", output: "ok" }
  },
  {
    tool: patch,
    call: { type: "custom_tool_call", name: "patch", input: ARGUMENT },
    result: { type: "custom_tool_call_output", output: "ok" }
  },
  {
    tool: team(run),
    call: { type: "function_call", name: "run", namespace: "team", arguments: args("cmd") },
    result: { type: "function_call_output", output: [{ type: "input_text", text: "ok" }] }
  },
  {
    tool: team(patch),
    call: { type: "custom_tool_call", name: "patch", namespace: "team", input: ARGUMENT },
    result: { type: "custom_tool_call_output", output: "ok" }
  },
  {
    tool: search,
    call: { type: "tool_search_call", execution: "client", arguments: { query: ARGUMENT } },
    result: { type: "tool_search_output", ...found }
  }
]

const claudeForms: ReadonlyArray<Omit<Form, "result">> = [
  {
    tool: { name: "look", description: "Looks.", input_schema: schema("at") },
    call: { type: "tool_use", name: "look", input: { at: ARGUMENT } }
  },
  { tool: { type: "bash_20250124", name: "bash" }, call: { type: "tool_use", name: "bash" } },
  {
    tool: { type: "text_editor_20250728", name: "str_replace_based_edit_tool" },
    call: { type: "tool_use", name: "str_replace_based_edit_tool" }
  },
  { tool: { type: "memory_20250818", name: "memory" }, call: { type: "tool_use", name: "memory" } }
]

const start = Effect.gen(function* () {
  const hosts = yield* startHostKinds
  const path = join(yield* temporaryDirectory, "hosts.json")
  const entries = HOST_KINDS.map((kind) => ({
    id: kind,
    kind,
    base_url: `http://127.0.0.1:${hosts.port}/${kind}/v1`,
    api_key_env: "HOSTS_KEY",
    models: { [HOST_MODELS[kind][0]]: HOST_MODELS[kind][1] }
  }))
  writeFileSync(path, JSON.stringify(entries))
  const service = yield* startService({ PROVIDERS_FILE: path, HOSTS_KEY: "sk-host", SANDBOX: "off" })
  const { inferenceKey } = yield* service.account(1_000)
  const bodyOf = (kind: HostKind, body: object) => ({
    model: HOST_MODELS[kind][0],
    routing: { providers: { only: [kind] } },
    ...body
  })
  const ask = Effect.fnUntraced(function* (kind: HostKind, at: string, body: object) {
    const response = yield* post(`${service.api}${at}`, inferenceKey, bodyOf(kind, body))
    const answer = yield* json(response)
    assert.strictEqual(response.status, 200, `${kind} ${at}: ${JSON.stringify(answer)}`)
    return answer as Frame
  })
  const stream = (kind: HostKind, at: string, body: object) =>
    Effect.flatMap(post(`${service.api}${at}`, inferenceKey, bodyOf(kind, { ...body, stream: true })), dataOf)
  return { ask, faults: service.faults, stream }
})

const isCall = ({ type }: Frame): boolean => String(type).endsWith("call")

const MADE_ANEW = new Set(["call_id", "caller", "id", "status"])

/** Returns a call without the fields that are new in each answer. */
const said = (call: object): object => Object.fromEntries(Object.entries(call).filter(([name]) => !MADE_ANEW.has(name)))

describe("a model at a host of each kind in PROVIDERS_FILE", () => {
  it.live(
    "calls every form of Codex tool and reads its result, plain and streamed",
    () =>
      Effect.gen(function* () {
        const { ask, faults, stream } = yield* start
        for (const kind of HOST_KINDS) {
          for (const { call, result, tool } of codexForms) {
            const name = `${kind} ${JSON.stringify(call)}`
            const input = [
              { type: "message", role: "developer", content: [{ type: "input_text", text: "Be brief." }] },
              { type: "message", role: "user", content: [{ type: "input_text", text: "Go." }] }
            ]
            const more = { tools: [tool], parallel_tool_calls: false, reasoning: { effort: "medium" }, store: false }
            const first = yield* ask(kind, "/responses", { ...more, input })
            const made: Frame = first.output.find(isCall)
            assert.deepStrictEqual(said(made), call, name)
            const streamed = (yield* stream(kind, "/responses", { ...more, input })).at(-1)
            assert.strictEqual(streamed?.type, "response.completed", name)
            assert.deepStrictEqual(said(streamed.response.output.find(isCall)), call, name)
            const back = { ...more, input: [...input, ...first.output, { ...result, call_id: made.call_id }] }
            assert.strictEqual((yield* ask(kind, "/responses", back)).output_text, CONTENT, name)
            const after = (yield* stream(kind, "/responses", back)).at(-1)
            assert.strictEqual(after?.response.output_text, CONTENT, name)
          }
        }
        assert.deepStrictEqual(yield* faults, [])
      }).pipe(Effect.scoped),
    120_000
  )

  it.live(
    "calls Claude Code's tools and reads their results, plain and streamed",
    () =>
      Effect.gen(function* () {
        const { ask, faults, stream } = yield* start
        for (const kind of HOST_KINDS) {
          for (const { call, tool } of claudeForms) {
            const name = `${kind} ${JSON.stringify(call)}`
            const cached = { cache_control: { type: "ephemeral", ttl: "1h" } }
            const asked = { role: "user", content: [{ type: "text", text: "Go.", ...cached }] }
            const more = {
              max_tokens: 4_000,
              system: [{ type: "text", text: "Be brief.", ...cached }],
              tools: [tool],
              thinking: { type: "adaptive" },
              context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] }
            }
            const first = yield* ask(kind, "/messages", { ...more, messages: [asked] })
            const made = first.content.find(({ type }: Frame) => type === "tool_use")
            assert.deepInclude(made, call, name)
            const streamed = yield* stream(kind, "/messages", { ...more, messages: [asked] })
            const parts = streamed.map(({ delta }) => delta?.partial_json ?? "").join("")
            assert.deepStrictEqual(JSON.parse(parts), made.input, name)
            const result = { role: "user", content: [{ type: "tool_result", tool_use_id: made.id, content: "ok" }] }
            const messages = [asked, { role: "assistant", content: first.content }, result]
            const second = yield* ask(kind, "/messages", { ...more, messages })
            assert.strictEqual(second.content.at(-1).text, CONTENT, name)
            const after = yield* stream(kind, "/messages", { ...more, messages })
            assert.strictEqual(after.map(({ delta }) => delta?.text ?? "").join(""), CONTENT, name)
          }
        }
        assert.deepStrictEqual(yield* faults, [])
      }).pipe(Effect.scoped),
    120_000
  )

  it.live(
    "calls a tool of a chat completion and reads its result, plain and streamed",
    () =>
      Effect.gen(function* () {
        const { ask, faults, stream } = yield* start
        for (const kind of HOST_KINDS) {
          const messages = [{ role: "user", content: "Go." }]
          const { type, ...called } = run
          const more = { tools: [{ type, function: called }], reasoning_effort: "medium" }
          const first = yield* ask(kind, "/chat/completions", { ...more, messages })
          const { message } = first.choices[0]
          assert.deepInclude(message.tool_calls[0].function, { name: "run", arguments: args("cmd") }, kind)
          const streamed = yield* stream(kind, "/chat/completions", { ...more, messages })
          const parts = streamed.map(({ choices }) => choices?.[0]?.delta?.tool_calls?.[0]?.function?.arguments ?? "")
          assert.strictEqual(parts.join(""), args("cmd"), kind)
          const { id } = message.tool_calls[0]
          const back = { ...more, messages: [...messages, message, { role: "tool", tool_call_id: id, content: "ok" }] }
          assert.strictEqual((yield* ask(kind, "/chat/completions", back)).choices[0].message.content, CONTENT, kind)
          const after = yield* stream(kind, "/chat/completions", back)
          const text = after.map(({ choices }) => choices?.[0]?.delta?.content ?? "").join("")
          assert.strictEqual(text, CONTENT, kind)
        }
        assert.deepStrictEqual(yield* faults, [])
      }).pipe(Effect.scoped),
    60_000
  )
})
