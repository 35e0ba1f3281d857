/** Search through the sandbox's library, and through a fake of Tavily on a real socket. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SearchResponse } from "../../schemas/inference/Search.ts"
import { upstream } from "../providers/upstream.ts"
import { nano } from "../support/Amounts.ts"
import { receiptOf } from "../support/ReadReceipts.ts"
import { get, json, post, type Service, startService } from "../support/Service.ts"

const find = (service: Service, key: string, body: object, headers: Record<string, string> = {}) =>
  post(`${service.api}/search`, key, body, headers)

const decode = Schema.decodeUnknownSync(SearchResponse, { onExcessProperty: "error" })

const spent = (service: Service, accountId: string, usd: number) =>
  Effect.map(service.balance(accountId), ({ held, posted }) => {
    assert.strictEqual(held, 0n)
    return BigInt(usd) * 1_000_000_000n - posted
  })

const errorOf = (response: Response) =>
  Effect.map(json(response), (body) => [response.status, body.error.code, body.error.param])

/** The price of one query: $0.008. */
const QUERY = 8_000_000n

describe("search in the sandbox", () => {
  it.live("returns results for each query, and charges per query", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(10)
      const response = yield* find(service, inferenceKey, { query: "first people on the moon", max_results: 2 })
      assert.strictEqual(response.status, 200)
      assert.match(response.headers.get("ratelimit-policy") ?? "", /^"search"/)
      const body = decode(yield* json(response))
      assert.strictEqual(body.results[0]?.title, "The first landing on the Moon")
      assert.lengthOf(body.results, 2)
      assert.deepInclude(body, { model: "tavily-search", provider: "tavily", cost_usd: 0.008 })
      assert.strictEqual(body.request_id, response.headers.get("x-request-id"))
      assert.strictEqual(yield* spent(service, account.id, 10), QUERY)
      const receipt = yield* receiptOf(service, inferenceKey, body.request_id)
      assert.deepInclude(receipt, {
        operation: "search",
        status: "succeeded",
        model: "tavily-search",
        cost_usd: 0.008,
        usage: { units: 1, unit: "request" }
      })

      const several = decode(
        yield* json(yield* find(service, inferenceKey, { query: ["espresso", "sourdough"], model: "sonar-search" }))
      )
      assert.deepStrictEqual(
        several.results.map(({ query_index, title }) => [query_index, title]),
        [
          [0, "Espresso and other coffee"],
          [1, "Sourdough bread"]
        ]
      )
      assert.strictEqual(several.provider, "perplexity")
      const both = nano(several.cost_usd)
      assert.strictEqual(yield* spent(service, account.id, 10), QUERY + both)
      const second = yield* receiptOf(service, inferenceKey, several.request_id)
      assert.deepStrictEqual(second.usage, { units: 2, unit: "request" })
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("returns no results for nonsense, and adds a low-balance warning", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(1)
      const body = decode(yield* json(yield* find(service, inferenceKey, { query: "xyzzyplugh" })))
      assert.deepStrictEqual(body.results, [])
      assert.strictEqual(body.balance_warning?.warning, "low_balance")
    }).pipe(Effect.scoped)
  )

  it.live("answers 502 without a charge for every fault, and frees the idempotency key", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(1)
      for (const fault of ["error", "malformed", "break"]) {
        const response = yield* find(
          service,
          inferenceKey,
          { query: "tea" },
          { "x-svc-sandbox": `fault=${fault}`, "idempotency-key": "again" }
        )
        assert.strictEqual(response.headers.get("x-should-retry"), "true")
        assert.deepStrictEqual(yield* errorOf(response), [502, "search_failed", null], fault)
      }
      const { data } = yield* json(yield* get(`${service.api}/requests`, inferenceKey))
      assert.deepInclude(data[0], { status: "failed", cost_usd: 0 })
      assert.strictEqual(data[0].error.code, "search_failed")
      assert.strictEqual(yield* spent(service, account.id, 1), 0n)
      const after = yield* find(service, inferenceKey, { query: "tea" }, { "idempotency-key": "again" })
      assert.strictEqual(after.status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("replays the answer under an idempotency key, and charges once", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(10)
      const once = (body: object) => find(service, inferenceKey, body, { "idempotency-key": "once" })
      const first = yield* Effect.flatMap(once({ query: "tea" }), json)
      const again = yield* once({ query: "tea" })
      assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
      assert.deepStrictEqual(yield* json(again), first)
      assert.deepStrictEqual(yield* Effect.flatMap(once({ query: "coffee" }), errorOf), [
        422,
        "idempotency_key_reused",
        "Idempotency-Key"
      ])
      assert.strictEqual(yield* spent(service, account.id, 10), QUERY)
    }).pipe(Effect.scoped)
  )

  it.live("answers 400 to an unknown field or a model that cannot search", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(1)
      const refusal = (body: object) => Effect.flatMap(find(service, inferenceKey, body), errorOf)
      assert.deepStrictEqual(yield* refusal({ query: "tea", topic: "news" }), [400, "validation_error", "topic"])
      assert.deepStrictEqual(yield* refusal({ query: "tea", model: "gpt-4o-mini" }), [400, "unknown_model", "model"])
    }).pipe(Effect.scoped)
  )
})

