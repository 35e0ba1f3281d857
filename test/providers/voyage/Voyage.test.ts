import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Outbound } from "../../../src/platform/Outbound.ts"
import type { Provider, ProviderError } from "../../../src/providers/Provider.ts"
import { makeVoyage } from "../../../src/providers/voyage/Voyage.ts"
import { chatCall } from "../calls.ts"
import { upstream } from "../upstream.ts"
import { embedWork, rerankWork, modelCall } from "../retrieval.ts"

const adapter = (baseUrl: string) => makeVoyage({ id: "up", baseUrl, apiKey: Redacted.make("sk-planted") })

const faultOf = <A>(effect: Effect.Effect<A, ProviderError>) => Effect.map(Effect.flip(effect), ({ fault }) => fault)

const embed = (provider: Provider, more: Parameters<typeof embedWork>[0] = {}) =>
  provider.embed!(modelCall("model-1"), embedWork(more))

const rerank = (provider: Provider) => provider.rerank!(modelCall("model-1"), rerankWork())

/** What a host is asked, and what it says. */
const answering = (status: number, body: unknown, headers: Record<string, string> = {}) => {
  const asked: Array<{
    readonly path: string | undefined
    readonly credential: string | undefined
    readonly body: unknown
  }> = []
  const host = upstream((request, response) => {
    let text = ""
    request.on("data", (piece: Buffer) => (text += piece.toString()))
    request.on("end", () => {
      asked.push({ path: request.url, credential: request.headers.authorization, body: JSON.parse(text) })
      response.writeHead(status, headers).end(typeof body === "string" ? body : JSON.stringify(body))
    })
  })
  return Effect.map(host, ({ origin }) => ({ asked, base: `${origin}/v1/` }))
}

layer(Outbound.layer, { excludeTestServices: true })("Voyage", (it) => {
  it.effect("is asked neither for vectors of tokens nor to chat", () =>
    Effect.gen(function* () {
      const { asked, base } = yield* answering(200, {})
      const provider = yield* adapter(base)
      assert.deepInclude(yield* faultOf(embed(provider, { inputs: [[1]] })), { _tag: "Refused", param: "input" })
      assert.strictEqual((yield* faultOf(provider.chat(chatCall())))._tag, "Refused")
      assert.deepStrictEqual(asked, [])
    }).pipe(Effect.scoped)
  )

  it.effect("reranks", () =>
    Effect.gen(function* () {
      const data = [0, 1].map((index) => ({ index, relevance_score: index }))
      const { asked, base } = yield* answering(200, { data, usage: { total_tokens: 9 } })
      const answer = yield* rerank(yield* adapter(base))
      assert.deepStrictEqual(
        answer.results.map(({ index }) => index),
        [1, 0]
      )
      assert.strictEqual(answer.tokens, 9)
      assert.strictEqual(asked[0]?.path, "/v1/rerank")
    }).pipe(Effect.scoped)
  )
})
