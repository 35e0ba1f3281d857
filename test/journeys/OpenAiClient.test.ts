/** OpenAI's official client against the gateway. Only its base URL and its key differ from a client of OpenAI. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  type ClientOptions,
  ConflictError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  UnprocessableEntityError
} from "openai"
import type { ChatCompletion, ChatCompletionChunk, ChatCompletionMessageParam } from "openai/resources/chat"
import { nano } from "../support/Amounts.ts"
import { pdfUrl, pdfWith } from "../support/Pdf.ts"
import { get, json, type Service, startService } from "../support/Service.ts"

const model = "gpt-4o-mini"
const messages: Array<ChatCompletionMessageParam> = [{ role: "user", content: "How warm is it in Oslo?" }]
const tools = [
  {
    type: "function" as const,
    function: {
      name: "weather",
      description: "The weather of a city",
      parameters: { type: "object", properties: { city: { const: "Oslo" } }, required: ["city"] }
    }
  }
]

/** The fields that the gateway adds to an answer. The client has no types for them. */
type Extras = { readonly cost_usd: number; readonly request_id: string; readonly provider: string }
const extrasOf = (answer: ChatCompletion | ChatCompletionChunk) => answer as unknown as Extras

const sandbox = (steering: string) => ({ headers: { "x-svc-sandbox": steering } })

const clientOf = (service: Service, apiKey: string, options: ClientOptions = {}) =>
  new OpenAI({ apiKey, baseURL: service.api, ...options })

const settled = (service: Service, key: string) => Effect.flatMap(get(`${service.api}/requests?limit=100`, key), json)

/** A test with a running gateway and an account that has $10. */
const journey = (
  name: string,
  body: (with_: {
    readonly service: Service
    readonly client: OpenAI
    readonly key: string
    /** Returns the charges to the account so far, in nano-USD. */
    readonly spent: Effect.Effect<bigint>
  }) => Promise<void> | Effect.Effect<void>,
  env: Record<string, string> = {}
) =>
  it.live(name, () =>
    Effect.gen(function* () {
      const service = yield* startService(env)
      const { account, inferenceKey: key } = yield* service.account(10)
      const client = clientOf(service, key)
      const spent = Effect.map(Effect.orDie(service.balance(account.id)), ({ posted }) => 10_000_000_000n - posted)
      const run = body({ service, client, key, spent })
      yield* run instanceof Promise ? Effect.promise(() => run) : run
    }).pipe(Effect.scoped)
  )

