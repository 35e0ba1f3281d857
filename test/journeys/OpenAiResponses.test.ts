/** OpenAI's official client with the Responses API of the gateway. Only its base URL and its key differ from a client of OpenAI. */
import { LLMock } from "@copilotkit/aimock"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import OpenAI, { APIError, AuthenticationError, BadRequestError, InternalServerError } from "openai"
import { zodTextFormat } from "openai/helpers/zod"
import type {
  FunctionTool,
  Response as Answer,
  ResponseInput,
  ResponseStreamEvent
} from "openai/resources/responses/responses"
import { z } from "zod"
import { nano } from "../support/Amounts.ts"
import { startService } from "../support/Service.ts"

const model = "gpt-4o-mini"
const input = "How warm is it in Oslo?"
const tools: Array<FunctionTool> = [
  {
    type: "function",
    name: "weather",
    description: "The weather of a city",
    parameters: { type: "object", properties: { city: { const: "Oslo" } }, required: ["city"] },
    strict: false
  }
]

/** Returns the cost that the gateway adds to an answer. The client has no type for it. */
const costOf = (answer: Answer): number => (answer as unknown as { readonly cost_usd: number }).cost_usd

const sandbox = (steering: string) => ({ headers: { "x-svc-sandbox": steering } })

/** A test with a running gateway and an account that has $10. */
const journey = (
  name: string,
  body: (with_: { readonly client: OpenAI; readonly spent: Effect.Effect<bigint> }) => Promise<void>
) =>
  it.live(name, () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(10)
      const client = new OpenAI({ apiKey: inferenceKey, baseURL: service.api, maxRetries: 0 })
      const spent = Effect.map(Effect.orDie(service.balance(account.id)), ({ posted }) => 10_000_000_000n - posted)
      yield* Effect.promise(() => body({ client, spent }))
    }).pipe(Effect.scoped)
  )

const collect = async (stream: AsyncIterable<ResponseStreamEvent>) => {
  const events: Array<ResponseStreamEvent> = []
  for await (const event of stream) events.push(event)
  return events
}

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

