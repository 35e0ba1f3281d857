/** OpenRouter's own client, which checks every answer with schemas, before the whole service. */
import { assert, describe, it } from "@effect/vitest"
import { OpenRouter } from "@openrouter/sdk"
import type { ChatRequest, ChatResult } from "@openrouter/sdk/models"
import type { SendChatCompletionRequestResponse } from "@openrouter/sdk/models/operations"
import { Effect } from "effect"
import { get, json, post, type Service, startService } from "../../support/Service.ts"

const clientOf = ({ api }: Service, apiKey: string) =>
  new OpenRouter({ apiKey, serverURL: api, retryConfig: { strategy: "none" } })

const messages = [{ role: "user" as const, content: "Hello!" }]
const model = "openai/gpt-4o-mini"

type Stream = Exclude<SendChatCompletionRequestResponse, ChatResult>

/** Sends a request for a whole answer. */
const send = async (client: OpenRouter, chatRequest: ChatRequest): Promise<ChatResult> =>
  (await client.chat.send({ chatRequest })) as ChatResult

/** A test with the service running and a customer with ten dollars. */
const journey = (name: string, body: (client: OpenRouter, service: Service, key: string) => Promise<void>) =>
  it.live(name, () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      yield* Effect.promise(() => body(clientOf(service, inferenceKey), service, inferenceKey))
    }).pipe(Effect.scoped)
  )

describe("OpenRouter's client", () => {
  journey("chats, whole and streamed, and reads the cost from OpenRouter's field", async (client) => {
    const whole = await send(client, {
      model,
      messages,
      models: ["anthropic/claude-sonnet-4.6"],
      provider: { sort: "price" }
    })
    assert.include(String(whole.choices[0]?.message.content), "Hello!")
    assert.isAbove(whole.usage?.cost ?? 0, 0)
    const stream = (await client.chat.send({ chatRequest: { model, messages, stream: true } })) as Stream
    let text = ""
    let cost = 0
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? ""
      cost = chunk.usage?.cost ?? cost
    }
    assert.include(text, "Hello!")
    assert.strictEqual(cost, whole.usage?.cost)
  })

  journey("reads credits that add up to the balance", async (client) => {
    assert.deepStrictEqual((await client.credits.getCredits()).data, { totalCredits: 10, totalUsage: 0 })
    const { usage } = await send(client, { model, messages })
    const { totalCredits, totalUsage } = (await client.credits.getCredits()).data
    assert.deepStrictEqual([totalCredits, totalUsage], [10, usage?.cost])
  })

  journey("reads the generation of an answer by its id, of any dialect", async (client, { api }, key) => {
    const { id, usage } = await send(client, { model, messages })
    const { data } = await client.generations.getGeneration({ id })
    assert.deepInclude(data, {
      id,
      requestId: `req_${id.slice(-26)}`,
      model: "gpt-4o-mini",
      providerName: "openai",
      apiType: "completions",
      finishReason: "stop",
      streamed: false,
      cancelled: false,
      totalCost: usage?.cost ?? 0,
      usage: usage?.cost ?? 0,
      tokensPrompt: usage?.promptTokens ?? 0,
      nativeTokensCompletion: usage?.completionTokens ?? 0
    })
    const said = { model, max_tokens: 50, messages }
    const message = await Effect.runPromise(Effect.flatMap(post(`${api}/messages`, key, said), json))
    assert.match(message.id, /^msg_/)
    const asked = await Effect.runPromise(
      Effect.flatMap(post(`${api}/embeddings`, key, { model: "text-embedding-3-small", input: "a" }), json)
    )
    for (const [one, cost, type] of [
      [message.id, message.cost_usd, "completions"],
      [asked.request_id, asked.cost_usd, "embeddings"]
    ]) {
      const found = await client.generations.getGeneration({ id: one })
      assert.deepInclude(found.data, { id: one, totalCost: cost, apiType: type })
    }
  })

  journey("finds no generation of another account, or under no id", async (client, service) => {
    const { id } = await send(client, { model, messages })
    const { inferenceKey: other } = await Effect.runPromise(service.account(1))
    for (const [wanted, status, code] of [
      [id, 404, "not_found"],
      ["gen-1", 404, "not_found"],
      ["", 400, "validation_error"]
    ] as const) {
      const answer = await Effect.runPromise(get(`${service.api}/generation?id=${wanted}`, other))
      assert.deepStrictEqual([answer.status, (await answer.json()).error.code], [status, code], wanted)
    }
  })

  journey("lists the models, page by page and filtered", async (client) => {
    const ids: Array<string> = []
    for await (const { result } of await client.models.list({ limit: 50 })) {
      assert.isAtMost(result.data.length, 50)
      ids.push(...result.data.map((one) => one.id))
    }
    const all = await client.models.list()
    assert.deepStrictEqual(
      ids,
      all.result.data.map((one) => one.id)
    )
    assert.strictEqual(all.result.totalCount, ids.length)
    const mini = all.result.data.find((one) => one.id === "gpt-4o-mini")
    assert.deepInclude(mini?.pricing, { prompt: "0.00000015", completion: "0.0000006" })
    assert.deepStrictEqual(mini?.architecture.inputModalities, ["text", "image", "file"])
    const able = await client.models.list({ supportedParameters: "tools", q: "claude" })
    assert.isAbove(able.result.data.length, 0)
    assert.isBelow(able.result.data.length, ids.length)
  })
})
