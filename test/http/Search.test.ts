import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { get, json, post, startService } from "../support/Service.ts"

const tea = { query: "tea" }

describe("POST /search", () => {
  it.live("has a limit of its own", () =>
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

  it.live("fails by one name, however it came about", () =>
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

  it.live("says that there is no search engine where there is none", () =>
    Effect.gen(function* () {
      const service = yield* startService({ SANDBOX: "off" })
      const { inferenceKey } = yield* service.account(1)
      const response = yield* post(`${service.api}/search`, inferenceKey, tea)
      assert.strictEqual(response.status, 503)
      assert.strictEqual((yield* json(response)).error.code, "no_provider_available")
    }).pipe(Effect.scoped)
  )
})
