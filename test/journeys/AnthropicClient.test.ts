/** Anthropic's official client against the gateway. Only its base URL and its key differ from a client of Anthropic. */
import Anthropic, {
  APIError,
  AuthenticationError,
  BadRequestError,
  type ClientOptions,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  UnprocessableEntityError
} from "@anthropic-ai/sdk"
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod"
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod"
import type { Message, MessageCreateParamsNonStreaming, MessageParam } from "@anthropic-ai/sdk/resources/messages"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { z } from "zod"
import { nano } from "../support/Amounts.ts"
import { type Service, startService } from "../support/Service.ts"

const model = "claude-sonnet-4-6"
const messages: Array<MessageParam> = [{ role: "user", content: "How warm is it in Oslo?" }]
const ask = { model, max_tokens: 500, messages }
const weather = {
  name: "weather",
  description: "The weather of a city",
  input_schema: { type: "object" as const, properties: { city: { const: "Oslo" } }, required: ["city"] }
}

/** The fields that the gateway adds to an answer. The client has no types for them. */
type Extras = { readonly cost_usd: number; readonly request_id: string; readonly provider: string }
const extrasOf = (answer: object) => answer as unknown as Extras

const sandbox = (steering: string) => ({ headers: { "x-svc-sandbox": steering } })

const clientOf = ({ origin }: Service, apiKey: string, options: ClientOptions = {}) =>
  new Anthropic({ apiKey, baseURL: `${origin}/api`, maxRetries: 0, ...options })

/** A test with a running gateway and an account that has $10. */
const journey = (
  name: string,
  body: (with_: {
    readonly service: Service
    readonly client: Anthropic
    readonly key: string
    /** Returns the charges to the account so far, in nano-USD. */
    readonly spent: () => Promise<bigint>
  }) => Promise<void>,
  env: Record<string, string> = {}
) =>
  it.live(name, () =>
    Effect.gen(function* () {
      const service = yield* startService(env)
      const { account, inferenceKey: key } = yield* service.account(10)
      const client = clientOf(service, key)
      const spent = () =>
        Effect.runPromise(
          Effect.map(Effect.orDie(service.balance(account.id)), ({ posted }) => 10_000_000_000n - posted)
        )
      yield* Effect.promise(() => body({ service, client, key, spent }))
    }).pipe(Effect.scoped)
  )

const textOf = ({ content }: Pick<Message, "content">) =>
  content.map((block) => (block.type === "text" ? block.text : "")).join("")

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

/** Returns the fields of an error that the client passes on unchanged. */
const saidIn = (error: APIError) =>
  (error.error as { readonly error: { readonly type: string; readonly code: string; readonly param: string | null } })
    .error

describe("Anthropic's client", () => {
  journey("gets a plain message with its usage and cost", async ({ client, spent }) => {
    const answer = await client.messages.create(ask)
    assert.include(textOf(answer), "How warm is it in Oslo?")
    assert.deepStrictEqual(
      [answer.type, answer.role, answer.model, answer.stop_reason],
      ["message", "assistant", model, "end_turn"]
    )
    assert.isAbove(answer.usage.input_tokens, 0)
    assert.isAbove(answer.usage.output_tokens, 0)
    assert.strictEqual(answer._request_id, extrasOf(answer).request_id)
    assert.strictEqual(await spent(), nano(extrasOf(answer).cost_usd))
  })

  journey("gets messages from models of every provider and from svc/auto", async ({ client }) => {
    for (const other of ["gpt-4o-mini", "gemini-2.5-flash", "svc/auto"]) {
      const answer = await client.messages.create({ ...ask, model: other })
      assert.include(textOf(answer), "Oslo")
    }
  })

  journey("gets a stream in the Messages API's order of events, with its cost", async ({ client, spent }) => {
    const types: Array<string> = []
    let text = ""
    let cost = 0
    for await (const event of await client.messages.create({ ...ask, stream: true })) {
      types.push(event.type)
      if (event.type === "content_block_delta" && event.delta.type === "text_delta") text += event.delta.text
      if (event.type === "message_delta") cost = extrasOf(event).cost_usd
    }
    assert.include(text, "How warm is it in Oslo?")
    assert.deepStrictEqual(
      [types[0], types[1], types.at(-2), types.at(-1)],
      ["message_start", "content_block_start", "message_delta", "message_stop"]
    )
    assert.strictEqual(await spent(), nano(cost))
  })

  journey("assembles a stream into the same message that the plain answer has", async ({ client }) => {
    const cases: ReadonlyArray<readonly [body: MessageCreateParamsNonStreaming, steering: string]> = [
      [ask, "output_tokens=40"],
      [{ ...ask, model: "gpt-4o-mini" }, "output_tokens=60,reasoning_tokens=10"],
      [{ ...ask, tools: [weather], tool_choice: { type: "any" } }, ""],
      [{ ...ask, max_tokens: 5 }, "output_tokens=90"]
    ]
    for (const [body, steering] of cases) {
      const stream = client.messages.stream(body, sandbox(steering))
      const ended: Array<string> = []
      stream.on("contentBlock", (block) => ended.push(block.type))
      const streamed = await stream.finalMessage()
      const whole = await client.messages.create(body, sandbox(steering))
      // Ids are new in each answer, and so are the seals of reasoning.
      const comparable = ({ content }: Message) =>
        content.map((block) => {
          if (block.type === "thinking") return { ...block, signature: block.signature.length > 40 }
          return "id" in block ? { ...block, id: "" } : block
        })
      assert.deepStrictEqual(comparable(streamed), comparable(whole))
      assert.deepStrictEqual(
        ended,
        whole.content.map(({ type }) => type)
      )
      assert.strictEqual(streamed.stop_reason, whole.stop_reason)
      assert.deepStrictEqual(streamed.usage, whole.usage)
    }
  })

  journey("gets output that its Zod helper parses, plain and streamed", async ({ client }) => {
    const City = z.object({ city: z.literal("Oslo"), warm: z.boolean(), degrees: z.number() })
    for (const one of [model, "gpt-4o-mini"]) {
      const format = { output_config: { format: zodOutputFormat(City) } }
      const { parsed_output } = await client.messages.parse({ ...ask, ...format, model: one })
      assert.strictEqual(parsed_output?.city, "Oslo")
      const streamed = await client.messages.stream({ ...ask, ...format, model: one }).finalMessage()
      assert.strictEqual(streamed.parsed_output?.city, "Oslo")
    }
  })

  journey("counts the tokens of a prompt without a charge", async ({ client, spent }) => {
    const { input_tokens } = await client.messages.countTokens({ model, messages })
    assert.isAbove(input_tokens, 0)
    const more = await client.messages.countTokens({ model, messages, system: "Be brief", tools: [weather] })
    assert.isAbove(more.input_tokens, input_tokens)
    assert.strictEqual(await spent(), 0n)
  })

  journey("authenticates with a bearer token too", async ({ key, service }) => {
    const client = new Anthropic({ apiKey: null, authToken: key, baseURL: `${service.origin}/api` })
    assert.include(textOf(await client.messages.create(ask)), "Oslo")
  })
})

