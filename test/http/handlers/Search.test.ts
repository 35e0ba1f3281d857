import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { get, json, post, startService } from "../../support/Service.ts"

const tea = { query: "tea" }
const actor = { type: "operator", id: "test" } as const

describe("POST /search", () => {
  it.live("has a separate rate limit", () =>
    Effect.gen(function* () {
      const service = yield* startService({ RATE_LIMIT_SCALE: "0.05" })
      const { inferenceKey } = yield* service.account(1)
      const statuses = yield* Effect.forEach([1, 2, 3, 4], () =>
        Effect.map(post(`${service.api}/search`, inferenceKey, tea), ({ status }) => status)
      )
      assert.deepStrictEqual(statuses, [200, 200, 200, 429])
      assert.strictEqual((yield* get(`${service.api}/requests`, inferenceKey)).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("returns the same error code for every kind of provider failure", () =>
    Effect.gen(function* () {
      const service = yield* startService({ UPSTREAM_TOTAL_TIMEOUT: "300 millis" })
      const { inferenceKey } = yield* service.account(1)
      const steered = (steering: string) =>
        post(`${service.api}/search`, inferenceKey, tea, { "x-svc-sandbox": steering })
      for (const steering of ["fault=error", "fault=stall"]) {
        const response = yield* steered(steering)
        const { error } = yield* json(response)
        assert.deepStrictEqual([response.status, error.code, error.type], [502, "search_failed", "upstream_error"])
        assert.strictEqual(response.headers.get("x-should-retry"), "true")
      }
    }).pipe(Effect.scoped)
  )

  it.live("chooses the search engine by the key's routing when the request names none", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account } = yield* service.account(1)
      const asked = (routing: object, body: object = tea) =>
        Effect.gen(function* () {
          const of = { accountId: account.id, kind: "inference", name: "k", scopes: [], actor } as const
          const { id, key } = yield* service.keys.create({ ...of, routing })
          const answer = yield* Effect.flatMap(post(`${service.api}/search`, key, body), json)
          yield* service.keys.revoke(id, actor)
          return answer
        })
      const first = yield* asked({})
      assert.deepInclude(first, { model: "tavily-search", provider: "tavily" })
      for (const routing of [
        { data_policy: "zero_retention" },
        { providers: { only: ["perplexity"] } },
        { max_price: { request: 0.005 } }
      ]) {
        const answer = yield* asked(routing)
        assert.deepInclude(answer, { model: "sonar-search", provider: "perplexity", cost_usd: 0.005 })
      }
      const { error } = yield* asked({ data_policy: "zero_retention" }, { ...tea, model: "tavily-search" })
      assert.strictEqual(error.code, "no_provider_available", "an engine that was named is no other")
      const nobody = yield* asked({ max_price: { request: 0 } })
      assert.include(nobody.error.message, "max_price excludes 1")
    }).pipe(Effect.scoped)
  )

  it.live("reports that no search engine is configured", () =>
    Effect.gen(function* () {
      const service = yield* startService({ SANDBOX: "off" })
      const { inferenceKey } = yield* service.account(1)
      const response = yield* post(`${service.api}/search`, inferenceKey, tea)
      assert.strictEqual(response.status, 503)
      assert.strictEqual((yield* json(response)).error.code, "no_provider_available")
    }).pipe(Effect.scoped)
  )
})