describe("a response to the OpenAI client", () => {
  journey("has its usage and cost when it is plain", async ({ client, spent }) => {
    const answer = await client.responses.create({ model, input, instructions: "Be brief.", metadata: { a: "b" } })
    assert.include(answer.output_text, input)
    assert.deepStrictEqual(
      [answer.object, answer.status, answer.model, answer.instructions, answer.metadata],
      ["response", "completed", model, "Be brief.", { a: "b" }]
    )
    const { input_tokens = 0, output_tokens = 0, total_tokens } = answer.usage ?? {}
    assert.isAbove(input_tokens, 0)
    assert.strictEqual(total_tokens, input_tokens + output_tokens)
    assert.strictEqual(await Effect.runPromise(spent), nano(costOf(answer)))
  })

  journey("has its stream's events numbered in order, and the cost in the last one", async ({ client }) => {
    const stream = await client.responses.create(
      { model: "o4-mini", input, stream: true },
      sandbox("reasoning_tokens=5,output_tokens=12")
    )
    const events = await collect(stream)
    assert.deepStrictEqual(
      events.map((event) => event.sequence_number),
      events.map((_, index) => index)
    )
    assert.deepStrictEqual([events[0]?.type, events[1]?.type], ["response.created", "response.in_progress"])
    const last = events.at(-1)
    assert.isTrue(last?.type === "response.completed" && costOf(last.response) > 0)
  })

  journey("is assembled from a stream by the client's helper, equal to a plain one", async ({ client, spent }) => {
    const steering = sandbox("reasoning_tokens=5,output_tokens=40")
    const runner = client.responses.stream({ model, input }, steering)
    let text = ""
    runner.on("response.output_text.delta", ({ delta }) => (text += delta))
    const streamed = await runner.finalResponse()
    assert.strictEqual(streamed.output_text, text)
    assert.deepStrictEqual(
      streamed.output.map((item) => item.type),
      ["reasoning", "message"]
    )
    assert.strictEqual(await Effect.runPromise(spent), nano(costOf(streamed)))
    const whole = await client.responses.create({ model, input }, steering)
    assert.deepStrictEqual([whole.output_text, whole.usage], [streamed.output_text, streamed.usage])
  })

  journey("is incomplete with the reason when max_output_tokens cuts it", async ({ client }) => {
    const body = { model, input, max_output_tokens: 16 }
    const whole = await client.responses.create(body, sandbox("output_tokens=90"))
    assert.deepStrictEqual([whole.status, whole.incomplete_details], ["incomplete", { reason: "max_output_tokens" }])
    const streamed = await client.responses.stream(body, sandbox("output_tokens=90")).finalResponse()
    assert.deepStrictEqual([streamed.status, streamed.incomplete_details], [whole.status, whole.incomplete_details])
    assert.strictEqual(streamed.output_text, whole.output_text)
  })

  journey("matches a Zod schema, plain and streamed", async ({ client }) => {
    const text = { format: zodTextFormat(z.object({ city: z.string(), degrees: z.number() }), "weather") }
    const whole = await client.responses.parse({ model, input, text })
    assert.strictEqual(typeof whole.output_parsed?.degrees, "number")
    const streamed = await client.responses.stream({ model, input, text }).finalResponse()
    assert.deepStrictEqual(streamed.output_parsed, whole.output_parsed)
  })

  for (const streamed of [false, true]) {
    journey(`continues after the result of a tool call, ${streamed ? "streamed" : "plain"}`, async ({ client }) => {
      const ask = (items: ResponseInput): PromiseLike<Answer> =>
        streamed
          ? client.responses.stream({ model, input: items, tools }).finalResponse()
          : client.responses.create({ model, input: items, tools })
      const asked: ResponseInput = [{ role: "user", content: input }]
      const first = await ask(asked)
      const [call] = first.output
      if (call?.type !== "function_call") return assert.fail("the answer must have a tool call")
      assert.deepStrictEqual([call.name, JSON.parse(call.arguments)], ["weather", { city: "Oslo" }])
      const output = { type: "function_call_output" as const, call_id: call.call_id, output: "12 degrees" }
      const second = await ask([...asked, ...(first.output as ResponseInput), output])
      assert.include(second.output_text, "12 degrees")
    })
  }

  journey(
    "ignores and reports a reference to reasoning, and gets 400 for a reference to a message",
    async ({ client }) => {
      const ask = (items: ResponseInput, store: boolean | null = null) =>
        client.responses
          .create({ model: "gpt-5.4", input: items, tools, reasoning: { effort: "low", summary: "auto" }, store })
          .withResponse()
      const asked: ResponseInput = [{ role: "user", content: input }]
      const { output } = (await ask(asked)).data
      assert.deepStrictEqual(
        output.map(({ type }) => type),
        ["reasoning", "function_call"]
      )
      const [reasoning, call] = output
      if (call?.type !== "function_call") return assert.fail("the answer must have a tool call")
      const result = { type: "function_call_output", call_id: call.call_id, output: "minus four" } as const
      const reference = { type: "item_reference", id: reasoning!.id! } as const
      const { data, response } = await ask([...asked, reference, call, result])
      assert.include(data.output_text, "minus four")
      assert.include(response.headers.get("x-svc-ignored-parameters") ?? "", "input[1]")
      const message = { type: "item_reference", id: "msg_1" } as const
      const error = await failing(BadRequestError, ask([...asked, message, call, result]))
      assert.deepStrictEqual([error.code, error.param], ["unsupported_parameter", "input[1].type"])
      assert.include(error.message, "Set `store: false`, and send the item itself")
      assert.include(error.message, "`providerOptions: { openai: { store: false } }`")
      const said = { type: "message", role: "assistant", content: "Let me see." } as const
      assert.include((await ask([...asked, said, call, result], false)).data.output_text, "minus four")
    }
  )

  journey(
    "is replayed under an idempotency key without a second charge, plain and streamed",
    async ({ client, spent }) => {
      for (const stream of [false, true]) {
        const options = { headers: { "idempotency-key": `the-same-${stream}` } }
        const ask = (): PromiseLike<Answer> =>
          stream
            ? client.responses.stream({ model, input }, options).finalResponse()
            : client.responses.create({ model, input }, options)
        const first = await ask()
        const charged = await Effect.runPromise(spent)
        const again = await ask()
        assert.deepStrictEqual([again.id, again.output, again.usage], [first.id, first.output, first.usage])
        assert.strictEqual(await Effect.runPromise(spent), charged)
      }
    }
  )

  journey("fails with the client's own error classes", async ({ client }) => {
    const wrong = await failing(BadRequestError, client.responses.create({ model, input, temperature: 9 }))
    assert.deepStrictEqual([wrong.code, wrong.param], ["validation_error", "temperature"])
    const kept = await failing(BadRequestError, client.responses.create({ model, input, store: true }))
    assert.deepStrictEqual([kept.code, kept.param], ["unsupported_parameter", "store"])
    const stranger = new OpenAI({ apiKey: "svc_sk_unknown", baseURL: client.baseURL, maxRetries: 0 })
    await failing(AuthenticationError, stranger.responses.create({ model, input }))
    await failing(InternalServerError, client.responses.create({ model, input }, sandbox("fault=error")))
    const broken = sandbox("fault=break,after=2,output_tokens=200")
    const midway = await failing(APIError, client.responses.stream({ model, input }, broken).finalResponse())
    assert.strictEqual(midway.code, "upstream_error")
    const raw = client.responses.create({ model, input, stream: true }, broken).then(collect)
    assert.strictEqual((await failing(APIError, raw)).code, "upstream_error")
  })

  journey("has its input tokens counted without a charge", async ({ client, spent }) => {
    const { input_tokens, object } = await client.responses.inputTokens.count({ model, input })
    assert.strictEqual(object, "response.input_tokens")
    assert.isAbove(input_tokens, 3)
    const more = await client.responses.inputTokens.count({ model, input, instructions: "Be brief.", tools })
    assert.isAbove(more.input_tokens, input_tokens)
    assert.strictEqual(await Effect.runPromise(spent), 0n)
    const unknown = await failing(BadRequestError, client.responses.inputTokens.count({ model: "no-such", input }))
    assert.strictEqual(unknown.code, "unknown_model")
  })
})