const collect = async (stream: AsyncIterable<ChatCompletionChunk>) => {
  const chunks: Array<ChatCompletionChunk> = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

const textOf = (chunks: ReadonlyArray<ChatCompletionChunk>) =>
  chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")

/** Awaits a call that must fail with an error of this class. */
const failing = async <E extends APIError>(
  kind: new (...args: Array<never>) => E,
  call: PromiseLike<unknown>
): Promise<E> => {
  try {
    await call
  } catch (error) {
    assert.isTrue(error instanceof kind, String(error))
    return error as E
  }
  return assert.fail("the call must fail")
}

describe("the OpenAI client", () => {
  journey("gets a plain answer with its usage and cost", async ({ client, spent }) => {
    const answer = await client.chat.completions.create({ model, messages })
    const [choice] = answer.choices
    assert.include(choice?.message.content ?? "", "How warm is it in Oslo?")
    assert.deepStrictEqual(
      [answer.object, choice?.finish_reason, choice?.message.role],
      ["chat.completion", "stop", "assistant"]
    )
    const { completion_tokens = 0, prompt_tokens = 0, total_tokens } = answer.usage ?? {}
    assert.isAbove(prompt_tokens, 0)
    assert.strictEqual(total_tokens, prompt_tokens + completion_tokens)
    assert.match(answer._request_id ?? "", /^req_/)
    assert.strictEqual(await Effect.runPromise(spent), nano(extrasOf(answer).cost_usd))
  })

  journey("gets a stream with the cost on its last chunk", async ({ client, spent }) => {
    const chunks = await collect(await client.chat.completions.create({ model, messages, stream: true }))
    assert.include(textOf(chunks), "How warm is it in Oslo?")
    assert.strictEqual(chunks[0]?.choices[0]?.delta.role, "assistant")
    assert.isTrue(chunks.every((chunk) => chunk.choices.length === 1))
    assert.strictEqual(chunks.at(-1)?.choices[0]?.finish_reason, "stop")
    const last = extrasOf(chunks.at(-1)!)
    assert.strictEqual(await Effect.runPromise(spent), nano(last.cost_usd))
  })

  journey("gets OpenAI's usage chunk when it sets include_usage", async ({ client }) => {
    const options = { stream: true, stream_options: { include_usage: true } } as const
    const chunks = await collect(await client.chat.completions.create({ model, messages, ...options }))
    const last = chunks.at(-1)
    assert.deepStrictEqual(last?.choices, [])
    assert.isAbove(last?.usage?.completion_tokens ?? 0, 0)
    assert.isTrue(chunks.slice(0, -1).every((chunk) => chunk.choices.length === 1 && chunk.usage == null))
    assert.isAbove(extrasOf(last!).cost_usd, 0)
  })

  journey("assembles a stream with its helper", async ({ client }) => {
    for (const include_usage of [false, true]) {
      const runner = client.chat.completions.stream({ model, messages, stream_options: { include_usage } })
      let text = ""
      runner.on("content", (delta) => (text += delta))
      const answer = await runner.finalChatCompletion()
      assert.strictEqual(answer.choices[0]?.message.content, text)
      assert.strictEqual(answer.choices[0]?.finish_reason, "stop")
      assert.isAbove((await runner.totalUsage()).total_tokens, 0)
    }
  })

  journey("gets output that matches its JSON schema", async ({ client }) => {
    const answer = await client.chat.completions.parse({
      model,
      messages,
      response_format: {
        type: "json_schema",
        json_schema: {
          name: "weather",
          strict: true,
          schema: {
            type: "object",
            properties: { degrees: { type: "integer" }, sky: { enum: ["clear", "grey"] } },
            required: ["degrees", "sky"],
            additionalProperties: false
          }
        }
      }
    })
    const said = JSON.parse(answer.choices[0]?.message.content ?? "")
    assert.isTrue(Number.isInteger(said.degrees))
    assert.strictEqual(said.sky, "clear")
  })

  journey("gets reasoning tokens counted as part of the completion tokens", async ({ client }) => {
    const answer = await client.chat.completions.create(
      { model: "gpt-5-mini", messages, reasoning_effort: "low" },
      sandbox("reasoning_tokens=64,output_tokens=100")
    )
    assert.strictEqual(answer.usage?.completion_tokens, 100)
    assert.strictEqual(answer.usage?.completion_tokens_details?.reasoning_tokens, 64)
  })

  journey("gets the reasoning text of a reasoning model", async ({ client }) => {
    const answer = await client.chat.completions.create({ model: "gpt-5-mini", messages, reasoning_effort: "low" })
    const { reasoning } = answer.choices[0]!.message as { reasoning?: string }
    assert.isNotEmpty(reasoning)
    assert.isAbove(answer.usage?.completion_tokens_details?.reasoning_tokens ?? 0, 0)
  })

  journey(
    "gets output up to its stop sequence, with the log-probabilities of every token, plain and streamed",
    async ({ client }) => {
      const asked = { model, messages, stop: [" answers"], logprobs: true, top_logprobs: 2, verbosity: "low" } as const
      const { choices } = await client.chat.completions.create({ ...asked, stop: [...asked.stop] })
      const [choice] = choices
      assert.match(choice?.message.content ?? "", /The sandbox$/)
      const entries = choice?.logprobs?.content ?? []
      assert.strictEqual(entries.map((entry) => entry.token).join(""), choice?.message.content)
      assert.isTrue(entries.every((entry) => entry.top_logprobs.length === 2))
      assert.isNull(choice?.logprobs?.refusal)
      const chunks = await collect(
        await client.chat.completions.create({ ...asked, stop: [...asked.stop], stream: true })
      )
      assert.strictEqual(textOf(chunks), choice?.message.content)
      assert.deepStrictEqual(
        chunks.flatMap((chunk) => chunk.choices[0]?.logprobs?.content ?? []),
        [...entries]
      )
      const weighed = chunks.flatMap((chunk) => chunk.choices[0]?.logprobs ?? [])
      assert.isTrue(weighed.every(({ refusal }) => refusal === null))
    }
  )

  journey("may send text and PDF files, and gets a BadRequestError for other files", async ({ client }) => {
    const file = (file_data: string) =>
      client.chat.completions.create({
        model,
        messages: [{ role: "user", content: [{ type: "file", file: { filename: "notes.md", file_data } }] }]
      })
    const answer = await file(`data:text/markdown;base64,${Buffer.from("Remember the milk").toString("base64")}`)
    assert.include(answer.choices[0]?.message.content ?? "", "notes.md Remember the milk")
    const read = await file(pdfUrl(pdfWith(["Remember the milk"])))
    assert.isAbove(read.usage?.prompt_tokens ?? 0, 80)
    const refused = await file("data:application/zip;base64,AAAA").catch((error: unknown) => error)
    assert.instanceOf(refused, BadRequestError)
    assert.deepInclude(refused, { code: "unsupported_parameter", param: "messages[0].content[0].file.file_data" })
  })

  journey("gets the request id, rate limit and sandbox headers", async ({ client }) => {
    const { data, request_id, response } = await client.chat.completions.create({ model, messages }).withResponse()
    assert.strictEqual(request_id, extrasOf(data).request_id)
    assert.strictEqual(response.headers.get("x-request-id"), request_id)
    const limit = Number(response.headers.get("x-ratelimit-limit"))
    assert.strictEqual(Number(response.headers.get("x-ratelimit-remaining")), limit - 1)
    assert.strictEqual(response.headers.get("x-svc-sandbox"), "true")
    const streamed = await client.chat.completions.create({ model, messages, stream: true }).withResponse()
    assert.match(streamed.request_id ?? "", /^req_/)
    assert.match(streamed.response.headers.get("content-type") ?? "", /^text\/event-stream/)
    await collect(streamed.data)
  })
})

describe("a tool of the OpenAI client", () => {
  journey("is called, and its result continues the conversation", async ({ client }) => {
    const first = await client.chat.completions.create({ model, messages, tools })
    const message = first.choices[0]!.message
    assert.strictEqual(first.choices[0]?.finish_reason, "tool_calls")
    const [call] = message.tool_calls ?? []
    if (call?.type !== "function") return assert.fail("the answer must call a function")
    assert.deepStrictEqual([call.function.name, JSON.parse(call.function.arguments)], ["weather", { city: "Oslo" }])
    const answered = { role: "tool", tool_call_id: call.id, content: "minus four" } as const
    const second = await client.chat.completions.create({ model, messages: [...messages, message, answered], tools })
    assert.include(second.choices[0]?.message.content ?? "", "minus four")
    assert.strictEqual(second.choices[0]?.finish_reason, "stop")
  })

  journey(
    "is called in parallel with others unless parallel_tool_calls is false, and only when allowed_tools has it",
    async ({ client }) => {
      const many = ["weather", "clock", "calendar"].map((name) => ({ type: "function", function: { name } }) as const)
      const question = [{ role: "user", content: "What do clock, calendar and weather say?" }] as const
      const calledBy = async (more: object) => {
        const runner = client.chat.completions.stream({ model, messages: [...question], tools: many, ...more })
        const { message } = (await runner.finalChatCompletion()).choices[0]!
        const calls = message.tool_calls ?? []
        assert.strictEqual(new Set(calls.map((call) => call.id)).size, calls.length)
        return calls.map((call) => (call.type === "function" ? call.function.name : call.type))
      }
      assert.deepStrictEqual(await calledBy({}), ["weather", "clock", "calendar"])
      assert.deepStrictEqual(await calledBy({ parallel_tool_calls: false }), ["weather"])
      const allowed_tools = { mode: "required", tools: [many[2], many[1]] }
      assert.deepStrictEqual(await calledBy({ tool_choice: { type: "allowed_tools", allowed_tools } }), [
        "clock",
        "calendar"
      ])
    }
  )

  journey("is called in a stream, and its result continues the conversation", async ({ client }) => {
    const chunks = await collect(await client.chat.completions.create({ model, messages, tools, stream: true }))
    const deltas = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? [])
    assert.deepStrictEqual(
      deltas.map(({ id, index, type }) => [index, id !== undefined, type !== undefined]),
      deltas.map((_, at) => [0, at === 0, at === 0])
    )
    assert.strictEqual(chunks.at(-1)?.choices[0]?.finish_reason, "tool_calls")
    const args = deltas.map((delta) => delta.function?.arguments ?? "").join("")
    const { id = "", function: named } = deltas[0]!
    const call = { id, type: "function" as const, function: { name: named?.name ?? "", arguments: args } }
    const history = [
      ...messages,
      { role: "assistant" as const, content: null, tool_calls: [call] },
      { role: "tool" as const, tool_call_id: id, content: "minus four" }
    ]
    const options = { model, messages: history, tools, stream: true } as const
    assert.include(textOf(await collect(await client.chat.completions.create(options))), "minus four")
  })

  journey("is run by the client's runTools helper", async ({ client }) => {
    const asked: Array<unknown> = []
    const runner = client.chat.completions.runTools({
      model,
      messages,
      tools: [
        {
          type: "function",
          function: {
            ...tools[0]!.function,
            parse: JSON.parse,
            function: (args: object) => {
              asked.push(args)
              return "minus four"
            }
          }
        }
      ]
    })
    assert.include((await runner.finalContent()) ?? "", "minus four")
    assert.deepStrictEqual(asked, [{ city: "Oslo" }])
  })
})

