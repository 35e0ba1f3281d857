/** That a body is served as its operation serves it; what comes of many of them is in test/journeys. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { json, post, startService } from "../../support/Service.ts"

const messages = [{ role: "user", content: "hello" }]

const bodies = {
  "/chat/completions": { model: "gpt-4o-mini", messages },
  "/messages": { model: "claude-sonnet-4-5", max_tokens: 20, messages },
  "/responses": { model: "gpt-4o-mini", input: "hello" },
  "/embeddings": { model: "text-embedding-3-small", input: "hello", dimensions: 4, encoding_format: "float" }
}

/** What is of a request and not of its answer. */
const own = new Set(["id", "created", "created_at", "request_id"])

const comparable = (value: unknown): unknown =>
  typeof value !== "object" || value === null
    ? value
    : Array.isArray(value)
      ? value.map(comparable)
      : Object.fromEntries(
          Object.entries(value).map(([name, member]) => [name, own.has(name) ? typeof member : comparable(member)])
        )

describe("an operation in a batch", () => {
  it.live("gets the same answer as outside a batch", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10_000)
      for (const [url, body] of Object.entries(bodies)) {
        const alone = yield* Effect.flatMap(post(`${service.api}${url}`, inferenceKey, body), json)
        const batch = yield* Effect.flatMap(
          post(`${service.api}/batch`, inferenceKey, { requests: [{ url, body }] }, { "idempotency-key": url }),
          json
        )
        const answer = batch.data[0].response.body
        assert.deepStrictEqual(comparable(answer), comparable(alone), url)
        const again = yield* Effect.flatMap(
          post(`${service.api}/batch`, inferenceKey, { requests: [{ url, body }] }, { "idempotency-key": url }),
          json
        )
        assert.deepStrictEqual(again, batch, `${url}, kept`)
      }
    }).pipe(Effect.scoped)
  )

  it.live("names a field that is too long as it does outside a batch", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      const input = "word ".repeat(400_000)
      const requests = [{ url: "/responses", body: { ...bodies["/responses"], input } }]
      const { error } = yield* Effect.flatMap(post(`${service.api}/batch`, inferenceKey, { requests }), json)
      assert.deepStrictEqual([error.code, error.param], ["context_length_exceeded", "requests[0].body.input"])
    }).pipe(Effect.scoped)
  )
})
