import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { floatsOf } from "../../../src/providers/wire/EmbedDecode.ts"
import type { ProviderError } from "../../../src/providers/ProviderError.ts"
import { makeRetrieval } from "../../../src/providers/sandbox/Retrieval.ts"
import { countEmbed, countRerank } from "../../../src/domain/WorkSize.ts"
import { clocks } from "../calls.ts"
import { embedWork, rerankWork, modelCall } from "../retrieval.ts"

const { embed, rerank } = makeRetrieval("openai")
const voyage = makeRetrieval("voyage")

const faultOf = <A>(effect: Effect.Effect<A, ProviderError>) => Effect.map(Effect.flip(effect), ({ fault }) => fault)

const call = (model: string, steering?: string) => modelCall(model, { steering })

/** The list in an answer. */
const listOf = (answer: { readonly data: Uint8Array }) =>
  JSON.parse(Buffer.from(answer.data).toString()) as ReadonlyArray<{
    readonly object: string
    readonly index: number
    readonly embedding: ReadonlyArray<number> & string
  }>

describe("the sandbox's embeddings", () => {
  it.effect("have the model's or the requested dimensions, and are the same in both formats", () =>
    Effect.gen(function* () {
      const widths = { "text-embedding-3-small": 1_536, "text-embedding-3-large": 3_072, "voyage-4": 1_024 }
      for (const [model, width] of Object.entries(widths)) {
        const list = listOf(yield* embed(call(model), embedWork()))
        assert.deepStrictEqual(
          list.map(({ index, object }) => [index, object]),
          [0, 1].map((at) => [at, "embedding"])
        )
        assert.deepStrictEqual(
          list.map(({ embedding }) => embedding.length),
          [width, width]
        )
      }
      const small = call("text-embedding-3-small")
      const floats = listOf(yield* embed(small, embedWork({ dimensions: 8 })))
      const base64 = listOf(yield* embed(small, embedWork({ dimensions: 8, format: "base64" })))
      for (const [at, value] of floatsOf(base64[0]!.embedding).entries()) {
        assert.approximately(value, floats[0]!.embedding[at]!, 1e-6)
      }
    })
  )

  it.effect("report usage, none or a wrong one, as steered", () =>
    Effect.gen(function* () {
      const counted = countEmbed(embedWork())
      const tokens = (steering?: string) =>
        Effect.map(embed(call("text-embedding-3-small", steering), embedWork()), (answer) => answer.tokens)
      assert.deepStrictEqual([yield* tokens(), yield* tokens("fault=no_usage")], [counted, undefined])
      assert.strictEqual(yield* tokens("fault=wrong_usage"), counted * 10)
      assert.strictEqual((yield* embed(call("text-embedding-3-small"), embedWork({ inputs: [[1, 2], [3]] }))).tokens, 3)
    })
  )

  it.effect("are rejected where the provider would reject them", () =>
    Effect.gen(function* () {
      const wide = yield* faultOf(embed(call("text-embedding-3-small"), embedWork({ dimensions: 1_537 })))
      assert.deepInclude(wide, { _tag: "Refused", param: "dimensions" })
      const tokens = yield* faultOf(voyage.embed(call("voyage-4"), embedWork({ inputs: [[1]] })))
      assert.deepInclude(tokens, { _tag: "Refused", param: "input" })
    })
  )
})

describe("the sandbox's reranking", () => {
  it.effect("ranks documents with the query's words first, with scores relative to the best", () =>
    Effect.gen(function* () {
      const documents = ["dogs bark", "cats purr and cats sleep", "cats run", "birds sing"]
      const answer = yield* rerank(call("rerank-2.5"), rerankWork({ documents }))
      assert.deepStrictEqual(
        answer.results.map(({ index }) => index),
        [2, 1, 0, 3]
      )
      assert.deepStrictEqual([answer.results[0]?.score, answer.results[3]?.score], [1, 0])
      assert.strictEqual(answer.tokens, countRerank({ query: "cats", documents }))
      const two = yield* rerank(call("rerank-2.5"), rerankWork({ documents, topN: 2 }))
      assert.deepStrictEqual(two.results, answer.results.slice(0, 2))
      const none = yield* rerank(call("rerank-2.5"), rerankWork({ query: "?" }))
      assert.deepStrictEqual(
        none.results,
        [0, 1].map((index) => ({ index, score: 0 }))
      )
    })
  )
})

describe("steering of the sandbox's retrieval", () => {
  it.effect("makes embeddings and reranking fail or respond late", () =>
    Effect.gen(function* () {
      const faults = {
        error: "ServerError",
        rate_limit: "RateLimited",
        malformed: "Malformed",
        empty: "Malformed",
        break: "Broken"
      }
      for (const [name, tag] of Object.entries(faults)) {
        const steering = `fault=${name}`
        assert.strictEqual((yield* faultOf(embed(call("text-embedding-3-small", steering), embedWork())))._tag, tag)
        assert.strictEqual((yield* faultOf(rerank(call("rerank-2.5", steering), rerankWork())))._tag, tag)
      }
      const stalled = yield* Effect.forkChild(faultOf(rerank(call("rerank-2.5", "fault=stall"), rerankWork())))
      yield* TestClock.adjust(clocks.totalMs)
      assert.deepStrictEqual(yield* Fiber.join(stalled), { _tag: "TimedOut", clock: "total" })
    })
  )
})
