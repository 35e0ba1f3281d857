import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { ignoredHeader, replayHeader, steeringOf } from "../../../src/http/handlers/ChatOperation.ts"
import { post, startService } from "../../support/Service.ts"

const chat = { model: "gpt-4o-mini", messages: [{ role: "user", content: "hello" }] }

const IGNORED = "x-svc-ignored-parameters"

const asking = Effect.gen(function* () {
  const service = yield* startService()
  const { inferenceKey } = yield* service.account(1)
  return {
    ask: (body: unknown, headers?: Record<string, string>) =>
      post(`${service.api}/chat/completions`, inferenceKey, body, headers)
  }
})

describe("an operation of chat", () => {
  it.live("lists ignored fields of any name", () =>
    Effect.gen(function* () {
      const { ask } = yield* asking
      assert.isNull((yield* ask(chat)).headers.get(IGNORED))
      for (const stream of [false, true]) {
        const odd = `{"colour":1,"a, b":2,"\\ud800":3,"é\\r\\n":4,${JSON.stringify({ ...chat, stream }).slice(1)}`
        const response = yield* ask(odd)
        assert.strictEqual(response.status, 200)
        assert.strictEqual(response.headers.get(IGNORED), "colour, a%2C%20b, %EF%BF%BD, %C3%A9%0D%0A")
      }
      const idle = { metadata: { a: "b" }, session_id: "s", routing: { max_price: { image: 1 } } }
      const listed = (yield* ask({ ...chat, ...idle })).headers.get(IGNORED)
      assert.strictEqual(listed, "metadata, session_id, routing.max_price.image")
      const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`${"m".repeat(200)}${at}`, at]))
      const { headers, status } = yield* ask({ ...chat, ...many })
      assert.strictEqual(status, 200)
      assert.isAtMost(headers.get(IGNORED)?.length ?? 0, 2_048)
    }).pipe(Effect.scoped)
  )

  it.live("names the first model of a list", () =>
    Effect.gen(function* () {
      const { ask } = yield* asking
      const others = ["gpt-4o", "gpt-5-mini", "gpt-5", "claude-sonnet-4-5", "claude-sonnet-4-6", "gemini-2.5-flash"]
      const more = ["gemini-2.5-pro", "gpt-4.1", "gpt-4.1-mini", "gpt-5-nano", "meta-llama/llama-3.3-70b-instruct"]
      const models = ["gpt-4o-mini", ...others, ...more]
      assert.isAbove(models.join().length, 160)
      const response = yield* ask({ ...chat, model: undefined, models })
      const answer = yield* Effect.promise(() => response.json())
      assert.strictEqual(answer.model, "gpt-4o-mini")
      assert.lengthOf(answer.routing.requested_models, models.length)
    }).pipe(Effect.scoped)
  )

  it("omits empty headers", () => {
    assert.deepStrictEqual(ignoredHeader([]), {})
    assert.deepStrictEqual(replayHeader(false), {})
    assert.deepStrictEqual(replayHeader(true), { "idempotency-replayed": "true" })
  })

  it("reads the steering header only in a sandbox", () => {
    assert.deepStrictEqual(steeringOf("fault=slow", true), Result.succeed("fault=slow"))
    assert.isTrue(Result.isFailure(steeringOf("fault=loud", true)))
    assert.deepStrictEqual(steeringOf("fault=loud", false), Result.succeed(undefined))
    assert.deepStrictEqual(steeringOf(undefined, true), Result.succeed(undefined))
  })
})
