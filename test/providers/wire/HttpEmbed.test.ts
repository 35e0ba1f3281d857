import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib"
import { Outbound } from "../../../src/platform/outbound/Outbound.ts"
import { makeOpenAi } from "../../../src/providers/openai/OpenAi.ts"
import { makeVoyage } from "../../../src/providers/voyage/Voyage.ts"
import { closedOrigin, upstream } from "../upstream.ts"
import { answering, embed, faultOf, rerank } from "../retrieval.ts"

const apiKey = Redacted.make("sk-planted")

const adapters = {
  voyage: (baseUrl: string) => makeVoyage({ id: "up", baseUrl, apiKey }),
  openai: (baseUrl: string) => makeOpenAi({ id: "up", baseUrl, apiKey, flavour: "openai", stopsBillingOnAbort: true })
}

layer(Outbound.layer, { excludeTestServices: true })("embeddings from hosts", (it) => {
  for (const [name, adapter] of Object.entries(adapters)) {
    it.effect(`are requested from ${name} and passed on unchanged`, () =>
      Effect.gen(function* () {
        const data = `[{"object":"embedding","index":0,"embedding":[1.0, 2]},{"object":"embedding","index":1,"embedding":[3,4]}]`
        const { asked, base } = yield* answering(200, `{"data":${data},"usage":{"total_tokens":4}}`)
        const answer = yield* embed(yield* adapter(base))
        assert.deepStrictEqual([Buffer.from(answer.data).toString(), answer.tokens], [data, 4])
        assert.strictEqual(asked[0]?.path, "/v1/embeddings")
        assert.strictEqual(asked[0]?.credential, "Bearer sk-planted")
        assert.deepInclude(asked[0]?.body as object, { model: "model-1", input: ["a cat", "a dog"] })
      }).pipe(Effect.scoped)
    )

    it.effect(`fail at ${name} when it rejects, limits or fails a request, breaks off or is unreachable`, () =>
      Effect.gen(function* () {
        const rows = [
          [400, { detail: "bad: sk-planted" }, { _tag: "Refused", status: 400, detail: "bad: [secret]" }],
          [401, {}, { _tag: "Unauthorized", status: 401 }],
          [429, {}, { _tag: "RateLimited", retryAfterSeconds: 7 }],
          [503, { detail: "busy" }, { _tag: "ServerError", status: 503, detail: "busy", retryAfterSeconds: 7 }],
          [200, "{", { _tag: "Malformed", detail: "the body is not a JSON object" }],
          [200, { error: { message: "busy", code: 503 } }, { _tag: "ServerError", status: 503, detail: "busy" }]
        ] as const
        for (const [status, body, fault] of rows) {
          const { base } = yield* answering(status, body, { "retry-after": "7" })
          const provider = yield* adapter(base)
          assert.deepStrictEqual(yield* faultOf(embed(provider)), fault)
          if (provider.rerank !== undefined) assert.deepStrictEqual(yield* faultOf(rerank(provider)), fault)
        }
        const cut = yield* upstream((request, response) => {
          request.resume()
          response.writeHead(200, { "content-length": "1000" }).write("{")
          request.on("end", () => response.destroy())
        })
        assert.strictEqual((yield* faultOf(embed(yield* adapter(cut.origin))))._tag, "Broken")
        assert.strictEqual((yield* faultOf(embed(yield* adapter(yield* closedOrigin))))._tag, "Unreachable")
      }).pipe(Effect.scoped)
    )

    it.effect(`are read from ${name} when it compresses responses or errors`, () =>
      Effect.gen(function* () {
        const vectors = [0, 1].map((index) => ({ object: "embedding", index, embedding: [1, 2] }))
        const body = JSON.stringify({ data: vectors, usage: { total_tokens: 4 } })
        const refusal = JSON.stringify({ error: { message: "too odd" }, detail: "too odd" })
        for (const [codec, pack] of [
          ["gzip", gzipSync],
          ["br", brotliCompressSync],
          ["zstd", zstdCompressSync]
        ] as const) {
          const packing = (status: number, text: string) =>
            upstream((request, response) => {
              request.resume()
              request.on("end", () => response.writeHead(status, { "content-encoding": codec }).end(pack(text)))
            })
          const { origin } = yield* packing(200, body)
          assert.strictEqual((yield* embed(yield* adapter(`${origin}/v1`))).tokens, 4)
          const refusing = yield* packing(422, refusal)
          const fault = yield* faultOf(embed(yield* adapter(`${refusing.origin}/v1`)))
          assert.deepStrictEqual(fault, { _tag: "Refused", status: 422, detail: "too odd" })
        }
        const marked = yield* answering(200, `\uFEFF${body}`)
        assert.strictEqual((yield* embed(yield* adapter(marked.base))).tokens, 4)
      }).pipe(Effect.scoped)
    )

    it.effect(`are rejected from ${name} when they are too long`, () =>
      Effect.gen(function* () {
        const { base } = yield* answering(200, " ".repeat(2_000_000))
        const fault = yield* faultOf(embed(yield* adapter(base), { dimensions: 8 }))
        assert.strictEqual(fault._tag, "Malformed")
      }).pipe(Effect.scoped)
    )
  }
})