describe("a tool of Anthropic's client", () => {
  journey("is called after a thinking block, and its result continues the conversation", async ({ client }) => {
    const body = { ...ask, model: "gpt-4o-mini", tools: [weather] }
    const first = await client.messages.create(body, sandbox("reasoning_tokens=10"))
    assert.deepStrictEqual(
      first.content.map(({ type }) => type),
      ["thinking", "tool_use"]
    )
    const call = first.content.at(-1)
    if (call?.type !== "tool_use") return assert.fail("the last block must be a tool call")
    assert.deepStrictEqual([call.name, call.input, first.stop_reason], ["weather", { city: "Oslo" }, "tool_use"])
    assert.deepStrictEqual(call.caller, { type: "direct" })
    const second = await client.messages.create({
      ...body,
      messages: [
        ...messages,
        { role: "assistant", content: first.content },
        { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: "minus four" }] }
      ]
    })
    assert.include(textOf(second), "minus four")
  })

  for (const stream of [false, true]) {
    journey(`is run by the client's tool runner${stream ? ", streamed" : ""}`, async ({ client }) => {
      const asked: Array<string> = []
      const runner = client.beta.messages.toolRunner({
        ...ask,
        stream,
        tools: [
          betaZodTool({
            name: "weather",
            description: "The weather of a city",
            inputSchema: z.object({ city: z.literal("Oslo") }),
            run: ({ city }) => {
              asked.push(city)
              return "minus four"
            }
          })
        ]
      })
      const answer = await runner.runUntilDone()
      assert.include(answer.content.map((block) => (block.type === "text" ? block.text : "")).join(""), "minus four")
      assert.deepStrictEqual(asked, ["Oslo"])
    })
  }
})