describe("search at Tavily", () => {
  const tavily = (answer: (query: string) => readonly [status: number, body: unknown]) =>
    Effect.gen(function* () {
      const seen: Array<{ path: string | undefined; key: string | undefined; body: Record<string, unknown> }> = []
      const host = yield* upstream((request, response) => {
        const pieces: Array<Buffer> = []
        request.on("data", (piece: Buffer) => pieces.push(piece))
        request.on("end", () => {
          const body = JSON.parse(Buffer.concat(pieces).toString())
          seen.push({ path: request.url, key: request.headers.authorization, body })
          const [status, said] = answer(body.query)
          response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(said))
        })
      })
      const service = yield* startService({
        SANDBOX: "off",
        TAVILY_API_KEY: "tvly-planted",
        TAVILY_BASE_URL: host.origin
      })
      return { seen, service }
    })

  const found = (query: string) => ({
    query,
    results: [{ title: `About ${query}`, url: `https://example.com/${query}`, content: `All of ${query}.`, score: 0.9 }]
  })

  it.live("sends each query in a request of its own, and returns all results together", () =>
    Effect.gen(function* () {
      const { seen, service } = yield* tavily((query) => [200, found(query)])
      const { account, inferenceKey } = yield* service.account(10)
      const body = decode(
        yield* json(
          yield* find(service, inferenceKey, {
            query: ["tea", "coffee"],
            model: "tavily-search-advanced",
            max_results: 3,
            country: "us",
            search_domain_filter: ["example.com", "-bad.example.com"],
            search_after_date_filter: "1/31/2024"
          })
        )
      )
      assert.deepStrictEqual(
        body.results,
        ["tea", "coffee"].map((query, query_index) => ({
          title: `About ${query}`,
          url: `https://example.com/${query}`,
          snippet: `All of ${query}.`,
          query_index
        }))
      )
      assert.sameMembers(
        seen.map(({ body }) => body["query"]),
        ["tea", "coffee"]
      )
      const { query: _, ...rest } = seen[0]!.body
      assert.deepStrictEqual(rest, {
        topic: "general",
        search_depth: "advanced",
        max_results: 3,
        chunks_per_source: 2,
        start_date: "2024-01-31",
        include_domains: ["example.com"],
        exclude_domains: ["bad.example.com"],
        country: "united states"
      })
      assert.deepInclude(seen[0], { path: "/search", key: "Bearer tvly-planted" })
      assert.strictEqual(yield* spent(service, account.id, 10), 4n * QUERY)
    }).pipe(Effect.scoped)
  )

  it.live("charges nothing when one of several queries fails", () =>
    Effect.gen(function* () {
      const { service } = yield* tavily((query) =>
        query === "coffee" ? [500, { detail: { error: "out of beans" } }] : [200, found(query)]
      )
      const { account, inferenceKey } = yield* service.account(10)
      const response = yield* find(service, inferenceKey, { query: ["tea", "coffee"] })
      assert.deepStrictEqual(yield* errorOf(response), [502, "search_failed", null])
      assert.strictEqual(yield* spent(service, account.id, 10), 0n)
    }).pipe(Effect.scoped)
  )

  it.live("answers 400 with the unsupported filter, and passes Tavily's refusal on, without a charge", () =>
    Effect.gen(function* () {
      const { seen, service } = yield* tavily(() => [400, { detail: { error: "Query is too long." } }])
      const { account, inferenceKey } = yield* service.account(10)
      const refusal = (more: object) => Effect.flatMap(find(service, inferenceKey, { query: "tea", ...more }), errorOf)
      const lacking = { search_language_filter: ["de"] }
      assert.deepStrictEqual(yield* refusal(lacking), [400, "validation_error", "search_language_filter"])
      assert.deepStrictEqual(yield* refusal({ search_mode: "sec" }), [400, "validation_error", "search_mode"])
      assert.lengthOf(seen, 0)
      const response = yield* find(service, inferenceKey, { query: "tea" })
      const { error } = yield* json(response)
      assert.deepInclude(error, { code: "validation_error", param: null })
      assert.include(error.message, "Query is too long.")
      assert.strictEqual(yield* spent(service, account.id, 10), 0n)
    }).pipe(Effect.scoped)
  )
})
