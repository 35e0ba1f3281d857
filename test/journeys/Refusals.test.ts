/** Requests that a provider or the gateway refuses, and the errors that clients of each dialect get. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { json, post, startService } from "../support/Service.ts"

interface Refusal {
  readonly status: number
  readonly body: object
}

/** Starts a host of every wire format that answers each request with its `refusal`. */
const startRefusing = Effect.acquireRelease(
  Effect.callback<{ readonly url: string; refusal: Refusal; readonly close: () => void }>((resume) => {
    const server = createServer((request, response) => {
      request.resume().on("end", () => {
        response.writeHead(host.refusal.status, { "content-type": "application/json" })
        response.end(JSON.stringify(host.refusal.body))
      })
    })
    const close = () => {
      server.close()
      server.closeAllConnections()
    }
    const host = { url: "", refusal: { status: 400, body: {} } as Refusal, close }
    server.listen(0, "127.0.0.1", () => {
      host.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      resume(Effect.succeed(host))
    })
  }),
  ({ close }) => Effect.sync(close)
)

const openai = (message: string, more: object = {}): Refusal => ({
  status: 400,
  body: { error: { message, type: "invalid_request_error", param: null, code: null, ...more } }
})
const anthropic = (message: string): Refusal => ({
  status: 400,
  body: { type: "error", error: { type: "invalid_request_error", message } }
})
const gemini = (message: string, details: ReadonlyArray<object> = []): Refusal => ({
  status: 400,
  body: { error: { code: 400, message, status: "INVALID_ARGUMENT", details } }
})

const MODELS = { openai: "gpt-4o-mini", anthropic: "claude-haiku-4-5", gemini: "gemini-2.5-flash" } as const

interface Case {
  readonly provider: keyof typeof MODELS
  readonly refusal: Refusal
  readonly code: string
  /** The expected `param` in chat completions, messages and responses. */
  readonly params: readonly [string | null, string | null, string | null]
}

const cases: ReadonlyArray<Case> = [
  {
    provider: "openai",
    refusal: openai("This model's maximum context length is 128000 tokens.", {
      code: "context_length_exceeded",
      param: "messages"
    }),
    code: "context_length_exceeded",
    params: ["messages", "messages", "input"]
  },
  {
    provider: "anthropic",
    refusal: anthropic("prompt is too long: 208310 tokens > 200000 maximum"),
    code: "context_length_exceeded",
    params: ["messages", "messages", "input"]
  },
  {
    provider: "gemini",
    refusal: gemini("The input token count (1048790) exceeds the maximum number of tokens allowed (1048576)."),
    code: "context_length_exceeded",
    params: ["messages", "messages", "input"]
  },
  {
    provider: "openai",
    refusal: openai("Your prompt was flagged as potentially violating our usage policy.", { code: "invalid_prompt" }),
    code: "content_policy_violation",
    params: [null, null, null]
  },
  {
    provider: "openai",
    refusal: openai("Invalid value for 'max_completion_tokens'.", { param: "max_completion_tokens" }),
    code: "validation_error",
    params: ["max_tokens", "max_tokens", "max_output_tokens"]
  },
  {
    provider: "anthropic",
    refusal: anthropic("messages.0.content.1.text: cannot be empty"),
    code: "validation_error",
    params: ["messages", "messages", "input"]
  },
  {
    provider: "gemini",
    refusal: gemini("Invalid value.", [{ fieldViolations: [{ field: "generation_config.temperature" }] }]),
    code: "validation_error",
    params: ["temperature", "temperature", "temperature"]
  },
  {
    provider: "openai",
    refusal: openai("This does not please the model."),
    code: "validation_error",
    params: [null, null, null]
  }
]

const messages = [{ role: "user", content: "Hello" }]

const bodies = (model: string, stream: boolean) =>
  [
    ["chat/completions", { model, messages, stream }],
    ["messages", { model, messages, max_tokens: 100, stream }],
    ["responses", { model, input: "Hello", stream }]
  ] as const

/** Starts a gateway whose three providers are one refusing host, and creates an account with a key. */
const startRefused = Effect.gen(function* () {
  const host = yield* startRefusing
  const service = yield* startService({
    SANDBOX: "off",
    OPENAI_API_KEY: "sk-host-1",
    OPENAI_BASE_URL: `${host.url}/v1`,
    ANTHROPIC_API_KEY: "sk-host-1",
    ANTHROPIC_BASE_URL: host.url,
    GEMINI_API_KEY: "sk-host-1",
    GEMINI_BASE_URL: host.url
  })
  return { host, service, ...(yield* service.account()) }
})

