/** Every quirk of `PROVIDERS_FILE`: how it changes the request to a host or the reading of its answer. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import type { IncomingHttpHeaders } from "node:http"
import { join } from "node:path"
import { HostQuirks } from "../../src/platform/config/HostQuirks.ts"
import { upstream } from "../providers/upstream.ts"
import { json, post, startService } from "../support/Service.ts"
import { temporaryDirectory } from "../support/Directories.ts"

// oxlint-disable-next-line typescript/no-explicit-any
type Json = Record<string, any>

interface Seen {
  readonly sent: Json
  readonly headers: IncomingHttpHeaders
  readonly message: Json
}

interface Case {
  readonly name: keyof typeof HostQuirks.fields
  readonly quirks: Json
  readonly body?: Json
  /** The fields of the host's message. */
  readonly answer?: Json
  readonly seen: (one: Seen) => unknown
  readonly without: unknown
  readonly with: unknown
}

const MODEL = "qwen/qwen3-32b"
const user = { role: "user", content: "Go." }
const called = [
  user,
  {
    role: "assistant",
    content: null,
    reasoning_content: "I look.",
    tool_calls: [{ id: "call_1", type: "function", function: { name: "look", arguments: "{}" } }]
  },
  {
    role: "tool",
    tool_call_id: "call_1",
    content: [
      { type: "text", text: "a" },
      { type: "text", text: "b" }
    ]
  }
]
const tools = [{ type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } }]
const instructed = [{ role: "system", content: "Be brief." }, user]
const tagged = { content: "<think>Hm.</think>So." }
const said = ({ message }: Seen) => [message["content"], message["reasoning"] ?? null]
const effort = ({ sent }: Seen) => sent["reasoning_effort"]

const cases: ReadonlyArray<Case> = [
  {
    name: "efforts",
    quirks: { efforts: ["default"] },
    body: { reasoning_effort: "high" },
    seen: effort,
    without: "high",
    with: "default"
  },
  {
    name: "efforts",
    quirks: { efforts: [] },
    body: { reasoning_effort: "high" },
    seen: effort,
    without: "high",
    with: undefined
  },
  {
    name: "reasoning_off",
    quirks: { reasoning_off: "thinking" },
    body: { reasoning_effort: "none" },
    seen: ({ sent }) => sent["thinking"],
    without: undefined,
    with: { type: "disabled" }
  },
  {
    name: "reasoning_off",
    quirks: { reasoning_off: { think: false } },
    body: { reasoning_effort: "none" },
    seen: ({ sent }) => sent["think"],
    without: undefined,
    with: false
  },
  {
    name: "reasoning_off",
    quirks: { reasoning_off: false },
    body: { reasoning_effort: "none" },
    seen: ({ sent }) => sent["chat_template_kwargs"],
    without: { enable_thinking: false, thinking: false },
    with: undefined
  },
  {
    name: "reasoning_field",
    quirks: { reasoning_field: "reasoning_text" },
    answer: { content: "So.", reasoning_content: "Summary.", reasoning_text: "Whole." },
    seen: said,
    without: ["So.", "Summary."],
    with: ["So.", "Whole."]
  },
  {
    name: "reasoning_field",
    quirks: { reasoning_field: "reasoning" },
    body: { messages: called, tools },
    seen: ({ sent }) => sent["messages"][1].reasoning,
    without: undefined,
    with: "I look."
  },
  {
    name: "stream_options",
    quirks: { stream_options: false },
    body: { stream: true },
    seen: ({ sent }) => sent["stream_options"],
    without: { include_usage: true },
    with: undefined
  },
  {
    name: "system_role",
    quirks: { system_role: "developer" },
    body: { messages: instructed },
    seen: ({ sent }) => sent["messages"][0].role,
    without: "system",
    with: "developer"
  },
  {
    name: "max_tokens_field",
    quirks: { max_tokens_field: "max_completion_tokens" },
    body: { max_tokens: 77 },
    seen: ({ sent }) => [sent["max_tokens"], sent["max_completion_tokens"]],
    without: [77, undefined],
    with: [undefined, 77]
  },
  {
    name: "tool_content",
    quirks: { tool_content: "parts" },
    body: { messages: called, tools },
    seen: ({ sent }) => sent["messages"][2].content,
    without: "a\nb",
    with: [
      { type: "text", text: "a" },
      { type: "text", text: "b" }
    ]
  },
  {
    name: "think_tags",
    quirks: { think_tags: false },
    answer: tagged,
    seen: said,
    without: ["So.", "Hm."],
    with: [tagged.content, null]
  },
  {
    name: "think_tags",
    quirks: { think_tags: "open" },
    answer: { content: "Hm.</think>So." },
    seen: said,
    without: ["Hm.</think>So.", null],
    with: ["So.", "Hm."]
  },
  {
    name: "headers",
    quirks: { headers: { "X-Team": "a" } },
    seen: ({ headers }) => headers["x-team"],
    without: undefined,
    with: "a"
  }
]