describe("an error to Anthropic's client", () => {
  it.live("is an AuthenticationError for an unknown key, and a PermissionDeniedError for a management key", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { managementKey } = yield* service.account(1)
      const cases = [
        [`svc_sk_${"A".repeat(43)}`, AuthenticationError, 401, "authentication_error", "invalid_api_key"],
        [managementKey, PermissionDeniedError, 403, "permission_error", "wrong_key_kind"]
      ] as const
      for (const [key, kind, status, type, code] of cases) {
        const call = clientOf(service, key).messages.create(ask)
        const error = yield* Effect.promise(() => failing<APIError>(kind, call))
        assert.deepStrictEqual([error.status, error.type, saidIn(error).code], [status, type, code])
        assert.match(error.requestID ?? "", /^req_/)
      }
    }).pipe(Effect.scoped)
  )

  journey("is a BadRequestError that names the field of an invalid request", async ({ client }) => {
    const wrong = await failing(BadRequestError, client.messages.create({ ...ask, max_tokens: 0 }))
    assert.deepStrictEqual(
      [wrong.type, saidIn(wrong).code, saidIn(wrong).param],
      ["invalid_request_error", "validation_error", "max_tokens"]
    )
    const tools = [{ type: "web_search_20250305" as const, name: "web_search" as const }]
    const unsupported = await failing(BadRequestError, client.messages.create({ ...ask, tools }))
    assert.deepStrictEqual(
      [saidIn(unsupported).code, saidIn(unsupported).param],
      ["unsupported_parameter", "tools[0].type"]
    )
    const unknown = await failing(BadRequestError, client.messages.create({ ...ask, model: "claude-0" }))
    assert.strictEqual(saidIn(unknown).code, "unknown_model")
  })

  journey("is a NotFoundError for an unknown preset", async ({ client }) => {
    const error = await failing(NotFoundError, client.messages.create({ ...ask, model: "@none" }))
    assert.deepStrictEqual([error.type, saidIn(error).code], ["not_found_error", "not_found"])
  })

  it.live("is an APIError with status 402 when the account has no balance", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(0)
      const call = clientOf(service, inferenceKey).messages.create(ask)
      const error = yield* Effect.promise(() => failing<APIError>(APIError, call))
      assert.deepStrictEqual(
        [error.status, error.type, saidIn(error).code],
        [402, "billing_error", "insufficient_credits"]
      )
    }).pipe(Effect.scoped)
  )

  journey(
    "is a RateLimitError with a retry-after header when the rate limit is exceeded",
    async ({ client }) => {
      for (let sent = 0; sent < 3; sent++) await client.messages.create(ask)
      const error = await failing(RateLimitError, client.messages.create(ask))
      assert.deepStrictEqual([error.type, saidIn(error).code], ["rate_limit_error", "rate_limit_exceeded"])
      assert.isAtLeast(Number(error.headers.get("retry-after")), 1)
    },
    { RATE_LIMIT_SCALE: "0.05" }
  )

  journey(
    "is an InternalServerError with status 502 when every provider fails, and nothing is charged",
    async ({ client, spent }) => {
      const call = client.messages.create(ask, sandbox("fault=error"))
      const error = await failing(InternalServerError, call)
      assert.deepStrictEqual([error.status, error.type, saidIn(error).code], [502, "api_error", "upstream_error"])
      assert.strictEqual(await spent(), 0n)
    }
  )

  journey(
    "ends a stream that breaks, after the client has received the output before it",
    async ({ client, spent }) => {
      const stream = client.messages.stream(ask, sandbox("fault=break,after=3,output_tokens=90"))
      let seen = 0
      stream.on("text", () => seen++)
      const error = await failing<APIError>(APIError, stream.finalMessage())
      assert.deepStrictEqual([error.type, saidIn(error).code], ["api_error", "upstream_error"])
      assert.strictEqual(seen, 3)
      assert.isAbove(Number(await spent()), 0)
    }
  )
})

describe("an idempotency key of Anthropic's client", () => {
  const once = { headers: { "idempotency-key": "order-7" } }

  journey("replays the first answer without a second charge, plain and streamed", async ({ client, spent }) => {
    const first = await client.messages.create(ask, once)
    const paid = await spent()
    assert.deepStrictEqual(await client.messages.create(ask, once), first)
    assert.strictEqual(await spent(), paid)
    const streamed = { headers: { "idempotency-key": "order-8" } }
    const message = await client.messages.stream(ask, streamed).finalMessage()
    const both = await spent()
    assert.deepStrictEqual(await client.messages.stream(ask, streamed).finalMessage(), message)
    assert.strictEqual(await spent(), both)
  })

  journey("answers 422 when it is reused for a different request", async ({ client }) => {
    await client.messages.create(ask, once)
    const error = await failing(UnprocessableEntityError, client.messages.create({ ...ask, max_tokens: 9 }, once))
    assert.deepStrictEqual([error.type, saidIn(error).code], ["invalid_request_error", "idempotency_key_reused"])
  })
})

describe("the list of models for Anthropic's client", () => {
  it.live("comes as a whole, or in pages forward and backward", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(1)
      const { models } = clientOf(service, inferenceKey)
      const listed = (query?: object) =>
        Effect.promise(async () => {
          const ids: Array<string> = []
          for await (const { id } of models.list(query)) ids.push(id)
          return ids
        })
      const all = yield* listed()
      assert.include(all, model)
      assert.deepStrictEqual(yield* listed({ limit: 1_000 }), all)
      assert.deepStrictEqual(yield* listed({ limit: 40 }), all, "page by page")
      const after = all.indexOf(model)
      assert.deepStrictEqual(yield* listed({ limit: 40, after_id: model }), all.slice(after + 1))
      const before = yield* Effect.promise(() => models.list({ limit: 3, before_id: model }))
      assert.deepStrictEqual(
        [before.data.map(({ id }) => id), before.has_more, before.first_id, before.last_id],
        [all.slice(after - 3, after), true, all[after - 3], all[after - 1]]
      )
      const none = yield* Effect.promise(() => models.list({ after_id: "nobody" }))
      assert.deepStrictEqual([none.data, none.has_more, none.last_id], [[], false, null])
    }).pipe(Effect.scoped)
  )
})