describe("a provider's refusal", () => {
  it.live(
    "reaches the client as 400 with a code, the dialect's field and the provider's sentence, and costs nothing",
    () =>
      Effect.gen(function* () {
        const { account, host, inferenceKey, service } = yield* startRefused
        for (const { code, params, provider, refusal } of cases) {
          host.refusal = refusal
          for (const stream of [false, true]) {
            for (const [index, [path, body]] of bodies(MODELS[provider], stream).entries()) {
              const response = yield* post(`${service.api}/${path}`, inferenceKey, body)
              const { details, error } = yield* json(response)
              const label = `${provider} on ${path}: ${JSON.stringify(error)}`
              assert.deepStrictEqual([response.status, error.code, error.param], [400, code, params[index]], label)
              assert.include(error.message, (refusal.body as { error: { message: string } }).error.message, label)
              if (code === "validation_error") {
                assert.deepStrictEqual(
                  details?.map((one: { field: string }) => one.field),
                  params[index] === null ? [] : [params[index]],
                  label
                )
              }
            }
          }
        }
        assert.strictEqual((yield* service.balance(account.id)).posted, 100_000_000_000n)
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped),
    60_000
  )
})

/** Answers that a content filter has emptied, with the usage that the provider bills. */
const filtered: ReadonlyArray<readonly [keyof typeof MODELS, object]> = [
  [
    "openai",
    {
      object: "chat.completion",
      choices: [{ index: 0, message: { role: "assistant", content: "" }, finish_reason: "content_filter" }],
      usage: { prompt_tokens: 9, completion_tokens: 0, total_tokens: 9 }
    }
  ],
  [
    "anthropic",
    {
      type: "message",
      role: "assistant",
      content: [],
      stop_reason: "refusal",
      usage: { input_tokens: 9, output_tokens: 0 }
    }
  ],
  [
    "gemini",
    {
      candidates: [{ finishReason: "SAFETY" }],
      usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 }
    }
  ]
]

describe("an answer that a content filter empties", () => {
  it.live(
    "is a 400 content_policy_violation in every dialect, without retry and without a charge",
    () =>
      Effect.gen(function* () {
        const { account, host, inferenceKey, service } = yield* startRefused
        for (const [provider, body] of filtered) {
          host.refusal = { status: 200, body }
          for (const stream of [false, true]) {
            for (const [path, request] of bodies(MODELS[provider], stream)) {
              const response = yield* post(`${service.api}/${path}`, inferenceKey, request)
              const { error } = yield* json(response)
              const label = `${provider} on ${path}: ${JSON.stringify(error)}`
              assert.deepStrictEqual([response.status, error.code], [400, "content_policy_violation"], label)
              assert.strictEqual(response.headers.get("x-should-retry"), "false", label)
            }
          }
        }
        assert.strictEqual((yield* service.balance(account.id)).posted, 100_000_000_000n)
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped),
    60_000
  )
})

describe("a request with more tools than the provider accepts", () => {
  it.live("gets 400 with the name of the field before the hold", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account()
      const tools = (count: number) =>
        Array.from({ length: count }, (_, index) => ({ name: `tool_${index}`, input_schema: { type: "object" } }))
      const ask = (model: string, count: number) =>
        post(`${service.api}/messages`, inferenceKey, { model, messages, max_tokens: 100, tools: tools(count) })
      const refused = yield* ask("gpt-4o-mini", 129)
      const { error } = yield* json(refused)
      assert.deepStrictEqual([refused.status, error.code, error.param], [400, "validation_error", "tools"])
      assert.include(error.message, "at most 128 tools for gpt-4o-mini; got 129")
      assert.strictEqual((yield* service.balance(account.id)).posted, 100_000_000_000n)
      assert.strictEqual((yield* ask("gpt-4o-mini", 128)).status, 200)
      assert.strictEqual((yield* ask("claude-haiku-4-5", 129)).status, 200)
    }).pipe(Effect.scoped)
  )
})

