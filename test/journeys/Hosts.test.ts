/** A fake host of every `kind` in `PROVIDERS_FILE`. Each fake refuses what the real host refuses. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { HOST_KINDS, type HostKind } from "../../src/platform/config/HostQuirks.ts"
import { CONTENT, HOST_MODELS, type Sent, startHostKinds } from "../support/HostKinds.ts"
import { json, post, startService } from "../support/Service.ts"
import { temporaryDirectory } from "../support/Directories.ts"
import { frames, textOf } from "../support/Streams.ts"

const tool = {
  type: "function",
  function: { name: "look", description: "Looks", parameters: { type: "object", properties: {} }, strict: true }
}

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
  const { inferenceKey } = yield* service.account()
  const ask = Effect.fnUntraced(function* (kind: HostKind, body: object) {
    hosts.requests.length = 0
    const request = { model: HOST_MODELS[kind][0], routing: { providers: { only: [kind] } }, ...body }
    const response = yield* post(`${service.api}/chat/completions`, inferenceKey, request)
    const answer = yield* json(response)
    return { status: response.status, answer, sent: hosts.requests[0]! }
  })
  const stream = Effect.fnUntraced(function* (kind: HostKind, body: object) {
    const request = { model: HOST_MODELS[kind][0], routing: { providers: { only: [kind] } }, stream: true, ...body }
    return yield* frames(yield* post(`${service.api}/chat/completions`, inferenceKey, request))
  })
  return { api: service.api, ask, hosts, inferenceKey, stream }
})

const messages = [
  {
    role: "system",
    content: [
      { type: "text", text: "Be brief." },
      { type: "text", text: "Be kind." }
    ]
  },
  { role: "user", content: "Does it work?" }
]

const called = [
  ...messages,
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "call_1", type: "function", function: { name: "look", arguments: "{}" } }]
  },
  {
    role: "tool",
    tool_call_id: "call_1",
    content: [
      { type: "text", text: "first" },
      { type: "text", text: "second" }
    ]
  }
]

/** Every sampling parameter, with a value that every model accepts. */
const sampling = {
  temperature: 0.5,
  top_p: 0.9,
  top_k: 20,
  min_p: 0.1,
  repetition_penalty: 1.1,
  frequency_penalty: 0.1,
  presence_penalty: 0.1,
  seed: 7,
  logprobs: true,
  parallel_tool_calls: false,
  max_tokens: 500
}

const messageOf = (answer: unknown): Sent =>
  (answer as { readonly choices: ReadonlyArray<{ message: Sent }> }).choices[0]!.message

describe("a host of each kind", () => {
  it.live(
    "serves requests with every parameter, tools and tool results in parts, plain and streamed",
    () =>
      Effect.gen(function* () {
        const { ask, stream } = yield* start
        for (const kind of HOST_KINDS) {
          const choice = { type: "function", function: { name: "look" } }
          const first = yield* ask(kind, {
            ...sampling,
            messages,
            tools: [tool, { ...tool, function: { name: "other" } }],
            tool_choice: choice
          })
          assert.strictEqual(first.status, 200, `${kind}: ${JSON.stringify(first.answer)}`)
          assert.strictEqual(messageOf(first.answer)["tool_calls"][0].function.name, "look", kind)
          const second = yield* ask(kind, { ...sampling, messages: called, tools: [tool] })
          assert.strictEqual(second.status, 200, `${kind}: ${JSON.stringify(second.answer)}`)
          assert.strictEqual(messageOf(second.answer)["content"], CONTENT, kind)
          const streamed = yield* stream(kind, { ...sampling, messages: called, tools: [tool] })
          assert.strictEqual(textOf(streamed), CONTENT, `${kind}: ${JSON.stringify(streamed)}`)
          const formatted = yield* ask(kind, { messages, response_format: { type: "json_object" } })
          assert.notStrictEqual(formatted.status, 400, `${kind}: ${JSON.stringify(formatted.answer)}`)
        }
      }).pipe(Effect.scoped),
    60_000
  )

  it.live(
    "gets the nearest reasoning effort it supports, and none when the client turns reasoning off",
    () =>
      Effect.gen(function* () {
        const { ask } = yield* start
        for (const kind of HOST_KINDS.filter((one) => one !== "azure")) {
          for (const effort of ["minimal", "low", "medium", "high", "xhigh"]) {
            const { answer, status } = yield* ask(kind, { messages, reasoning_effort: effort })
            assert.strictEqual(status, 200, `${kind}, ${effort}: ${JSON.stringify(answer)}`)
          }
          for (const off of [
            { reasoning_effort: "none" },
            { reasoning: { enabled: false } },
            { reasoning: { max_tokens: 0 } }
          ]) {
            const { answer, sent, status } = yield* ask(kind, { messages, ...off })
            assert.strictEqual(status, 200, `${kind}: ${JSON.stringify(answer)}`)
            assert.isUndefined(messageOf(answer)["reasoning"], `${kind} must not reason: ${JSON.stringify(sent.body)}`)
          }
        }
        const azure = yield* ask("azure", { messages, reasoning_effort: "none" })
        assert.strictEqual(azure.status, 200)
        assert.deepInclude(azure.sent.body, {
          reasoning_effort: "minimal",
          max_completion_tokens: azure.sent.body["max_completion_tokens"]
        })
        assert.strictEqual(azure.sent.headers["api-key"], "sk-host")
        assert.notProperty(azure.sent.headers, "authorization")
      }).pipe(Effect.scoped),
    60_000
  )
})