describe("an error to the OpenAI client", () => {
  const cases = [
    ["an AuthenticationError for an unknown key", AuthenticationError, 401, "invalid_api_key"],
    ["a PermissionDeniedError for a management key", PermissionDeniedError, 403, "wrong_key_kind"]
  ] as const
  for (const [name, kind, status, code] of cases) {
    it.live(`is ${name}`, () =>
      Effect.gen(function* () {
        const service = yield* startService()
        const { managementKey } = yield* service.account(1)
        const key = status === 403 ? managementKey : `svc_sk_${"A".repeat(43)}`
        const call = clientOf(service, key).chat.completions.create({ model, messages })
        const error = yield* Effect.promise(() => failing<APIError>(kind, call))
        assert.deepStrictEqual([error.status, error.code], [status, code])
        assert.match(error.requestID ?? "", /^req_/)
      }).pipe(Effect.scoped)
    )
  }

  journey("is a BadRequestError that names the field of an invalid request", async ({ client }) => {
    const wrong = client.chat.completions.create({ model, messages, temperature: 3 })
    const error = await failing(BadRequestError, wrong)
    assert.deepStrictEqual(
      [error.code, error.param, error.type],
      ["validation_error", "temperature", "invalid_request_error"]
    )
    const unsupported = await failing(BadRequestError, client.chat.completions.create({ model, messages, n: 2 }))
    assert.deepStrictEqual([unsupported.code, unsupported.param], ["unsupported_parameter", "n"])
  })

  journey("is a NotFoundError for an unknown preset, model or route", async ({ client }) => {
    const preset = await failing(NotFoundError, client.chat.completions.create({ model: "@none", messages }))
    assert.strictEqual(preset.code, "not_found")
    const absent = await failing(NotFoundError, client.models.retrieve("gpt-0"))
    assert.strictEqual(absent.code, "not_found")
    const elsewhere = await failing(NotFoundError, client.evals.list())
    assert.strictEqual(elsewhere.code, "unknown_route")
  })

  it.live("is an APIError with status 402 when the account has no balance", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(0)
      const call = clientOf(service, inferenceKey).chat.completions.create({ model, messages })
      const error = yield* Effect.promise(() => failing<APIError>(APIError, call))
      assert.deepStrictEqual(
        [error.status, error.code, error.type],
        [402, "insufficient_credits", "insufficient_quota"]
      )
    }).pipe(Effect.scoped)
  )

  journey(
    "is a RateLimitError with a retry-after header when the rate limit is exceeded",
    async ({ key, service }) => {
      const client = clientOf(service, key, { maxRetries: 0 })
      for (let sent = 0; sent < 3; sent++) await client.chat.completions.create({ model, messages })
      const error = await failing(RateLimitError, client.chat.completions.create({ model, messages }))
      assert.deepStrictEqual([error.code, error.type], ["rate_limit_exceeded", "rate_limit_error"])
      const seconds = (name: string) => Number(error.headers.get(name))
      assert.deepStrictEqual([seconds("x-ratelimit-limit"), seconds("x-ratelimit-remaining")], [3, 0])
      assert.isAtLeast(seconds("retry-after"), 1)
      assert.isAtLeast(seconds("retry-after"), seconds("x-ratelimit-reset"))
      assert.strictEqual(error.headers.get("x-should-retry"), "true")
    },
    { RATE_LIMIT_SCALE: "0.05" }
  )

  journey(
    "is an InternalServerError with status 502 when every provider fails, and nothing is charged",
    async ({ key, service, spent }) => {
      const client = clientOf(service, key, { maxRetries: 0, defaultHeaders: { "x-svc-sandbox": "fault=error" } })
      const error = await failing(InternalServerError, client.chat.completions.create({ model, messages }))
      assert.deepStrictEqual([error.status, error.code], [502, "upstream_error"])
      const streamed = client.chat.completions.create({ model, messages, stream: true })
      assert.strictEqual((await failing(InternalServerError, streamed)).status, 502)
      const empty = client.chat.completions.create({ model, messages }, sandbox("fault=empty"))
      assert.strictEqual((await failing(InternalServerError, empty)).code, "empty_completion")
      assert.strictEqual(await Effect.runPromise(spent), 0n)
    }
  )

  journey(
    "ends a stream that breaks, after the client has received the output before it",
    async ({ client, spent }) => {
      const stream = await client.chat.completions.create(
        { model, messages, stream: true },
        sandbox("fault=break,after=3")
      )
      const seen: Array<string> = []
      const read = async () => {
        for await (const chunk of stream) seen.push(chunk.choices[0]?.delta.content ?? "")
      }
      const error = await failing<APIError>(APIError, read())
      assert.strictEqual(error.code, "upstream_error")
      assert.lengthOf(seen, 3)
      assert.isAbove(Number(await Effect.runPromise(spent)), 0)
    }
  )
})

