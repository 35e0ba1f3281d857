/** Embeddings and reranking as their users have them: the official client, the sandbox, and hosts on real sockets. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { IncomingHttpHeaders } from "node:http"
import OpenAI, { BadRequestError } from "openai"
import { upstream } from "../providers/upstream.ts"
import { get, json, post, type Service, startService } from "../support/Service.ts"

const model = "text-embedding-3-small"

const cosine = (a: ReadonlyArray<number>, b: ReadonlyArray<number>) =>
  a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0)

const clientOf = (service: Service, apiKey: string) => new OpenAI({ apiKey, baseURL: service.api, maxRetries: 0 })

/** What the service adds, for which the client has no types. */
const extrasOf = (answer: object) => answer as { readonly cost_usd: number; readonly request_id: string }

const spent = (service: Service, account: string, usd: number) =>
  Effect.map(service.balance(account), ({ held, posted }) => {
    assert.strictEqual(held, 0n)
    return BigInt(usd) * 1_000_000_000n - posted
  })

const nano = (usd: number) => BigInt(Math.round(usd * 1e9))

interface Seen {
  readonly path: string | undefined
  readonly headers: IncomingHttpHeaders
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

/** A host that answers each request as it is told, with what it was sent. */
const host = (answer: (seen: Seen) => { readonly status?: number; readonly body: unknown }) =>
  Effect.map(
    Effect.suspend(() => {
      const seen: Array<Seen> = []
      return Effect.map(
        upstream((request, response) => {
          const pieces: Array<Buffer> = []
          request.on("data", (piece: Buffer) => pieces.push(piece))
          request.on("end", () => {
            const one = {
              path: request.url,
              headers: request.headers,
              body: JSON.parse(Buffer.concat(pieces).toString())
            }
            seen.push(one)
            const { body, status = 200 } = answer(one)
            response.writeHead(status, { "content-type": "application/json", "retry-after": "7" })
            response.end(typeof body === "string" ? body : JSON.stringify(body))
          })
        }),
        ({ origin }) => ({ origin, seen })
      )
    }),
    (made) => made
  )

describe("embeddings by the OpenAI client", () => {
  it.live("come as it asks for them by itself, in base64, and as floats, the same", () =>
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
      const receipt = yield* Effect.flatMap(
        get(`${service.api}/requests/${extrasOf(answer).request_id}`, inferenceKey),
        json
      )
      assert.deepInclude(receipt, { operation: "embeddings", status: "succeeded", model, usage_basis: "reported" })
      assert.strictEqual(receipt.usage.input_tokens, answer.usage.prompt_tokens)
      assert.strictEqual(receipt.cost_usd, extrasOf(answer).cost_usd)
    }).pipe(Effect.scoped)
  )
})
