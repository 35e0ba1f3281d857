import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Outbound } from "../../../src/platform/outbound/Outbound.ts"
import { makeVoyage } from "../../../src/providers/voyage/Voyage.ts"
import { chatCall } from "../calls.ts"
import { answering, embed, faultOf, rerank } from "../retrieval.ts"

const adapter = (baseUrl: string) => makeVoyage({ id: "up", baseUrl, apiKey: Redacted.make("sk-planted") })

layer(Outbound.layer, { excludeTestServices: true })("Voyage", (it) => {
  it.effect("refuses token embeddings and chat without a request", () =>
    Effect.gen(function* () {
      const { asked, base } = yield* answering(200, {})
      const provider = yield* adapter(base)
      assert.deepInclude(yield* faultOf(embed(provider, { inputs: [[1]] })), { _tag: "Refused", param: "input" })
      assert.strictEqual((yield* faultOf(provider.chat(chatCall())))._tag, "Refused")
      assert.deepStrictEqual(asked, [])
    }).pipe(Effect.scoped)
  )

  it.effect("reranks documents", () =>
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