describe("the OpenAI client's retry", () => {
  /** A `fetch` whose first calls have these faults. `tries` returns the number of calls. */
  const failingFirst = (...steering: ReadonlyArray<string>) => {
    let tries = 0
    return {
      tries: () => tries,
      fetch: (url: string | URL | Request, init?: RequestInit) => {
        const told = steering[tries++]
        const headers = new Headers(init?.headers)
        if (told !== undefined) headers.set("x-svc-sandbox", told)
        return fetch(url, { ...init, headers })
      }
    }
  }

  journey("succeeds when the provider recovers, and only the success is charged", ({ key, service, spent }) =>
    Effect.gen(function* () {
      const flaky = failingFirst("fault=error", "fault=rate_limit")
      const client = clientOf(service, key, { fetch: flaky.fetch })
      const answer = yield* Effect.promise(() => client.chat.completions.create({ model, messages }))
      assert.strictEqual(flaky.tries(), 3)
      assert.strictEqual(yield* spent, nano(extrasOf(answer).cost_usd))
      const { data } = yield* settled(service, key)
      assert.deepStrictEqual(
        data.map((receipt: { readonly status: string }) => receipt.status),
        ["succeeded", "failed", "failed"]
      )
    })
  )

  journey("does not happen after a 400", async ({ key, service }) => {
    const steady = failingFirst()
    const client = clientOf(service, key, { fetch: steady.fetch })
    await failing(BadRequestError, client.chat.completions.create({ model: "gpt-0", messages }))
    assert.strictEqual(steady.tries(), 1)
  })
})