/** An independent simulation of all three vendors' wire formats. */
const simulation = Effect.acquireRelease(
  Effect.promise(async () => {
    const mock = new LLMock({ port: 0, chunkSize: 4, logLevel: "silent" })
    mock.onMessage("hello", { content: "Hello there", usage: { prompt_tokens: 1_000, completion_tokens: 200 } })
    mock.onMessage(input, {
      toolCalls: ["Oslo", "Rome"].map((city) => ({ name: "weather", arguments: JSON.stringify({ city }) }))
    })
    await mock.start()
    return mock
  }),
  (mock) => Effect.promise(() => mock.stop())
)

describe("a response", () => {
  for (const named of ["gpt-4o-mini", "claude-sonnet-4-5", "gemini-2.5-flash"]) {
    it.live(`of ${named} has the same text, usage and parallel tool calls, plain and streamed`, () =>
      Effect.gen(function* () {
        const { url } = yield* simulation
        const service = yield* startService({
          SANDBOX: "off",
          OPENAI_API_KEY: "planted",
          OPENAI_BASE_URL: `${url}/v1`,
          ANTHROPIC_API_KEY: "planted",
          ANTHROPIC_BASE_URL: url,
          GEMINI_API_KEY: "planted",
          GEMINI_BASE_URL: `${url}/v1beta`
        })
        const { inferenceKey } = yield* service.account(10)
        const client = new OpenAI({ apiKey: inferenceKey, baseURL: service.api, maxRetries: 0 })
        const both = (body: { readonly input: string; readonly tools?: Array<FunctionTool> }) =>
          Effect.promise(async (): Promise<ReadonlyArray<Answer>> => {
            const asked = { model: named, max_output_tokens: 500, ...body }
            return [await client.responses.create(asked), await client.responses.stream(asked).finalResponse()]
          })
        for (const { output_text, status, usage } of yield* both({ input: "hello" })) {
          assert.deepStrictEqual([status, output_text], ["completed", "Hello there"])
          assert.deepStrictEqual([usage?.input_tokens, usage?.output_tokens], [1_000, 200])
        }
        for (const { output } of yield* both({ input, tools })) {
          assert.deepStrictEqual(
            output.map((item) => item.type === "function_call" && [item.name, JSON.parse(item.arguments)]),
            [
              ["weather", { city: "Oslo" }],
              ["weather", { city: "Rome" }]
            ]
          )
        }
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped)
    )
  }
})
