/** Embeddings and reranking through OpenAI's client, the sandbox and fake hosts on real sockets. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { IncomingHttpHeaders } from "node:http"
import OpenAI, { BadRequestError } from "openai"
import { upstream } from "../providers/upstream.ts"
import { nano } from "../support/Amounts.ts"
import { receiptOf } from "../support/ReadReceipts.ts"
import { json, post, type Service, startService } from "../support/Service.ts"

interface Seen {
  readonly path: string | undefined
  readonly headers: IncomingHttpHeaders
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

const model = "text-embedding-3-small"

const cosine = (a: ReadonlyArray<number>, b: ReadonlyArray<number>) =>
  a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0)

const clientOf = (service: Service, apiKey: string) => new OpenAI({ apiKey, baseURL: service.api, maxRetries: 0 })

/** Returns the fields that the gateway adds to an answer. The client has no types for them. */
const extrasOf = (answer: object) => answer as { readonly cost_usd: number; readonly request_id: string }

const spent = (service: Service, account: string, usd: number) =>
  Effect.map(service.balance(account), ({ held, posted }) => {
    assert.strictEqual(held, 0n)
    return BigInt(usd) * 1_000_000_000n - posted
  })

/** Starts a host that answers with this function, and records its requests. */
const host = (answer: (seen: Seen) => { readonly status?: number; readonly body: unknown }) => {
  const seen: Array<Seen> = []
  const listening = upstream((request, response) => {
    let text = ""
    request.on("data", (piece: Buffer) => (text += piece.toString()))
    request.on("end", () => {
      const one = { path: request.url, headers: request.headers, body: JSON.parse(text) }
      seen.push(one)
      const { body, status = 200 } = answer(one)
      response.writeHead(status, { "content-type": "application/json" })
      response.end(typeof body === "string" ? body : JSON.stringify(body))
    })
  })
  return Effect.map(listening, ({ origin }) => ({ origin, seen }))
}

describe("embeddings for the OpenAI client", () => {
  it.live("are the same in base64, the client's default, and as floats", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(10)
      const client = clientOf(service, inferenceKey)
      const input = ["a cat sat on the mat", "the cat sat on a mat", "interest rates rose again"]
      const answer = yield* Effect.promise(() => client.embeddings.create({ model, input }))
      assert.deepStrictEqual([answer.object, answer.model], ["list", model])
      assert.deepStrictEqual(
        answer.data.map(({ index, object }) => [index, object]),
        [0, 1, 2].map((at) => [at, "embedding"])
      )
      const [first, second, third] = answer.data.map(({ embedding }) => embedding)
      assert.lengthOf(first!, 1_536)
      assert.isAbove(cosine(first!, second!), 0.7)
      assert.isBelow(cosine(first!, third!), 0.3)
      assert.isAbove(answer.usage.prompt_tokens, 12)
      assert.strictEqual(answer.usage.total_tokens, answer.usage.prompt_tokens)
      assert.strictEqual(yield* spent(service, account.id, 10), nano(extrasOf(answer).cost_usd))
      const floats = yield* Effect.promise(() => client.embeddings.create({ model, input, encoding_format: "float" }))
      for (const [at, { embedding }] of floats.data.entries()) {
        assert.isAbove(cosine(embedding, answer.data[at]!.embedding), 0.999_99)
      }
      const receipt = yield* receiptOf(service, inferenceKey, extrasOf(answer).request_id)
      assert.deepInclude(receipt, { operation: "embeddings", status: "succeeded", model, usage_basis: "reported" })
      assert.strictEqual(receipt.usage.input_tokens, answer.usage.prompt_tokens)
      assert.strictEqual(receipt.cost_usd, extrasOf(answer).cost_usd)
    }).pipe(Effect.scoped)
  )

  it.live("accept token ids and `dimensions`, and get 400 for token ids with a model that needs text", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      const client = clientOf(service, inferenceKey)
      const create = (input: Array<number> | Array<Array<number>>) =>
        Effect.promise(() => client.embeddings.create({ model, input, dimensions: 64 }))
      const one = yield* create([5, 6, 7])
      assert.deepStrictEqual([one.data.length, one.data[0]?.embedding.length, one.usage.prompt_tokens], [1, 64, 3])
      const two = yield* create([[5, 6, 7], [8]])
      assert.deepStrictEqual([two.data.length, two.usage.prompt_tokens], [2, 4])
      assert.deepStrictEqual(two.data[0]?.embedding, one.data[0]?.embedding)
      const refused = yield* Effect.promise(() =>
        client.embeddings.create({ model: "voyage-4", input: [5, 6] }).catch((error: unknown) => error)
      )
      assert.isTrue(refused instanceof BadRequestError)
      assert.deepInclude(refused, { code: "validation_error", param: "input" })
    }).pipe(Effect.scoped)
  )
})

const keyed = (origin: string, prefix: "OPENAI" | "VOYAGE") => ({
  SANDBOX: "off",
  [`${prefix}_API_KEY`]: "sk-planted",
  [`${prefix}_BASE_URL`]: `${origin}/v1`
})