describe("an idempotency key of the OpenAI client", () => {
  const once = { headers: { "idempotency-key": "order-7" } }

  journey("replays the first answer without a second charge or receipt", ({ client, key, service, spent }) =>
    Effect.gen(function* () {
      const ask = Effect.promise(() => client.chat.completions.create({ model, messages }, once).withResponse())
      const first = yield* ask
      const paid = yield* spent
      const second = yield* ask
      assert.deepStrictEqual(second.data, first.data)
      assert.isNull(first.response.headers.get("idempotency-replayed"))
      assert.strictEqual(second.response.headers.get("idempotency-replayed"), "true")
      assert.notStrictEqual(second.response.headers.get("x-request-id"), first.response.headers.get("x-request-id"))
      assert.isAbove(Number(paid), 0)
      assert.strictEqual(yield* spent, paid)
      assert.lengthOf((yield* settled(service, key)).data, 1)
    })
  )

  journey("replays the first stream without a second charge", async ({ client, spent }) => {
    const ask = async () => collect(await client.chat.completions.create({ model, messages, stream: true }, once))
    const first = await ask()
    const paid = await Effect.runPromise(spent)
    const second = await ask()
    assert.strictEqual(textOf(second), textOf(first))
    assert.deepStrictEqual(second.at(-1), first.at(-1))
    assert.strictEqual(await Effect.runPromise(spent), paid)
  })

  journey("answers 422 when it is reused for a different request", async ({ client }) => {
    await client.chat.completions.create({ model, messages }, once)
    const other = client.chat.completions.create({ model, messages, temperature: 1 }, once)
    const error = await failing(UnprocessableEntityError, other)
    assert.deepStrictEqual([error.code, error.param], ["idempotency_key_reused", "Idempotency-Key"])
  })

  journey(
    "answers 409 while its first request runs, and the client's retry gets the first answer",
    ({ client, key, service, spent }) =>
      Effect.gen(function* () {
        const headers = { ...once.headers, "x-svc-sandbox": "latency_ms=1500" }
        const patient = clientOf(service, key, { maxRetries: 5 })
        const running = client.chat.completions.create({ model, messages }, { headers })
        // The client sends a request only when its promise is awaited.
        const first = running.then((answer) => answer)
        yield* Effect.repeat(settled(service, key), { until: ({ data }) => data.length === 1 })
        const hasty = clientOf(service, key, { maxRetries: 0 })
        const error = yield* Effect.promise(() =>
          failing(ConflictError, hasty.chat.completions.create({ model, messages }, { headers }))
        )
        assert.strictEqual(error.code, "idempotency_request_in_progress")
        assert.strictEqual(error.headers.get("retry-after"), "1")
        const second = yield* Effect.promise(() => patient.chat.completions.create({ model, messages }, { headers }))
        const { cost_usd, request_id } = extrasOf(yield* Effect.promise(() => first))
        assert.strictEqual(extrasOf(second).request_id, request_id)
        assert.strictEqual(yield* spent, nano(cost_usd))
      })
  )
})

describe("a model", () => {
  journey("is listed to and retrieved by the OpenAI client, also when its id has a slash", async ({ client }) => {
    const ids: Array<string> = []
    for await (const { id } of client.models.list()) ids.push(id)
    assert.includeMembers(ids, [model, "svc/auto", "meta-llama/llama-3.3-70b-instruct"])
    for (const id of [model, "svc/auto"]) {
      const found = await client.models.retrieve(id)
      assert.deepStrictEqual([found.id, found.object], [id, "model"])
    }
  })
})