describe("the field names of a request", () => {
  it.live("are listed in X-Svc-Ignored-Parameters when they are unknown, at every depth", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account()
      const response = yield* post(`${service.api}/chat/completions`, inferenceKey, {
        model: "gpt-4o-mini",
        flavour: 1,
        messages: [...messages, { role: "assistant", content: "Hi" }, { role: "user", content: "So?", foo: "x" }],
        tools: [{ type: "function", function: { name: "f", parameters: { type: "object", own: 1 }, bar: 1 } }]
      })
      assert.strictEqual(response.status, 200)
      const header = response.headers.get("x-svc-ignored-parameters")
      assert.strictEqual(header, "flavour, messages[2].foo, tools[0].function.bar")
      const responses = yield* post(`${service.api}/responses`, inferenceKey, {
        model: "gpt-4o-mini",
        flavour: 1,
        input: [
          { role: "user", content: [{ type: "input_text", text: "Hello", foo: 1 }] },
          { type: "message", id: "msg_1", status: "completed", role: "assistant", content: "Hi", bar: 1 }
        ],
        tools: [{ type: "function", name: "f", parameters: { type: "object", own: 1 }, baz: 1 }]
      })
      assert.strictEqual(responses.status, 200)
      assert.strictEqual(
        responses.headers.get("x-svc-ignored-parameters"),
        "flavour, input[0].content[0].foo, input[1].bar, tools[0].baz"
      )
    }).pipe(Effect.scoped)
  )

  it.live("are listed in the error details when they are required and missing", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account()
      for (const [path, names] of [
        ["chat/completions", ["model", "messages"]],
        ["chat", ["model", "messages"]],
        ["messages", ["model", "messages", "max_tokens"]],
        ["responses", ["model", "input"]],
        ["messages/count_tokens", ["model", "messages"]],
        ["estimate", ["model", "messages"]],
        ["embeddings", ["model", "input"]],
        ["rerank", ["model", "query", "documents"]],
        ["images", ["model", "prompt"]],
        ["images/generations", ["model", "prompt"]],
        ["audio/speech", ["model", "input", "voice"]],
        ["videos", ["model", "prompt", "duration", "aspect_ratio"]],
        ["search", ["query"]],
        ["batch", ["requests"]],
        ["batches", ["input_file_id", "endpoint", "completion_window"]]
      ] as const) {
        const { details, error } = yield* json(yield* post(`${service.api}/${path}`, inferenceKey, {}))
        assert.sameMembers(
          details.map((one: { field: string }) => one.field),
          [...names],
          path
        )
        assert.strictEqual(error.param, details[0].field, path)
      }
      const requests = [{ url: "/messages", body: {} }]
      const { details } = yield* json(yield* post(`${service.api}/batch`, inferenceKey, { requests }))
      assert.deepStrictEqual(
        details.map((one: { field: string }) => one.field),
        ["model", "max_tokens", "messages"].map((name) => `requests[0].body.${name}`)
      )
    }).pipe(Effect.scoped)
  )
})

describe("a request without messages or with more than MAX_MESSAGES", () => {
  it.live("gets an error that names the limit and the number found, and lists the other missing fields", () =>
    Effect.gen(function* () {
      const MAX_MESSAGES = "1200"
      const service = yield* startService({ MAX_MESSAGES })
      const { inferenceKey } = yield* service.account()
      const model = "gpt-4o-mini"
      const message = messages[0]!
      const problemsOf = (path: string, body: object) =>
        Effect.map(Effect.flatMap(post(`${service.api}/${path}`, inferenceKey, body), json), ({ details }) =>
          details.map((one: { field: string; message: string }) => `${one.field}: ${one.message}`)
        )
      for (const [path, member, others] of [
        ["chat/completions", "messages", {}],
        ["messages", "messages", { max_tokens: 5 }],
        ["messages/count_tokens", "messages", {}],
        ["responses", "input", {}],
        ["responses/input_tokens", "input", {}],
        ["estimate", "messages", {}]
      ] as const) {
        const asked = (length: number) => ({
          model,
          ...others,
          [member]: Array.from({ length }, () => message)
        })
        for (const [length, got] of [
          [0, "0"],
          [1_201, "1,201"],
          [10_001, "10,001"]
        ] as const) {
          const problems = yield* problemsOf(path, asked(length))
          assert.deepStrictEqual(problems, [`${member}: must contain 1 to 1,200 items; got ${got}`], path)
        }
        const served = yield* post(`${service.api}/${path}`, inferenceKey, asked(1_200))
        assert.strictEqual(served.status, 200, path)
      }
      assert.sameMembers(yield* problemsOf("messages", { messages: [] }), [
        "model: is required",
        "max_tokens: is required",
        "messages: must contain 1 to 1,200 items; got 0"
      ])
      const inBatch = { requests: [{ url: "/responses", body: { model, input: [] } }] }
      assert.deepStrictEqual(yield* problemsOf("batch", inBatch), [
        "requests[0].body.input: must contain 1 to 1,200 items; got 0"
      ])
    }).pipe(Effect.scoped)
  )
})