/** Quirks of a host with OpenAI's own wire format, whose defaults differ. */
const azureCases: ReadonlyArray<Case> = [
  {
    name: "think_tags",
    quirks: { think_tags: true },
    answer: tagged,
    seen: said,
    without: [tagged.content, null],
    with: ["So.", "Hm."]
  },
  {
    name: "reasoning_field",
    quirks: { reasoning_field: "reasoning_content" },
    body: { messages: called, tools },
    seen: ({ sent }) => sent["messages"][1].reasoning_content,
    without: undefined,
    with: "I look."
  },
  {
    name: "system_role",
    quirks: { system_role: "developer" },
    body: { messages: instructed },
    seen: ({ sent }) => sent["messages"][0].role,
    without: "system",
    with: "developer"
  }
]

const usage = { prompt_tokens: 9, completion_tokens: 7, total_tokens: 16 }

/** Starts a gateway with entries of one host that have a quirk of the host, of the model, or none. */
const start = (kind: object, all: ReadonlyArray<Case>) =>
  Effect.gen(function* () {
    const seen: Array<Omit<Seen, "message">> = []
    let answer: Json = {}
    const { origin } = yield* upstream((request, response) => {
      let text = ""
      request.setEncoding("utf8").on("data", (piece) => (text += piece))
      request.on("end", () => {
        const sent = JSON.parse(text) as Json
        seen.push({ sent, headers: request.headers })
        const message = { role: "assistant", content: "Ok.", ...answer }
        const streams = sent["stream"] === true
        response.writeHead(200, { "content-type": streams ? "text/event-stream" : "application/json" })
        const choice = { index: 0, finish_reason: "stop" }
        if (!streams) return void response.end(JSON.stringify({ choices: [{ ...choice, message }], usage }))
        response.end(`data: ${JSON.stringify({ choices: [{ ...choice, delta: message }], usage })}\n\ndata: [DONE]\n\n`)
      })
    })
    const entry = (id: string, more: object, model: unknown = "qwen3-32b") => ({
      id,
      base_url: `${origin}/v1`,
      api_key_env: "HOSTS_KEY",
      models: { [MODEL]: model },
      ...kind,
      ...more
    })
    const entries = all.flatMap(({ quirks }, index) => [
      entry(`own-${index}`, { quirks }),
      entry(`model-${index}`, {}, { id: "qwen3-32b", quirks })
    ])
    const path = join(yield* temporaryDirectory, "hosts.json")
    writeFileSync(path, JSON.stringify([entry("plain", {}), ...entries]))
    const service = yield* startService({ PROVIDERS_FILE: path, HOSTS_KEY: "sk-host", SANDBOX: "off" })
    const { inferenceKey } = yield* service.account()
    return Effect.fnUntraced(function* (host: string, { answer: given = {}, body = {} }: Case) {
      seen.length = 0
      answer = given
      const request = { model: MODEL, messages: [user], routing: { providers: { only: [host] } }, ...body }
      const response = yield* post(`${service.api}/chat/completions`, inferenceKey, request)
      assert.strictEqual(response.status, 200, host)
      if (body["stream"] === true) {
        yield* Effect.promise(() => response.text())
        return { ...seen[0]!, message: {} }
      }
      return { ...seen[0]!, message: (yield* json(response)).choices[0].message as Json }
    })
  })

describe("every quirk of PROVIDERS_FILE", () => {
  it("has a case", () => {
    assert.deepStrictEqual(
      [...new Set(cases.map(({ name }) => name))].toSorted(),
      Object.keys(HostQuirks.fields).toSorted()
    )
  })

  for (const [what, kind, all] of [
    ["a host without a kind", {}, cases],
    ["a host with OpenAI's own wire format", { kind: "azure" }, azureCases]
  ] as const) {
    it.live(`changes the request to ${what} or the reading of its answer`, () =>
      Effect.gen(function* () {
        const ask = yield* start(kind, all)
        for (const [index, one] of all.entries()) {
          const at = (host: string) => Effect.map(ask(host, one), one.seen)
          const name = `${one.name} ${JSON.stringify(one.quirks)}`
          assert.deepStrictEqual(yield* at("plain"), one.without, `without ${name}`)
          assert.deepStrictEqual(yield* at(`own-${index}`), one.with, name)
          assert.deepStrictEqual(yield* at(`model-${index}`), one.with, `${name} of the model`)
        }
      }).pipe(Effect.scoped)
    )
  }
})
