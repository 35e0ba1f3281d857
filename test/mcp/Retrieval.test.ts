import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { sessionClient } from "../support/Mcp.ts"
import { get, json, post, startService } from "../support/Service.ts"

const open = Effect.gen(function* () {
  const service = yield* startService()
  const { account, inferenceKey } = yield* service.account(10)
  const client = yield* sessionClient(service.origin, inferenceKey)
  const call = (name: string, args: object) =>
    // oxlint-disable-next-line typescript/no-explicit-any
    Effect.promise((): Promise<any> => client.callTool({ name, arguments: { ...args } }))
  const rest = (path: string, body: object) => Effect.flatMap(post(`${service.api}${path}`, inferenceKey, body), json)
  const operationOf = (id: string) =>
    Effect.map(Effect.flatMap(get(`${service.api}/requests/${id}`, inferenceKey), json), ({ operation }) => operation)
  const spent = Effect.map(service.balance(account.id), ({ held, posted }) => {
    assert.strictEqual(held, 0n)
    return Number(10_000_000_000n - posted) / 1e9
  })
  return { call, operationOf, rest, spent }
})

describe("search", () => {
  it.live("returns the results of POST /search at the same price, also as text", () =>
    Effect.gen(function* () {
      const { call, operationOf, rest, spent } = yield* open
      const asked = { query: "first people on the moon", max_results: 2 }
      const { content, structuredContent } = yield* call("search", asked)
      const found = yield* rest("/search", asked)
      assert.deepStrictEqual(structuredContent.results, found.results)
      assert.strictEqual(structuredContent.cost_usd, found.cost_usd)
      assert.approximately(yield* spent, 2 * found.cost_usd, 1e-9)
      assert.include(content[0].text, `1. ${found.results[0].title}\n${found.results[0].url}`)
      assert.strictEqual(yield* operationOf(structuredContent.request_id), "mcp.search")
      const dear = yield* call("search", { ...asked, max_cost_usd: 0.001 })
      assert.deepInclude(dear._meta.error, { code: "no_model_in_budget", param: "max_cost_usd" })
      assert.approximately(yield* spent, 2 * found.cost_usd, 1e-9)
    }).pipe(Effect.scoped)
  )
})

describe("embed", () => {
  it.live("returns the vectors of POST /embeddings at the same price, charged once for one idempotency key", () =>
    Effect.gen(function* () {
      const { call, operationOf, rest, spent } = yield* open
      const asked = { model: "text-embedding-3-small", input: ["a cat", "a dog"], dimensions: 8 }
      const { structuredContent } = yield* call("embed", { ...asked, idempotency_key: "one" })
      const again = yield* call("embed", { ...asked, idempotency_key: "one" })
      assert.deepStrictEqual(again.structuredContent, structuredContent)
      const { cost_usd, data, usage } = yield* rest("/embeddings", asked)
      assert.deepStrictEqual(
        structuredContent.embeddings,
        data.map(({ embedding }: { readonly embedding: unknown }) => embedding)
      )
      assert.deepStrictEqual([structuredContent.cost_usd, structuredContent.usage], [cost_usd, usage])
      assert.approximately(yield* spent, 2 * cost_usd, 1e-9)
      assert.strictEqual(yield* operationOf(structuredContent.request_id), "mcp.embed")
    }).pipe(Effect.scoped)
  )

  it.live("rejects 101 texts, and the parameter `encoding_format`", () =>
    Effect.gen(function* () {
      const { call, spent } = yield* open
      const many = yield* call("embed", { model: "text-embedding-3-small", input: Array(101).fill("a") })
      assert.strictEqual(many._meta.error.code, "validation_error")
      const coded = yield* call("embed", { model: "text-embedding-3-small", input: "a", encoding_format: "base64" })
      assert.deepInclude(coded._meta.error, { code: "validation_error", param: "encoding_format" })
      assert.strictEqual(yield* spent, 0)
    }).pipe(Effect.scoped)
  )
})

describe("rerank", () => {
  it.live("orders documents like POST /rerank, at the same price", () =>
    Effect.gen(function* () {
      const { call, operationOf, rest, spent } = yield* open
      const asked = { model: "rerank-2.5", query: "cats", documents: ["about dogs", "about cats"], top_n: 1 }
      const { structuredContent } = yield* call("rerank", asked)
      const ordered = yield* rest("/rerank", asked)
      assert.deepStrictEqual(structuredContent.results, ordered.results)
      assert.strictEqual(structuredContent.results[0].index, 1)
      assert.approximately(yield* spent, 2 * ordered.cost_usd, 1e-9)
      assert.strictEqual(yield* operationOf(structuredContent.request_id), "mcp.rerank")
    }).pipe(Effect.scoped)
  )
})