const vector = (index: number) => ({ object: "embedding", index, embedding: [0.25, -0.5, index] })

describe("embeddings by a host", () => {
  it.live("are passed on as OpenAI wrote them, and charged by the reported usage", () =>
    Effect.gen(function* () {
      const data = `[{"object":"embedding","index":0,"embedding":[0.2500, -5e-1]}]`
      const { origin, seen } = yield* host(() => ({
        body: `{"object":"list","data":${data},"model":"m","usage":{"prompt_tokens":5,"total_tokens":5}}`
      }))
      const service = yield* startService(keyed(origin, "OPENAI"))
      const { account, inferenceKey } = yield* service.account(10)
      const body = { model, input: "hello there", dimensions: 2, user: "u" }
      const response = yield* post(`${service.api}/embeddings`, inferenceKey, body)
      const text = yield* Effect.promise(() => response.text())
      assert.include(text, `"data":${data},`)
      const answer = JSON.parse(text)
      // $0.02 per million tokens.
      assert.deepInclude(answer, { usage: { prompt_tokens: 5, total_tokens: 5 }, cost_usd: 0.0000001 })
      assert.strictEqual(yield* spent(service, account.id, 10), 100n)
      assert.deepStrictEqual(
        seen.map(({ body, headers, path }) => [path, headers.authorization, body]),
        [
          [
            "/v1/embeddings",
            "Bearer sk-planted",
            { model, input: ["hello there"], dimensions: 2, encoding_format: "float", user: "u" }
          ]
        ]
      )
    }).pipe(Effect.scoped)
  )

  it.live("are requested in Voyage's wire format, and charged by counted tokens when it reports no usage", () =>
    Effect.gen(function* () {
      const { origin, seen } = yield* host(() => ({ body: { object: "list", data: [vector(0), vector(1)] } }))
      const service = yield* startService(keyed(origin, "VOYAGE"))
      const { account, inferenceKey } = yield* service.account(10)
      const body = { model: "voyage-4-large", input: ["a cat", "a dog"], input_type: "query", dimensions: 256 }
      const answer = yield* Effect.flatMap(post(`${service.api}/embeddings`, inferenceKey, body), json)
      assert.deepStrictEqual(answer.data, [vector(0), vector(1)])
      assert.strictEqual(answer.usage.prompt_tokens, 4)
      assert.strictEqual(yield* spent(service, account.id, 10), nano(answer.cost_usd))
      assert.deepStrictEqual(seen[0]?.body, {
        model: "voyage-4-large",
        input: ["a cat", "a dog"],
        input_type: "query",
        truncation: false,
        output_dimension: 256
      })
      const receipt = yield* receiptOf(service, inferenceKey, answer.request_id)
      assert.deepInclude(receipt, { usage_basis: "counted", provider: "voyage" })
    }).pipe(Effect.scoped)
  )

  it.live("cost nothing when the host fails, refuses, or answers a different number of inputs", () =>
    Effect.gen(function* () {
      for (const [answer, status, code] of [
        [{ status: 500, body: { error: { message: "down" } } }, 502, "upstream_error"],
        [{ body: { data: [vector(0), vector(1)] } }, 502, "upstream_error"],
        [{ status: 400, body: { error: { message: "too long" } } }, 400, "validation_error"]
      ] as const) {
        const { origin } = yield* host(() => answer)
        const service = yield* startService(keyed(origin, "OPENAI"))
        const { account, inferenceKey } = yield* service.account(10)
        const response = yield* post(`${service.api}/embeddings`, inferenceKey, { model, input: "a" })
        assert.deepStrictEqual([response.status, (yield* json(response)).error.code], [status, code])
        assert.strictEqual(yield* spent(service, account.id, 10), 0n)
      }
    }).pipe(Effect.scoped)
  )
})

describe("reranking", () => {
  const documents = ["dogs bark", "cats purr and sleep", "cats run"]

  it.live("at Voyage returns its scores with the documents of the request", () =>
    Effect.gen(function* () {
      const data = [2, 1, 0].map((index) => ({ index, relevance_score: index / 4 }))
      const { origin, seen } = yield* host(() => ({ body: { object: "list", data, usage: { total_tokens: 40 } } }))
      const service = yield* startService(keyed(origin, "VOYAGE"))
      const { account, inferenceKey } = yield* service.account(10)
      const body = { model: "rerank-2.5", query: "cats", documents, return_documents: true }
      const answer = yield* Effect.flatMap(post(`${service.api}/rerank`, inferenceKey, body), json)
      assert.deepInclude(answer, { model: "rerank-2.5", provider: "voyage", usage: { total_tokens: 40 } })
      assert.deepStrictEqual(answer.results[0], { index: 2, relevance_score: 0.5, document: { text: "cats run" } })
      assert.strictEqual(yield* spent(service, account.id, 10), nano(answer.cost_usd))
      const { body: sent, path } = seen[0]!
      assert.deepStrictEqual([path, sent.truncation, sent.return_documents], ["/v1/rerank", false, false])
    }).pipe(Effect.scoped)
  )
})
